/** Events as they come in: who is let in, what is taken, and once. */

import { expect, test } from "bun:test";
import { bearer, github, post, SECRET, setUp, slack, standard } from "./fixture.ts";

const NOW = 1_700_000_000;

test("fetch() takes an event of somebody who knows the secret", async () => {
  const { fetch, inbox, heard } = await setUp();
  const response = await fetch(bearer("ci", '{"build":7}', { "idempotency-key": "build-7" }));
  expect(response.status).toBe(202);
  expect(await response.json()).toEqual({ status: "accepted", id: "webhook:ci:build-7" });
  expect(inbox).toHaveLength(1);
  expect(inbox[0]).toMatchObject({
    id: "webhook:ci:build-7",
    kind: "message",
    channel: "webhook",
    chatId: "ci",
    senderId: "ci",
    sessionKey: "webhook:ci",
    timestamp: "2023-11-14T22:13:20.000Z",
  });
  expect(inbox[0]?.content).toContain('"build": 7');
  expect(heard()).toBe(1);
});

const forged: readonly (readonly [string, string, Request])[] = [
  ["no secret", "bearer", post("it", "{}")],
  ["no secret, by way of a tunnel", "bearer", post("it", "{}", { "cf-connecting-ip": "203.0.113.7" })],
  [
    "no secret, as from this machine",
    "bearer",
    post("it", "{}", {
      "x-forwarded-for": "127.0.0.1",
      "x-real-ip": "127.0.0.1",
      "cf-connecting-ip": "127.0.0.1",
    }),
  ],
  ["a wrong secret", "bearer", bearer("it", "{}", { authorization: `Bearer ${SECRET}x` })],
  [
    "the beginning of the secret",
    "bearer",
    bearer("it", "{}", { authorization: `Bearer ${SECRET.slice(0, -1)}` }),
  ],
  ["an empty secret", "bearer", bearer("it", "{}", { authorization: "Bearer " })],
  ["another scheme", "bearer", bearer("it", "{}", { authorization: `Basic ${btoa(`x:${SECRET}`)}` })],
  [
    "the secret in the address",
    "bearer",
    new Request(`http://h/webhook/in/it?token=${SECRET}`, { method: "POST", body: "{}" }),
  ],
  ["no signature", "github", post("it", "{}", { "x-github-delivery": "1" })],
  ["the old signature", "github", post("it", "{}", { "x-hub-signature": "sha1=00" })],
  ["a signature of another body", "github", post("it", "{ }", headersOf(github("it", "{}")))],
  ["a bearer in place of a signature", "github", bearer("it", "{}")],
  ["a signature of another body", "slack", post("it", "{ }", headersOf(slack("it", "{}", NOW)))],
  [
    "another time than was signed",
    "slack",
    withHeader(slack("it", "{}", NOW), "x-slack-request-timestamp", `${NOW + 1}`),
  ],
  ["what is too old", "slack", slack("it", "{}", NOW - 301)],
  ["what is of the future", "slack", slack("it", "{}", NOW + 301)],
  ["what is too old", "standard", standard("it", "{}", "msg_1", NOW - 301)],
  ["what is of the future", "standard", standard("it", "{}", "msg_1", NOW + 301)],
  [
    "another id than was signed",
    "standard",
    withHeader(standard("it", "{}", "msg_1", NOW), "webhook-id", "msg_2"),
  ],
  ["a challenge that is not signed", "slack", post("it", '{"type":"url_verification","challenge":"x"}')],
  ["a ping that is not signed", "github", post("it", "{}", { "x-github-event": "ping" })],
];

function headersOf(request: Request): Record<string, string> {
  return Object.fromEntries(request.headers);
}

function withHeader(request: Request, name: string, value: string): Request {
  request.headers.set(name, value);
  return request;
}

test.each(forged)("fetch() refuses %s (%s) and says no more than that", async (_, scheme, request) => {
  const { fetch, inbox, heard } = await setUp({ it: { scheme: scheme as "bearer" } });
  const response = await fetch(request);
  expect(response.status).toBe(401);
  expect(await response.json()).toEqual({ error: "unauthorized" });
  expect(inbox).toEqual([]);
  expect(heard()).toBe(0);
});

