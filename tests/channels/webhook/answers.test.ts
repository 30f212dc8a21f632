/** Requests that wait for their answer, and answers that are posted to an address. */

import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { SendError } from "../../../src/core/channel.ts";
import type { InboundId } from "../../../src/core/messages.ts";
import { never } from "../../../src/lib/abort.ts";
import { bearer, finalFor, github, partOf, SECRET, STANDARD_SECRET, setUp } from "./fixture.ts";

const keyed = (headers: Readonly<Record<string, string>> = {}) =>
  bearer("ci", "{}", { "idempotency-key": "1", ...headers });

/** Lets everything go on that needs no time. */
async function settle({ advance }: { advance(ms: number): Promise<void> }): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await advance(0);
}

test("fetch() holds a request that asks to wait until its answer is there", async () => {
  const { fetch, answer, clock } = await setUp();
  const response = fetch(keyed({ prefer: "respond-async, wait=30" }));
  await settle(clock);
  await answer(0, "done", { media: [{ path: "/w/media/out.png", mime: "image/png" }] });
  expect((await response).status).toBe(200);
  expect(await (await response).json()).toEqual({
    status: "answered",
    id: "webhook:ci:1",
    outcome: "answer",
    content: "done",
    media: ["out.png"],
  });
  expect(clock.pending).toBe(0);
});

test("fetch() answers 202 when there is no answer in time, and the answer when asked again", async () => {
  const { fetch, answer, clock } = await setUp({ ci: { wait: 20 } });
  const response = fetch(keyed());
  await settle(clock);
  await clock.advance(19_999);
  expect(await Promise.race([response, clock.giveWay()])).toBeUndefined();
  await clock.advance(1);
  expect((await response).status).toBe(202);
  expect(await (await response).json()).toEqual({ status: "accepted", id: "webhook:ci:1" });
  await answer(0, "late");
  const again = await fetch(keyed());
  expect(again.status).toBe(200);
  expect(await again.json()).toMatchObject({ status: "answered", content: "late" });
});

test.each([
  ["wait=0", 0],
  ["wait=7", 7],
  ["WAIT = 7", 7],
  ['wait="7"', 7],
  ["handling=lenient; x=y, wait=7, return=minimal", 7],
  ["wait=100000", 95],
  ["wait=-1", 20],
  ["wait=soon", 20],
  ["await=7", 20],
  ["wait=99999999999999999999", 20],
])("fetch() reads Prefer: %s as %i s", async (prefer, seconds) => {
  const { fetch, clock } = await setUp({ ci: { wait: 20 } });
  const response = fetch(keyed({ prefer }));
  await settle(clock);
  if (seconds > 0) {
    await clock.advance(seconds * 1000 - 1);
    expect(await Promise.race([response, clock.giveWay()])).toBeUndefined();
    await clock.advance(1);
  }
  expect((await response).status).toBe(202);
});

test("fetch() lets all deliveries of an event wait for the one turn, and others pass", async () => {
  const { fetch, answer, inbox, clock } = await setUp({ ci: { wait: 30 }, other: {} });
  const waiting = [fetch(keyed()), fetch(keyed()), fetch(keyed())];
  await settle(clock);
  expect((await fetch(bearer("other", "{}"))).status).toBe(202);
  await answer(0, "once");
  for (const response of await Promise.all(waiting))
    expect(await response.json()).toMatchObject({ content: "once" });
  expect(inbox).toHaveLength(2);
});

test("fetch() gives one answer to all events that it answers", async () => {
  const { fetch, answer, inbox, clock } = await setUp({ ci: { wait: 30 } });
  const waiting = ["a", "b"].map((key) => fetch(bearer("ci", "{}", { "idempotency-key": key })));
  await settle(clock);
  await answer(0, "both", { answers: inbox.map(({ id }) => id) });
  for (const response of await Promise.all(waiting))
    expect(await response.json()).toMatchObject({ content: "both" });
});

test("fetch() goes on waiting when something is said beside the answer", async () => {
  const { fetch, answer, clock } = await setUp({ ci: { wait: 30 } });
  const response = fetch(keyed());
  await settle(clock);
  await answer(0, "a note", { answers: [], outcome: "notice" });
  expect(await Promise.race([response, clock.giveWay()])).toBeUndefined();
  await answer(0, "the answer");
  expect(await (await response).json()).toMatchObject({ content: "the answer" });
});

test("fetch() keeps no timer for a caller that is gone, and stop() none at all", async () => {
  const { fetch, channel, clock } = await setUp({ ci: { wait: 30 } });
  const gone = new AbortController();
  const left = fetch(new Request(keyed(), { signal: gone.signal }));
  const waits = fetch(keyed());
  await settle(clock);
  expect(clock.pending).toBe(2);
  gone.abort();
  await left;
  expect(clock.pending).toBe(1);
  await channel.stop();
  expect((await waits).status).toBe(200);
  expect(clock.pending).toBe(0);
});

