/** Webhooks through the compiled program: the contract, signatures, waiting, and answers that are posted back. */

import { afterEach, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { JsonObject } from "../../src/core/json.ts";
import { type Conversation, conversationContract } from "../contracts/channel.ts";
import type { Reply } from "../fakes/chat-reply.ts";
import { eventually, freePort, killGateways, lastSaid, startGateway } from "./gateway.ts";
import { endToEnd, modelAt, newHome, startModel } from "./harness.ts";

endToEnd();
afterEach(killGateways);

const SECRET = "a-secret-of-the-hook";

/** Repeats what stands in the fence of an event. */
function echoEvent(body: JsonObject): Reply {
  return { text: [`echo: ${lastSaid(body).replace(/^`+\n|\n`+$/g, "")}`] };
}

interface Answer {
  readonly chatId: string;
  readonly content: string;
  readonly outcome: string;
}

/** Somebody's server for answers: what was posted, each key once, as a server with idempotent sends has it. */
function startReceiver() {
  const answers = new Map<string, Answer>();
  const headers: Headers[] = [];
  let troubles = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (troubles > 0) {
        troubles--;
        return new Response("", { status: 503 });
      }
      headers.push(request.headers);
      answers.set(request.headers.get("idempotency-key") ?? "", (await request.json()) as Answer);
      return new Response();
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/answers`,
    headers,
    all: () => [...answers.values()],
    trouble: () => {
      troubles = 1;
    },
    close: () => server.stop(true),
  };
}

function homeWith(modelUrl: string, hooks: object, gateway: object = { port: 0 }) {
  return newHome({ ...modelAt(modelUrl), gateway, channels: { webhook: { enabled: true, hooks } } });
}

function bearer(id: string, secret = SECRET): Record<string, string> {
  return { authorization: `Bearer ${secret}`, "idempotency-key": id, "content-type": "application/json" };
}

async function conversation(): Promise<Conversation> {
  const receiver = startReceiver();
  const model = await startModel(echoEvent);
  const port = await freePort();
  const hook = {
    secret: SECRET,
    scheme: "bearer",
    template: "{{text}}",
    chatId: "chat-{{chat}}",
    sessionKey: "chat-{{chat}}",
    replyUrl: receiver.url,
  };
  const home = homeWith(model.url, { talk: hook }, { port });
  let gateway = await startGateway(home);
  const acknowledged = new Set<string>();
  let events = 0;

  /** As a sender does that goes on until it is told that the event is safe. */
  async function post(id: string, body: object, secret = SECRET): Promise<void> {
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${port}/webhook/in/talk`, {
        method: "POST",
        headers: bearer(id, secret),
        body: JSON.stringify(body),
      }).catch(() => undefined);
      if (response !== undefined && response.status < 500) {
        acknowledged.add(id);
        return;
      }
      await Bun.sleep(10);
    }
  }

  const bodies = new Map<string, object>();
  function say(chat: number, text: string): string {
    const id = `event-${++events}`;
    bodies.set(id, { chat, text });
    void post(id, { chat, text });
    return id;
  }

  return {
    say,
    sayAsStranger(text) {
      const id = `event-${++events}`;
      void post(id, { chat: 1, text }, "a-secret-of-somebody-else");
      return id;
    },
    again(event) {
      acknowledged.delete(String(event));
      void post(String(event), bodies.get(String(event)) ?? {});
    },
    isAcknowledged: (event) => acknowledged.has(String(event)),
    shown: (chat) =>
      receiver
        .all()
        .filter(({ chatId }) => chatId === `chat-${chat}`)
        .map(({ content }) => content),
    shownToStranger: () => [],
    trouble: receiver.trouble,
    async restart(whileAway) {
      gateway.signal("SIGTERM");
      expect(await gateway.exited).toBe(0);
      whileAway();
      gateway = await startGateway(home);
    },
    eventually,
    async close() {
      gateway.signal("SIGTERM");
      expect(await gateway.exited).toBe(0);
      await receiver.close();
    },
  };
}

conversationContract("webhook, from the executable", conversation);

async function setUp(hook: object, script: (body: JsonObject) => Reply | Promise<Reply> = echoEvent) {
  const model = await startModel(script);
  const home = homeWith(model.url, { hook: { template: "{{text}}", ...hook } });
  const gateway = await startGateway(home);
  const post = (body: string, headers: Record<string, string>) =>
    fetch(`${gateway.url}/webhook/in/hook`, { method: "POST", headers, body });
  return { model, home, gateway, post };
}

test("an event is acknowledged while its turn runs, and answered once however often it comes", async () => {
  const gate = Promise.withResolvers<void>();
  const receiver = startReceiver();
  const { post, model } = await setUp(
    { secret: SECRET, scheme: "bearer", replyUrl: receiver.url },
    async (body) => {
      await gate.promise;
      return echoEvent(body);
    },
  );
  const body = JSON.stringify({ text: "slow" });
  const statuses: number[] = [];
  for (let times = 0; times < 4; times++) statuses.push((await post(body, bearer("one"))).status);
  expect(statuses).toEqual([202, 200, 200, 200]);
  gate.resolve();
  await eventually(() => receiver.all().length === 1);
  expect(receiver.all()[0]).toMatchObject({ content: "echo: slow", outcome: "answer" });
  expect(model.requests).toHaveLength(1);
  await receiver.close();
});

test("a caller who waits gets the answer in the response", async () => {
  const { post } = await setUp({ secret: SECRET, scheme: "bearer", wait: 30 });
  const response = await post(JSON.stringify({ text: "now" }), bearer("one"));
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ status: "answered", content: "echo: now" });
});

test("what is signed as GitHub does is taken, once for each delivery, and a forgery is not", async () => {
  const receiver = startReceiver();
  const { post } = await setUp({ secret: SECRET, scheme: "github", replyUrl: receiver.url });
  const body = JSON.stringify({ text: "pushed" });
  const signature = `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
  const headers = { "x-hub-signature-256": signature, "x-github-delivery": "d-1", "x-github-event": "push" };
  expect((await post(body, headers)).status).toBe(202);
  expect((await post(body, headers)).status).toBe(200);
  expect((await post(`${body} `, headers)).status).toBe(401);
  await eventually(() => receiver.all().length === 1);
  expect(receiver.headers[0]?.get("x-hub-signature-256")).toMatch(/^sha256=[0-9a-f]{64}$/);
  await receiver.close();
});

test("what is wrong with a request decides how it is answered", async () => {
  const { post, gateway } = await setUp({ secret: SECRET, scheme: "bearer", maxBodyBytes: 1_000 });
  expect((await post("{}", bearer("one", "wrong"))).status).toBe(401);
  expect((await post("{", bearer("one"))).status).toBe(400);
  expect((await post(JSON.stringify({ text: "x".repeat(2_000) }), bearer("one"))).status).toBe(413);
  expect((await fetch(`${gateway.url}/webhook/in/hook`)).status).toBe(405);
  expect((await fetch(`${gateway.url}/webhook/in/nobody`, { method: "POST" })).status).toBe(401);
  expect((await fetch(`${gateway.url}/outbox.list`, { method: "POST" })).status).toBe(404);
});