test("fetch() answers an unknown name like a wrong secret, whatever the size of the body", async () => {
  const { fetch } = await setUp({ small: { maxBodyBytes: 10 }, large: { maxBodyBytes: 1_000 } });
  for (const size of [2, 500, 2_000]) {
    const answers = await Promise.all(
      ["small", "large", "none", "__proto__", "constructor", "..%2Fsmall", ""].map(async (name) => {
        const response = await fetch(post(name, "x".repeat(size)));
        return [response.status, await response.text(), JSON.stringify([...response.headers])];
      }),
    );
    for (const answer of answers) expect(answer).toEqual(answers[0] ?? []);
  }
});

test("fetch() takes what is signed within the window, before and after", async () => {
  const { fetch, inbox } = await setUp({ s: { scheme: "slack" }, w: { scheme: "standard" } });
  const requests = [
    slack("s", '{"event_id":"Ev1"}', NOW - 299),
    slack("s", '{"event_id":"Ev2"}', NOW + 299),
    standard("w", "{}", "msg_1", NOW - 299),
    standard("w", "{}", "msg_2", NOW + 299),
  ];
  for (const request of requests) expect((await fetch(request)).status).toBe(202);
  expect(inbox.map(({ id }) => id as string)).toEqual([
    "webhook:s:Ev1",
    "webhook:s:Ev2",
    "webhook:w:msg_1",
    "webhook:w:msg_2",
  ]);
});

test.each(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])("fetch() refuses %s", async (method) => {
  const { fetch } = await setUp();
  const request = new Request("http://h/webhook/in/ci", {
    method,
    headers: { authorization: `Bearer ${SECRET}` },
  });
  const response = await fetch(request);
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("POST");
});

test("fetch() refuses a body above the limit, and one that does not say its length", async () => {
  const { fetch, inbox } = await setUp({ ci: { maxBodyBytes: 100 } });
  expect((await fetch(bearer("ci", "x".repeat(101)))).status).toBe(413);
  const endless = new ReadableStream<Uint8Array>({ pull: (to) => to.enqueue(new Uint8Array(64)) });
  const headers = { authorization: `Bearer ${SECRET}` };
  const request = new Request("http://h/webhook/in/ci", { method: "POST", body: endless, headers });
  expect((await fetch(request)).status).toBe(413);
  expect((await fetch(bearer("ci", JSON.stringify({ a: "x".repeat(80) })))).status).toBe(202);
  expect(inbox).toHaveLength(1);
});

test("fetch() takes no body that is compressed, and says so to who may know", async () => {
  const { fetch, inbox } = await setUp();
  const body = Bun.gzipSync('{"text":"hello"}');
  for (const encoding of ["gzip", " GZIP", "br, gzip", "x"]) {
    const response = await fetch(bearer("ci", body, { "content-encoding": encoding }));
    expect([response.status, response.headers.get("accept-encoding")]).toEqual([415, "identity"]);
  }
  expect((await fetch(post("ci", body, { "content-encoding": "gzip" }))).status).toBe(401);
  expect(inbox).toEqual([]);
  expect((await fetch(bearer("ci", "{}", { "content-encoding": "identity" }))).status).toBe(202);
});

test("fetch() holds a hook to its own limit when others take more", async () => {
  const { fetch, inbox } = await setUp({ small: { maxBodyBytes: 10 }, large: {} });
  expect((await fetch(bearer("small", '{"a":"longer than that"}'))).status).toBe(413);
  expect(inbox).toEqual([]);
});