test("fetch() hears of an answer that has no part, and of the text as it was sent", async () => {
  const { fetch, channel, inbox, answer, clock } = await setUp({ ci: { wait: 30 } });
  const waits = fetch(keyed());
  await settle(clock);
  const [{ id, chatId } = { id: "" as InboundId, chatId: "" }] = inbox;
  await channel.ended?.(finalFor(id, chatId, "", { outcome: "stopped" }));
  expect(await (await waits).json()).toMatchObject({ status: "answered", outcome: "stopped", content: "" });
  await answer(0, "a second one");
  expect(await (await fetch(keyed())).json()).toMatchObject({ outcome: "stopped" });
  const other = fetch(bearer("ci", "{}", { "idempotency-key": "2" }));
  await settle(clock);
  const choices = { kind: "text", text: "Sure?\n\n- Yes: /approve", isPlain: false } as const;
  const message = finalFor("webhook:ci:2" as InboundId, "ci", "Sure?");
  await channel.send(partOf(message, { content: choices }), never);
  await channel.ended?.(message);
  expect(await (await other).json()).toMatchObject({ content: choices.text });
});

test("fetch() remembers the last 1,000 answers", async () => {
  const { fetch, channel } = await setUp();
  for (let index = 0; index <= 1_000; index++) {
    const id = `webhook:ci:${index}` as InboundId;
    await channel.send(partOf(finalFor(id, "ci", `answer ${index}`)), never);
  }
  const ask = (key: string) => fetch(bearer("ci", "{}", { "idempotency-key": key, prefer: "wait=0" }));
  expect((await ask("0")).status).toBe(202);
  expect(await (await ask("1")).json()).toMatchObject({ content: "answer 1" });
  expect(await (await ask("1000")).json()).toMatchObject({ content: "answer 1000" });
});

interface Posted {
  readonly url: string;
  readonly init: RequestInit;
  readonly headers: Headers;
  readonly body: string;
}

async function withReplies(hook: object, respond: () => Promise<Response> = async () => new Response("ok")) {
  const posted: Posted[] = [];
  const setup = await setUp(
    { ci: { replyUrl: "https://example.com/answers?key=abc", ...hook } },
    {
      async fetch(url, init) {
        posted.push({ url, init, headers: new Headers(init.headers), body: String(init.body) });
        return respond();
      },
    },
  );
  return { ...setup, posted };
}

test("send() posts the answer, with the key of the part", async () => {
  const { fetch, answer, posted } = await withReplies({});
  await fetch(keyed());
  expect(await answer(0, "done")).toBe("");
  expect(posted).toHaveLength(1);
  const { url, init, headers, body } = posted[0] as Posted;
  expect(url).toBe("https://example.com/answers?key=abc");
  expect(init.redirect).toBe("error");
  expect(headers.get("idempotency-key")).toBe("key_0");
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("authorization")).toBe(`Bearer ${SECRET}`);
  expect(JSON.parse(body)).toEqual({
    id: "webhook:ci:1/final",
    inReplyTo: "webhook:ci:1",
    name: "ci",
    chatId: "ci",
    outcome: "answer",
    content: "done",
    media: [],
  });
});

const seconds = "1700000000";
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text);

test.each([
  ["bearer", { replySecret: "another-secret" }, (_: string) => ({ authorization: "Bearer another-secret" })],
  ["github", {}, (body: string) => ({ "x-hub-signature-256": `sha256=${hmac(SECRET, body).digest("hex")}` })],
  [
    "slack",
    {},
    (body: string) => ({
      "x-slack-request-timestamp": seconds,
      "x-slack-signature": `v0=${hmac(SECRET, `v0:${seconds}:${body}`).digest("hex")}`,
    }),
  ],
  [
    "standard",
    {},
    (body: string) => ({
      "webhook-id": "key_0",
      "webhook-timestamp": seconds,
      "webhook-signature": `v1,${hmac(Buffer.from(STANDARD_SECRET.slice(6), "base64"), `key_0.${seconds}.${body}`).digest("base64")}`,
    }),
  ],
])("send() signs what it posts as %s", async (scheme, hook, wanted) => {
  const { channel, posted } = await withReplies({ scheme, ...hook });
  await channel.send(partOf(finalFor("webhook:ci:1" as InboundId, "ci", "done ✓")), never);
  const { headers, body } = posted[0] as Posted;
  for (const [name, value] of Object.entries(wanted(body))) expect(headers.get(name)).toBe(value);
});

async function failure(sending: Promise<unknown>): Promise<SendError> {
  const error = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SendError)) throw new Error("it was no SendError");
  return error;
}

