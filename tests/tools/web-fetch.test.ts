import { afterAll, describe, expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { ToolPorts } from "../../src/core/tool.ts";
import type { GuardedFetch, PageReader, WebFailure, WebRequest, WebResponse } from "../../src/core/web.ts";
import type { Workers } from "../../src/core/workers.ts";
import { parseWhitelist } from "../../src/lib/address.ts";
import { htmlProgram } from "../../src/lib/documents/html.ts";
import { pdfProgram } from "../../src/lib/documents/pdf.ts";
import { EXTERNAL_CONTENT, PAGE_WITHOUT_TEXT } from "../../src/lib/phrases.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createGuardedFetch } from "../../src/platform/guarded-fetch.ts";
import { createSender } from "../../src/platform/web-request.ts";
import { webFetch } from "../../src/tools/web-fetch.ts";
import { makePdf } from "../fakes/documents.ts";
import { PNG, pngOf } from "../fakes/images.ts";
import { createFixture } from "./fixture.ts";

/** The programs without their threads. */
const workers: Workers = {
  async run(role, input) {
    const none = () => Promise.reject(new Error("none"));
    const programs = { html: htmlProgram, pdf: pdfProgram, office: none, subagent: none };
    // Each role's program takes that role's input, which an index by role cannot say.
    const program = programs[role] as (given: typeof input) => Promise<never>;
    return { ok: true, output: await program(input) };
  },
  endAll: () => {},
};

const URL_OF_PAGE = "https://a.example/page";

function response(body: string | Uint8Array, type?: string, more: Partial<WebResponse> = {}): WebResponse {
  return {
    ok: true,
    url: URL_OF_PAGE,
    finalUrl: URL_OF_PAGE,
    status: 200,
    headers: type === undefined ? {} : { "content-type": type },
    body: typeof body === "string" ? new TextEncoder().encode(body) : body,
    truncated: false,
    downgraded: false,
    isListed: false,
    ...more,
  };
}

interface Report {
  readonly url: string;
  readonly finalUrl: string;
  readonly status: number;
  readonly extractor: string;
  readonly truncated: boolean;
  readonly length: number;
  readonly untrusted: boolean;
  readonly error?: string;
  readonly note?: string;
  readonly text: string;
}

/** The tool with a web that gives one answer. */
function open(answer: WebResponse | WebFailure, ports: Partial<ToolPorts> = {}) {
  const asked: { url: string; request: WebRequest }[] = [];
  const fetch: GuardedFetch["fetch"] = async (url, request) => {
    asked.push({ url, request });
    return answer;
  };
  const fixture = createFixture({ web: { fetch }, ports: { workers, ...ports } });
  const call = async (args: object = {}) => {
    const result = await fixture.call(webFetch, { url: URL_OF_PAGE, ...args });
    return { result, report: JSON.parse(result.text) as Report };
  };
  return { asked, call };
}

/** What is in a text result behind its banner. */
function contentOf({ text }: Report): string {
  expect(text).toStartWith(`${EXTERNAL_CONTENT}\n\n`);
  return text.slice(EXTERNAL_CONTENT.length + 2);
}

async function readBody(...answer: Parameters<typeof response>): Promise<string> {
  return contentOf((await open(response(...answer)).call()).report);
}

const prose = "<p>The kettle is descaled with vinegar, which takes an hour, and rinsed twice.</p>".repeat(8);
const page = `<html><head><title>Kettles</title></head><body><h1>Descaling</h1>${prose}</body></html>`;

describe("webFetch() on a page", () => {
  test("gives JSON that says what it is and where it comes from", async () => {
    const { asked, call } = open(
      response(page, "text/html", { finalUrl: "https://b.example/", status: 203 }),
    );
    const { result, report } = await call({ url: ` ${URL_OF_PAGE}\n` });
    expect(result).toMatchObject({ ok: true, external: true });
    expect(report).toMatchObject({
      url: URL_OF_PAGE,
      finalUrl: "https://b.example/",
      status: 203,
      extractor: "readability",
      truncated: false,
      length: report.text.length,
      untrusted: true,
    });
    expect(contentOf(report)).toStartWith("# Kettles\n\n");
    expect(asked[0]?.url).toBe(URL_OF_PAGE);
    expect(Object.keys(asked[0]?.request.headers ?? {})).toEqual(["accept"]);
    expect(asked[0]?.request.maxBytes).toBe(5_000_000);
  });

  test("gives text alone when it is asked to", async () => {
    const html = `${prose}<p>See <a href="z">this</a>.</p>`;
    const { call } = open(response(html, "text/html; charset=utf-8"));
    expect(contentOf((await call({ extractMode: "text" })).report)).toContain("See this.");
    expect(contentOf((await call()).report)).toContain("See [this](https://a.example/z).");
  });

  test("cuts the text to maxChars and says so", async () => {
    const { report } = await open(response(page, "text/html")).call({ maxChars: 100 });
    expect(report.truncated).toBe(true);
    expect(contentOf(report).replace("# Kettles\n\n", "")).toHaveLength(100);
  });

  test("says that there was more than was read", async () => {
    const { report } = await open(response(page, "text/html", { truncated: true })).call();
    expect(report.truncated).toBe(true);
  });

  test("says that a page shows no text", async () => {
    expect(await readBody("<html><head><title>App</title></head><div id=root></div>", "text/html")).toBe(
      PAGE_WITHOUT_TEXT,
    );
  });

  test.each([
    ['<meta http-equiv="refresh" content="0; url=/next?a=1&amp;b=2">', {}, "https://a.example/next?a=1&b=2"],
    ["<META content='5;https://b.example/' HTTP-EQUIV=Refresh>", {}, "https://b.example/"],
    ["", { refresh: "0;url='next'" }, "https://a.example/next"],
  ])("says where %s with %j leads", async (html, headers, next) => {
    const answer = response(html, "text/html");
    const { report } = await open({ ...answer, headers: { ...answer.headers, ...headers } }).call();
    expect(contentOf(report)).toBe(
      `(The page shows no text and leads on to ${next}, so fetch that instead.)`,
    );
  });

  test.each([
    '<meta http-equiv="refresh" content="30">',
    '<meta http-equiv="refresh" content="0;url=javascript:alert(1)">',
    '<meta http-equiv="refresh" content="0;url=/page">',
    `<meta ${'http-equiv="refresh" '.repeat(200_000)}`,
  ])("says that a page shows no text where it leads nowhere", async (html) => {
    expect(await readBody(html, "text/html")).toBe(PAGE_WITHOUT_TEXT);
  });

  test("says that a redirect gave up https", async () => {
    const { report } = await open(response(page, "text/html", { downgraded: true })).call();
    expect(report.note).toContain("from https to http");
  });

  test("says what is wrong when the page cannot be read", async () => {
    const broken: Workers = {
      ...workers,
      run: async () => ({ ok: false, reason: "reading it took longer than 20 s" }),
    };
    const { result, report } = await open(response(page, "text/html"), { workers: broken }).call();
    expect(result.ok).toBe(false);
    expect(report.error).toBe("the page cannot be read: reading it took longer than 20 s");
  });

  test("never gives JSON that is longer than its limit, whatever the text", async () => {
    for (const piece of ['"', "\\", "\n", "é", "\ud83d\udc4d", "\u0001", "\ud800"]) {
      const { result, report } = await open(response(`x${piece}`.repeat(400_000), "text/plain")).call({
        maxChars: 10_000_000,
      });
      expect(result.text.length).toBeLessThanOrEqual(webFetch.resultLimit ?? 0);
      expect(report.truncated).toBe(true);
      expect(report.text.isWellFormed()).toBe(true);
    }
  });
});

describe("webFetch() on failures", () => {
  test("calls a refusal of the guard a refusal", async () => {
    const { call } = open({ ok: false, kind: "refused", reason: "127.0.0.1 is a loopback address" });
    const { result, report } = await call({ url: "http://127.1/" });
    expect(result).toEqual({
      ok: false,
      refused: true,
      text: JSON.stringify({
        error: "refused, and asking again does not change that: 127.0.0.1 is a loopback address",
        url: "http://127.1/",
      }),
    });
    expect(report.error).not.toMatch(/fail|connect/);
  });

  test("says what failed on the network", async () => {
    const { call } = open({ ok: false, kind: "failed", reason: "a.example refuses connections" });
    const { result, report } = await call();
    expect(result.ok).toBe(false);
    expect(report).toEqual({
      error: "the request failed: a.example refuses connections",
      url: URL_OF_PAGE,
    } as Report);
  });

  test("gives a status of 400 and more as an error, with the beginning of what the server says", async () => {
    const { result, report } = await open(
      response(`<p>No such page.</p>${prose.repeat(50)}`, "text/html", { status: 404 }),
    ).call();
    expect(result).toMatchObject({ ok: false, external: true });
    expect(report).toMatchObject({
      status: 404,
      error: "the server answered with status 404",
      untrusted: true,
    });
    expect(contentOf(report)).toContain("No such page.");
    expect(report.text.length).toBeLessThan(5_000);
    const empty = await open(response("", undefined, { status: 503 })).call();
    expect(empty.report).toEqual({
      error: "the server answered with status 503",
      url: URL_OF_PAGE,
      finalUrl: URL_OF_PAGE,
      status: 503,
    } as Report);
  });
});

describe("webFetch() on other content", () => {
  test("lays out JSON without touching its values", async () => {
    const { report } = await open(
      response('{"id":12345678901234567890,"a":[1,{}],"a":"x, \\"y\\": [z]"}', "application/vnd.api+json"),
    ).call();
    expect(report.extractor).toBe("json");
    expect(contentOf(report)).toBe(
      '{\n  "id": 12345678901234567890,\n  "a": [\n    1,\n    {}\n  ],\n  "a": "x, \\"y\\": [z]"\n}',
    );
  });

  test("gives what is called JSON and is none as it is", async () => {
    const { report } = await open(response('{"a": 1,', "application/json")).call();
    expect(report.extractor).toBe("raw");
    expect(contentOf(report)).toBe('{"a": 1,');
  });

  test("cuts JSON of any depth and length", async () => {
    for (const body of [
      `[${"[".repeat(50_000)}`,
      `${"[".repeat(4_000)}${"]".repeat(4_000)}`,
      `[${'"x",'.repeat(300_000)}1]`,
    ]) {
      const { report } = await open(response(body, "application/json")).call({ maxChars: 500 });
      expect(report.truncated).toBe(true);
      expect(contentOf(report)).toHaveLength(500);
    }
  });

  test("gives text as it is, without characters that nobody sees", async () => {
    expect(await readBody("# A\r\n\r\n<b>&amp;\u200b\u001b[31m", "text/markdown")).toBe("# A\n\n<b>&amp;");
    expect(await readBody("<rss><item/></rss>", "application/rss+xml")).toBe("<rss><item/></rss>");
    expect(await readBody("let a = 1", "application/javascript; charset=utf-8")).toBe("let a = 1");
    expect(await readBody("<p>source</p>", "text/plain")).toBe("<p>source</p>");
    expect(await readBody("", "text/plain")).toBe("(The answer is empty.)");
  });

  test("looks at what has no name, or a name for anything", async () => {
    expect(await readBody(page)).toStartWith("# Kettles");
    expect(await readBody("plain é", "application/octet-stream")).toBe("plain é");
    expect(await readBody("no sound", "audio/mpeg")).toBe("no sound");
    expect(await readBody(`${"é".repeat(40_000)}`, "")).toStartWith("éé");
  });

  const marked = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");
  const japanese = [0x93, 0xfa, 0x96, 0x7b];
  test.each([
    ["text of two bytes a character", marked("Hello there."), undefined, "Hello there."],
    ["a page of two bytes a character", marked("<!doctype html><p>Hello."), "", "Hello."],
    [
      "the same the other way round",
      marked("<html><p>Hello.").swap16(),
      "application/octet-stream",
      "Hello.",
    ],
    [
      "a page in an older encoding",
      Buffer.from([...Buffer.from("<!DOCTYPE HTML><meta charset=shift_jis><p>"), ...japanese]),
      undefined,
      "日本",
    ],
    ["a page behind a comment", Buffer.from(" <!-- a --> <!-- b --><html><p>Hello."), undefined, "Hello."],
    ["XHTML", Buffer.from('<?xml version="1.0"?>\n<html><p>Hello.'), undefined, "Hello."],
    ["a page in the place of an image", Buffer.from("<html><p>Hello."), "image/png", "Hello."],
    ["a type that was sent twice", Buffer.from("<p>Hello."), "text/html, text/html; charset=utf-8", "Hello."],
  ])("knows %s", async (_, body, type, expected) => {
    expect(await readBody(body, type)).toBe(expected);
  });

  test("keeps lines apart, however they end", async () => {
    expect(await readBody("a\rb\r\nc\fd", "text/plain")).toBe("a\nb\nc\nd");
    expect(await readBody("<p>a\rb\fc</p>", "text/html")).toBe("a b c");
  });

  test("shows images by their bytes, whatever they are called", async () => {
    const answer = response(PNG, "text/html", { finalUrl: "https://a.example/pics/k%20e.png?x=1" });
    const { result, report } = await open(answer).call();
    expect(result).toMatchObject({ ok: true, external: true });
    expect(result.images).toEqual([{ mime: "image/png", data: PNG.toString("base64"), name: "k_20e.png" }]);
    expect(report.extractor).toBe("image");
  });

  test("refuses an image that is larger than a model takes, or was cut", async () => {
    for (const answer of [response(pngOf(4_000_000)), response(PNG, "image/png", { truncated: true })]) {
      const { result, report } = await open(answer).call();
      expect(result.ok).toBe(false);
      expect(result.images).toBeUndefined();
      expect(report.error).toMatch(/^the image has (4000000|more than \d+) bytes, and the most is \d+$/);
    }
  });

  test("refuses an image that a model would refuse", async () => {
    const { result, report } = await open(response(PNG.subarray(0, -12), "image/png")).call();
    expect([result.ok, result.images]).toEqual([false, undefined]);
    expect(report.error).toContain("image/png, but the image is not whole");
  });

  test("refuses other files by their type", async () => {
    const zip = Buffer.from("PK\x03\x04rest of it");
    for (const [body, type, name] of [
      [zip, "application/zip", "application/zip"],
      [zip, "text/plain", "application/zip"],
      [Buffer.from([1, 0, 2, 0]), "text/html", "text/html, but binary"],
      [Buffer.from([1, 0, 2, 0]), undefined, "application/octet-stream"],
      [Buffer.from([1, 0, 2, 0]), "audio/mpeg", "audio/mpeg"],
    ] as const) {
      const { result, report } = await open(response(body, type)).call();
      expect(result.ok).toBe(false);
      expect(report.error).toStartWith(`it is no text (${name}); `);
    }
  });

  test("reads the pages of a PDF", async () => {
    const { report } = await open(
      response(makePdf(["Kettles and scale", "Vinegar"]), "application/octet-stream"),
    ).call();
    expect(report).toMatchObject({ extractor: "pdf", truncated: false });
    expect(contentOf(report)).toBe("[Page 1 of 2]\nKettles and scale\n\n[Page 2 of 2]\nVinegar");
  });

  test("says that a PDF was cut, or is none", async () => {
    const cut = await open(response(makePdf(["x"]), "application/pdf", { truncated: true })).call();
    expect(cut.report.error).toMatch(/^the PDF is larger than \d+ bytes; /);
  });
});

describe("webFetch() on encodings", () => {
  const meta = (charset: string) => `<html><head><meta charset="${charset}"></head><body><p>`;
  const bytes = (...parts: (string | readonly number[])[]) =>
    Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));
  const chinese = [0xc4, 0xe3, 0xba, 0xc3];
  const japanese = [0x93, 0xfa, 0x96, 0x7b];

  test("believes the header, in any spelling", async () => {
    expect(await readBody(bytes(chinese), 'text/plain; charset="GB18030"')).toBe("你好");
    expect(await readBody(bytes(japanese), "text/html;Charset=Shift_JIS")).toBe("日本");
    expect(await readBody(bytes([0x93, 0x80, 0x94]), "text/plain; charset=iso-8859-1")).toBe("“€”");
    expect(await readBody(bytes([0x61, 0, 0xe9, 0]), "text/plain; charset=utf-16le")).toBe("aé");
  });

  test("believes the page where the header says nothing, or something unheard of", async () => {
    expect(await readBody(bytes(meta("gb2312"), chinese), "text/html")).toBe("你好");
    expect(await readBody(bytes(meta("shift_jis"), japanese), "text/html; charset=unheard-of")).toBe("日本");
    const old = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1252"><p>';
    expect(await readBody(bytes(old, [0x80]), "text/html")).toBe("€");
    expect(
      await readBody(bytes('<?xml version="1.0" encoding="windows-1251"?><a>', [0xcf]), "application/xml"),
    ).toContain("П");
  });

  test("believes marks at the beginning above all", async () => {
    const utf16 = Buffer.from("\ufeffÄ <b>ö</b>", "utf16le");
    expect(await readBody(utf16, "text/plain; charset=utf-8")).toBe("Ä <b>ö</b>");
    expect(await readBody(utf16.swap16(), "text/html")).toBe("Ä **ö**");
    expect(await readBody(bytes([0xef, 0xbb, 0xbf], meta("gb2312"), "é"), "text/html; charset=gb2312")).toBe(
      "é",
    );
  });

  test("takes for UTF-8 what says nothing, what cannot be, and what a comment or the middle of the page says", async () => {
    expect(await readBody("<p>é你", "text/html")).toBe("é你");
    expect(await readBody(`${meta("utf-16")}é`, "text/html")).toBe("é");
    expect(await readBody(`<!-- ${meta("gb2312")} --><p>é`, "text/html")).toBe("é");
    expect(await readBody(`<p>${"x".repeat(5_000)}${meta("gb2312")}é`, "text/html")).toContain("é");
    expect(await readBody(bytes("a", [0xff], "b"), "text/plain")).toBe("a\ufffdb");
  });
});