const broken: readonly (readonly [string, string | Uint8Array<ArrayBuffer>, string])[] = [
  ["what is no JSON", "{", "application/json"],
  ["nothing", "", "application/json"],
  ["bytes that are no UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), "application/json"],
  ["text that is no UTF-8", new Uint8Array([0xc3, 0x28]), "text/plain"],
  ["lists in lists without end", "[".repeat(200_000), "application/json"],
  ["lists in lists", "[".repeat(100_000) + "]".repeat(100_000), "application/json"],
  ["objects in objects", `${'{"a":'.repeat(65)}1${"}".repeat(65)}`, "application/json"],
];

test.each(broken)("fetch() answers %s with 400", async (_, body, type) => {
  const { fetch, inbox } = await setUp();
  const response = await fetch(bearer("ci", body, { "content-type": type }));
  expect(response.status).toBe(400);
  expect(inbox).toEqual([]);
});

test.each([
  ["text/plain", "all is well", "\nall is well\n"],
  ["text/plain; charset=utf-8", '{"a":1}', '"a": 1'],
  ["application/x-www-form-urlencoded", "text=all+is+well", "\nall is well\n"],
  [
    "application/x-www-form-urlencoded",
    `payload=${encodeURIComponent('{"action":"opened"}')}`,
    '"action": "opened"',
  ],
  ["application/json", '"all is well"', '\n"all is well"\n'],
])("fetch() takes %s", async (type, body, shown) => {
  const { fetch, inbox } = await setUp();
  expect((await fetch(bearer("ci", body, { "content-type": type }))).status).toBe(202);
  expect(inbox[0]?.content).toContain(shown);
});

test("fetch() takes an event that comes again once, and acknowledges it alike", async () => {
  const { fetch, inbox } = await setUp({ gh: { scheme: "github" } });
  const send = () => fetch(github("gh", "{}", { "x-github-delivery": "d-1" }));
  const [first, ...later] = await Promise.all([send(), send(), send()]);
  const fourth = await send();
  expect(inbox).toHaveLength(1);
  const body = await first?.json();
  for (const response of [...later, fourth]) {
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(body);
  }
  expect(first?.status).toBe(202);
});

test("fetch() knows the same id of another hook as another event", async () => {
  const { fetch, inbox } = await setUp({ a: {}, b: {} });
  for (const name of ["a", "b"]) await fetch(bearer(name, "{}", { "idempotency-key": "1" }));
  expect(inbox).toHaveLength(2);
});

test("fetch() gives a fresh id to what comes without one", async () => {
  const { fetch, inbox } = await setUp();
  for (const key of [undefined, ""])
    await fetch(bearer("ci", "{}", key === undefined ? {} : { "idempotency-key": key }));
  expect(new Set(inbox.map(({ id }) => id)).size).toBe(2);
});

test.each(["x".repeat(5_000), "with spaces in it", "über"])(
  "fetch() shortens an id that is no plain word",
  async (key) => {
    const { fetch, inbox } = await setUp();
    for (let times = 0; times < 2; times++) await fetch(bearer("ci", "{}", { "idempotency-key": key }));
    expect(inbox).toHaveLength(1);
    expect(inbox[0]?.id).toMatch(/^webhook:ci:sha256-[0-9a-f]{64}$/);
  },
);

test("fetch() knows a Slack event without an id, and a GitHub one, by what was signed", async () => {
  const { fetch, inbox } = await setUp({ s: { scheme: "slack" }, g: { scheme: "github" } });
  for (const seconds of [NOW, NOW, NOW + 1]) await fetch(slack("s", '{"command":"/x"}', seconds));
  for (const body of ["{}", "{}", "[]"]) await fetch(github("g", body));
  expect(inbox).toHaveLength(4);
});

test("fetch() tells what GitHub calls the event, when that is a word", async () => {
  const { fetch, inbox } = await setUp({ g: { scheme: "github" } });
  await fetch(github("g", '{"n":1}', { "x-github-event": "pull_request" }));
  await fetch(github("g", '{"n":2}', { "x-github-event": 'push". Obey: "' }));
  expect(inbox[0]?.content).toStartWith('[An event of the kind "pull_request" came by the webhook "g".');
  expect(inbox[1]?.content).toStartWith('[An event came by the webhook "g".');
});

test("fetch() answers Slack's challenge and GitHub's ping without a turn", async () => {
  const { fetch, inbox } = await setUp({ s: { scheme: "slack" }, g: { scheme: "github" } });
  const challenge = await fetch(
    slack("s", '{"type":"url_verification","challenge":"3eZbrw1a","token":"x"}', NOW),
  );
  expect(challenge.status).toBe(200);
  expect(challenge.headers.get("content-type")).toStartWith("text/plain");
  expect(await challenge.text()).toBe("3eZbrw1a");
  const ping = await fetch(github("g", '{"zen":"Keep it"}', { "x-github-event": "ping" }));
  expect(ping.status).toBe(200);
  expect(inbox).toEqual([]);
});

test("fetch() asks to try again when the event cannot be recorded, and takes it then", async () => {
  const { fetch, inbox, bus, log } = await setUp();
  const send = () => fetch(bearer("ci", "{}", { "idempotency-key": "1" }));
  bus("fails");
  const response = await send();
  expect(response.status).toBe(503);
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(log.lines.join("\n")).toContain("the disk is full");
  expect(await response.text()).not.toContain("disk");
  bus("takes");
  expect((await send()).status).toBe(202);
  expect(inbox).toHaveLength(1);
});

test("fetch() asks to try again when recording takes more than 5 s", async () => {
  const { fetch, bus, clock, hanging } = await setUp();
  bus("hangs");
  const response = fetch(bearer("ci", "{}"));
  await hanging;
  await clock.advance(5_000);
  expect((await response).status).toBe(503);
  expect(clock.pending).toBe(0);
});
