import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { type DiscoverOptions, discoverLocalServers } from "../../../src/providers/vendors/discover.ts";
import { vendors } from "../../../src/providers/vendors/vendors.ts";
import { createFakeClock } from "../../fakes/clock.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server on a free port of loopback, and what it was asked. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: IncomingMessage[] = [];
  const asked = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    requests.push(request);
    asked.resolve();
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests, asked: asked.promise };
}

function json(body: unknown, status = 200) {
  return (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
}

const listing = (...ids: unknown[]) => json({ object: "list", data: ids.map((id) => ({ id })) });

/** A port on which nobody listens. */
async function freePort(): Promise<number> {
  const { port } = await serve(json({}));
  closers.pop()?.();
  return port;
}

/** Nobody is there except on the given ports. */
async function nobodyBut(ports: Record<string, number>): Promise<Record<string, number>> {
  const closed = await freePort();
  const names = vendors.filter(({ lookedFor }) => lookedFor).map(({ name }) => name);
  return { ...Object.fromEntries(names.map((name) => [name, closed])), ...ports };
}

async function discover(ports: Record<string, number>, options: Partial<DiscoverOptions> = {}) {
  return discoverLocalServers({
    fetch,
    clock: createFakeClock(),
    signal: new AbortController().signal,
    ports: await nobodyBut(ports),
    ...options,
  });
}

describe("discoverLocalServers()", () => {
  test("looks at the four usual ports of this machine and nowhere else", async () => {
    const asked: string[] = [];
    const refuse = async (input: string | URL | Request): Promise<Response> => {
      asked.push(String(input));
      throw new TypeError("refused");
    };
    const fake = Object.assign(refuse, { preconnect: fetch.preconnect });
    const { signal } = new AbortController();
    expect(await discoverLocalServers({ fetch: fake, clock: createFakeClock(), signal })).toEqual([]);
    expect(asked.sort()).toEqual([
      "http://127.0.0.1:11434/api/tags",
      "http://127.0.0.1:11434/v1/models",
      "http://127.0.0.1:1234/v1/models",
      "http://127.0.0.1:8000/v1/models",
      "http://127.0.0.1:8080/v1/models",
    ]);
  });

  test("lists the servers that list a model, in the order of their rows, each with its models in order", async () => {
    const [lm, vllm, empty] = await Promise.all([
      serve(listing("b", "a", "b")),
      serve(listing("org/m")),
      serve(listing()),
    ]);
    expect(await discover({ lm_studio: lm.port, vllm: vllm.port, llama_cpp: empty.port })).toEqual([
      { name: "vllm", label: "vLLM", baseUrl: `http://127.0.0.1:${vllm.port}/v1`, models: ["org/m"] },
      {
        name: "lm_studio",
        label: "LM Studio",
        baseUrl: `http://127.0.0.1:${lm.port}/v1`,
        models: ["a", "b"],
      },
    ]);
  });

  test("asks an older Ollama under its own address", async () => {
    const { port } = await serve((request, response) =>
      request.url === "/api/tags"
        ? json({ models: [{ name: "qwen3:latest" }] })(request, response)
        : json({ error: "not found" }, 404)(request, response),
    );
    expect((await discover({ ollama: port }))[0]?.models).toEqual(["qwen3:latest"]);
    expect(await discover({ vllm: port })).toEqual([]);
  });

  test("sends nothing of the user's", async () => {
    const { port, requests } = await serve(listing("m"));
    await discover({ vllm: port });
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(["GET /v1/models"]);
    const names = Object.keys(requests[0]?.headers ?? {});
    const plain = ["accept", "accept-encoding", "connection", "host", "user-agent"];
    expect(names.filter((name) => !plain.includes(name))).toEqual([]);
  });

  test("leaves out models that only embed or rank, and names that are none", async () => {
    const { port } = await serve(
      listing(
        "ok",
        "text-embedding-nomic",
        "bge-reranker",
        "",
        "two words",
        "esc\u001b[2J",
        "\u202ereversed",
        "x".repeat(201),
        7,
        null,
      ),
    );
    expect((await discover({ lm_studio: port }))[0]?.models).toEqual(["ok"]);
  });

  test("takes at most a hundred models", async () => {
    const { port } = await serve(listing(...Array.from({ length: 150 }, (_, index) => `m${index}`)));
    expect((await discover({ vllm: port }))[0]?.models).toHaveLength(100);
  });

  const nothing: readonly [
    name: string,
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ][] = [
    [
      "a web page",
      (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html></html>"),
    ],
    ["a 404", json({ data: [{ id: "m" }] }, 404)],
    ["a 401", json({ data: [{ id: "m" }] }, 401)],
    ["garbage", (_, response) => response.end(Buffer.from([0, 255, 7, 200]))],
    ["an empty body", (_, response) => response.end()],
    ["other JSON", json({ data: "m", models: { m: 1 } })],
    ["a list", json([{ id: "m" }])],
    ["null", json(null)],
    ["a connection that is cut", (request) => request.socket.destroy()],
    ["a body of more than 256 KiB", json({ data: [{ id: "m" }], padding: "x".repeat(256 * 1024) })],
  ];
  for (const [name, answer] of nothing) {
    test(`does not list ${name}`, async () => {
      const { port } = await serve(answer);
      expect(await discover({ vllm: port, ollama: port })).toEqual([]);
    });
  }

  test("follows no redirect", async () => {
    const elsewhere = await serve(listing("m"));
    const location = `http://127.0.0.1:${elsewhere.port}/v1/models`;
    const { port } = await serve((_, response) => response.writeHead(302, { location }).end());
    expect(await discover({ vllm: port, ollama: port })).toEqual([]);
    expect(elsewhere.requests).toEqual([]);
  });

  test("stops reading a body without end", async () => {
    const { port } = await serve((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
        response.once("drain", more);
      };
      more();
    });
    expect(await discover({ llama_cpp: port })).toEqual([]);
  });

  for (const [name, answer] of [
    ["says nothing", () => {}],
    [
      "stops in the middle",
      (_: IncomingMessage, response: ServerResponse) => void response.write('{"data":['),
    ],
  ] as const) {
    test(`waits no longer than its time for one that ${name}, and lists the others`, async () => {
      const [hung, good] = await Promise.all([serve(answer), serve(listing("m"))]);
      const clock = createFakeClock();
      const answered = Promise.withResolvers<void>();
      const watched = async (...input: Parameters<typeof fetch>): Promise<Response> => {
        const response = await fetch(...input);
        if (!String(input[0]).includes(`:${good.port}/`)) return response;
        const body = await response.text();
        answered.resolve();
        return new Response(body);
      };
      const finding = discover(
        { lm_studio: hung.port, vllm: good.port },
        { clock, fetch: Object.assign(watched, { preconnect: fetch.preconnect }), timeoutMs: 400 },
      );
      await Promise.all([hung.asked, answered.promise]);
      let isOver = false;
      void finding.then(() => {
        isOver = true;
      });
      await clock.advance(399);
      expect(isOver).toBe(false);
      await clock.advance(1);
      expect((await finding).map((server) => server.name)).toEqual(["vllm"]);
      expect(clock.pending).toBe(0);
    });
  }

  test("rejects with the signal's reason, before and in the middle", async () => {
    const hung = await serve(() => {});
    const stop = new AbortController();
    const finding = discover({ vllm: hung.port }, { signal: stop.signal });
    await hung.asked;
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await finding.catch((error: unknown) => error)).toBe(reason);
    expect(await discover({}, { signal: stop.signal }).catch((error: unknown) => error)).toBe(reason);
  });

  test("never fails, and lists only names that can be shown, whatever a server answers", async () => {
    let body: Buffer | string = "";
    const { port } = await serve((_, response) => response.end(body));
    const entry = fc.oneof(fc.jsonValue(), fc.record({ id: fc.string({ unit: "binary" }) }));
    const answers = fc.oneof(
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc.array(entry).map((data) => JSON.stringify({ data })),
    );
    const ports = await nobodyBut({ vllm: port });
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        body = answer;
        const found = await discover({}, { ports });
        for (const { models } of found) {
          expect(models.length).toBeGreaterThan(0);
          for (const model of models) expect(model).toMatch(/^[^\s\p{C}]{1,200}$/u);
        }
      }),
      { numRuns: 60 },
    );
  });
});