describe("webFetch() with a page reader", () => {
  const reading = (read: PageReader["read"]) => {
    const told: string[] = [];
    const pageReader: PageReader = {
      read(addresses, signal) {
        told.push(addresses.finalUrl);
        return read(addresses, signal);
      },
    };
    return { told, pageReader };
  };

  test("shows what the reader read", async () => {
    const { told, pageReader } = reading(async () => ({ title: "T", text: "read \u200belsewhere" }));
    const { report } = await open(response(page, "text/html", { finalUrl: "https://b.example/" }), {
      pageReader,
    }).call();
    expect(report.extractor).toBe("jina");
    expect(contentOf(report)).toBe("# T\n\nread elsewhere");
    expect(told).toEqual(["https://b.example/"]);
  });

  test("reads the page itself where the reader did not", async () => {
    const { pageReader } = reading(async () => undefined);
    const { report } = await open(response(page, "text/html"), { pageReader }).call();
    expect(report.extractor).toBe("readability");
  });

  test("does not tell the reader of errors and files", async () => {
    const { told, pageReader } = reading(async () => undefined);
    await open(response(page, "text/html", { status: 404 }), { pageReader }).call();
    await open(response("{}", "application/json"), { pageReader }).call();
    expect(told).toEqual([]);
  });
});