test.each([
  [400, {}, "refused", 0],
  [401, {}, "refused", 0],
  [404, {}, "refused", 0],
  [410, {}, "refused", 0],
  [408, {}, "temporary", 0],
  [500, {}, "temporary", 0],
  [503, { "retry-after": "9" }, "temporary", 0],
  [429, { "retry-after": "9" }, "slowDown", 9_000],
  [429, { "retry-after": "Tue, 14 Nov 2023 22:13:50 GMT" }, "slowDown", 30_000],
  [429, { "retry-after": "Tue, 14 Nov 2023 22:13:00 GMT" }, "slowDown", 0],
  [429, { "retry-after": "99999999999" }, "slowDown", 3_600_000],
  [429, { "retry-after": "soon" }, "slowDown", 30_000],
  [429, {}, "slowDown", 30_000],
])("send() fails by status %i %j as %s", async (status, headers, kind, retryAfterMs) => {
  const { channel } = await withReplies({}, async () => new Response("no", { status, headers }));
  const error = await failure(channel.send(partOf(finalFor("webhook:ci:1" as InboundId, "ci", "x")), never));
  expect(error).toMatchObject({ kind, retryAfterMs });
  expect(error.message).not.toContain("key=abc");
});

test("send() fails for a while when the address cannot be reached", async () => {
  const { channel } = await withReplies({}, async () => {
    throw new TypeError("connection refused");
  });
  const error = await failure(channel.send(partOf(finalFor("webhook:ci:1" as InboundId, "ci", "x")), never));
  expect(error.kind).toBe("temporary");
});

test("send() gives up after 30 s, and at once with its signal's reason", async () => {
  const fetch = (_: string, { signal }: RequestInit) =>
    new Promise<Response>((_resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  const { channel, clock } = await setUp({ ci: { replyUrl: "http://localhost:9/" } }, { fetch });
  const part = partOf(finalFor("webhook:ci:1" as InboundId, "ci", "x"));
  const slow = failure(channel.send(part, never));
  await clock.advance(30_000);
  expect((await slow).kind).toBe("temporary");
  const stopping = new AbortController();
  const cut = channel.send(part, stopping.signal);
  stopping.abort(new Error("the end"));
  await expect(cut).rejects.toThrow("the end");
  expect(clock.pending).toBe(0);
});

test("send() does not read what the address says", async () => {
  let isCancelled = false;
  const endless = () =>
    new ReadableStream<Uint8Array>({
      pull: (to) => to.enqueue(new Uint8Array(1_024)),
      cancel() {
        isCancelled = true;
      },
    });
  const { channel } = await withReplies({}, async () => new Response(endless()));
  await channel.send(partOf(finalFor("webhook:ci:1" as InboundId, "ci", "x")), never);
  expect(isCancelled).toBe(true);
});

test("send() posts nothing for a file that follows the text", async () => {
  const { channel, posted } = await withReplies({});
  const media = { path: "/w/media/a.png", mime: "image/png", name: "chart.png" };
  const message = finalFor("webhook:ci:1" as InboundId, "ci", "see", { media: [media] });
  await channel.send(partOf(message), never);
  await channel.send(partOf(message, { index: 1, key: "key_1", content: { kind: "media", media } }), never);
  expect(posted).toHaveLength(1);
  expect(JSON.parse(posted[0]?.body ?? "")).toMatchObject({ media: ["chart.png"] });
});

test("send() finds the hook by its event, and by a chat that is always its own", async () => {
  const posted: string[] = [];
  const { channel, fetch, inbox, answer } = await setUp(
    {
      a: { chatId: "{{repo}}", replyUrl: "http://localhost/a" },
      b: { chatId: "fixed", replyUrl: "http://localhost/b" },
      c: {},
    },
    {
      async fetch(url) {
        posted.push(url);
        return new Response();
      },
    },
  );
  await fetch(bearer("a", '{"repo":"octo/app"}'));
  expect(inbox[0]?.chatId).toBe("octo/app");
  await answer(0, "x");
  const note = { answers: [], outcome: "message" } as const;
  await channel.send(partOf(finalFor("telegram:1" as InboundId, "fixed", "x", note)), never);
  await channel.send(partOf(finalFor("telegram:1" as InboundId, "c", "x", note)), never);
  expect(posted).toEqual(["http://localhost/a", "http://localhost/b"]);
  const nobody = channel.send(partOf(finalFor("telegram:1" as InboundId, "elsewhere", "x", note)), never);
  expect((await failure(nobody)).kind).toBe("refused");
});

test("send() takes an answer that nobody wants", async () => {
  const { fetch, answer } = await setUp({ gh: { scheme: "github" } });
  await fetch(github("gh", "{}"));
  expect(await answer(0, "x")).toBe("");
});
