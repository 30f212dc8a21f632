/** What a failure says of what had arrived before it: tested through a protocol, since builders know it. */

import { expect, test } from "bun:test";
import { connect, replyTo, serve } from "../fixture.ts";

const usage = { prompt_tokens: 900, completion_tokens: 1 };
const counted = { input: 900, output: 1, cached: 0, reasoning: 0 };
const chunk = (delta: object) => ({ choices: [{ delta }], usage });

test("createWireModel() says what had been counted before a reply broke off", async () => {
  const once = chunk({ content: "Once " });
  const cutAt = `data: ${JSON.stringify(once)}\n\n`.length + 8;
  const seen = Promise.withResolvers<void>();
  const server = await serve([{ events: [once, chunk({ content: "upon" })], cutAt, cutWhen: seen.promise }]);
  const { ask, firstDelta } = connect(server.url);
  firstDelta.then(seen.resolve);
  const reply = await ask();
  expect(reply).toMatchObject({ ok: false, partial: "Once ", usage: counted, started: true });
});

test("createWireModel() says that a call had begun when it was stopped, and what had been counted", async () => {
  const call = { index: 0, id: "call_1", function: { name: "echo", arguments: '{"te' } };
  const until = new Promise(() => {});
  const server = await serve([
    {
      events: [chunk({ reasoning_content: "Hm" }), chunk({ tool_calls: [call] }), chunk({})],
      holdAfter: { writes: 2, until },
    },
  ]);
  const { ask, firstDelta } = connect(server.url);
  const abort = new AbortController();
  const asking = ask({}, abort.signal);
  await firstDelta;
  abort.abort();
  expect(await asking).toMatchObject({
    ok: false,
    error: { kind: "aborted" },
    partial: "",
    usage: counted,
    started: true,
  });
});

test("createWireModel() says of a refusal neither", async () => {
  const reply = await replyTo({ status: 401, body: {} });
  expect(reply.ok).toBe(false);
  expect(reply).not.toHaveProperty("usage");
  expect(reply).not.toHaveProperty("started");
});