describe("webFetch() through the guard", () => {
  const closing: (() => void)[] = [];
  afterAll(() => {
    for (const close of closing) close();
  });

  async function startServer(answer: RequestListener) {
    const hits: string[] = [];
    const server = createServer((request, reply) => {
      hits.push(`${request.url} ${request.headers.cookie ?? "no cookie"}`);
      answer(request, reply);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return { hits, port: (server.address() as AddressInfo).port };
  }

  /** In a world where 127.0.0.1 is listed, and nothing else of this machine. */
  function call(url: string) {
    const guard = createGuardedFetch({
      lookUp: async () => ["127.0.0.1"],
      send: createSender({ fetch: Bun.fetch }),
      clock: systemClock,
      whitelist: parseWhitelist(["127.0.0.1/32"]),
    });
    return createFixture({ web: guard, ports: { workers } }).call(webFetch, { url });
  }

  test("reads a page of a real server, and sends back no cookie that it sets", async () => {
    const { hits, port } = await startServer(({ url }, reply) => {
      if (url === "/") reply.writeHead(302, { location: "/next", "set-cookie": "a=1" }).end();
      else reply.writeHead(200, { "content-type": "text/html" }).end(page);
    });
    const { ok, text } = await call(`http://127.0.0.1:${port}/`);
    expect(ok).toBe(true);
    expect(JSON.parse(text)).toMatchObject({ status: 200, finalUrl: `http://127.0.0.1:${port}/next` });
    expect(hits).toEqual(["/ no cookie", "/next no cookie"]);
  });

  test("does not follow a redirect to where it may not go", async () => {
    const { hits, port } = await startServer((_, reply) => {
      reply.writeHead(302, { location: `http://127.0.0.2:${port}/secret` }).end();
    });
    const { ok, text } = await call(`http://127.0.0.1:${port}/`);
    expect(ok).toBe(false);
    expect(JSON.parse(text).error).toMatch(/^refused, .*127\.0\.0\.2 is a loopback address/);
    expect(hits).toEqual(["/ no cookie"]);
  });

  test("refuses what is no web address, and a user name in one", async () => {
    for (const url of [
      "file:///etc/passwd",
      "example.com",
      "ftp://a.example/",
      "http://me:pw@127.0.0.1/",
      "",
    ]) {
      const { ok, text } = await call(url);
      expect(ok).toBe(false);
      expect(JSON.parse(text).error).toStartWith("refused, ");
    }
  });

  test("reads a page of more than five megabytes as far as that", async () => {
    const { port } = await startServer((_, reply) => {
      reply.writeHead(200, { "content-type": "text/html" }).end(`<p>${"kettle ".repeat(1_000_000)}`);
    });
    const report = JSON.parse((await call(`http://127.0.0.1:${port}/`)).text);
    expect(report).toMatchObject({ extractor: "html", truncated: true });
  });
});
