import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import * as v from "valibot";
import { runTurn } from "../../src/agent/turn.ts";
import type { InboundId } from "../../src/core/messages.ts";
import type { StoredMessage } from "../../src/core/session.ts";
import { defineTool, toolOk } from "../../src/core/tool.ts";
import { never } from "../../src/lib/abort.ts";
import { INTERRUPTED } from "../../src/lib/tool-failure.ts";
import { inboundMessage } from "../fakes/messages.ts";
import { createFixture } from "./fixture.ts";

const echo = defineTool({
  name: "echo",
  description: "Echoes",
  parameters: v.strictObject({ text: v.string() }),
  execute: async ({ text }) => toolOk(`echo ${text}`),
});

const call = (id: string, text: string) => ({
  id,
  type: "function" as const,
  function: { name: "echo", arguments: JSON.stringify({ text }) },
});

/** What a killed turn leaves: one call that has its result, and another one that has none. */
async function leaveOpen({ sessions }: ReturnType<typeof createFixture>, turn: string, text = "x") {
  const session = await sessions.open("cli:direct", { signal: never });
  const lines: readonly StoredMessage[] = [
    { role: "user", content: "do it" },
    { role: "assistant", content: "", tool_calls: [call("a", "done"), call("b", text)] },
    { role: "tool", tool_call_id: "a", name: "echo", content: "echo done" },
  ];
  await session.append(
    lines.map((line) => ({ ...line, turn: turn as InboundId })),
    { sync: false },
  );
  await session.close();
}

test("runTurn() records each call that an interrupted turn left open, once", async () => {
  const fixture = createFixture({ script: ["hello again", "and again"], tools: [echo] });
  await leaveOpen(fixture, "cli:old");
  await runTurn(inboundMessage({ id: "cli:new" }), fixture.deps, never);
  await runTurn(inboundMessage({ id: "cli:newer" }), fixture.deps, never);
  expect(fixture.audited).toEqual([
    {
      call: "b",
      turn: "cli:old" as InboundId,
      session: "cli:direct",
      origin: "chat",
      sender: "",
      tool: "echo",
      arguments: '{"text":"x"}',
      decision: { kind: "interrupted" },
      ok: false,
      durationMs: 0,
      error: INTERRUPTED.slice("Error: ".length),
      digest: createHash("sha256").update(INTERRUPTED).digest("hex"),
    },
  ]);
});

test("runTurn() knows who had asked when the same message comes again", async () => {
  const fixture = createFixture({ script: ["hello again"], tools: [echo] });
  const message = inboundMessage({ id: "cli:same" });
  await leaveOpen(fixture, message.id);
  await runTurn(message, fixture.deps, never);
  expect(fixture.audited).toMatchObject([{ call: "b", turn: message.id, sender: message.senderId }]);
});

test("runTurn() masks the arguments of an interrupted call", async () => {
  const fixture = createFixture({ script: ["hello again"], tools: [echo] });
  await leaveOpen(fixture, "cli:old", "the password is hunter2hunter2, and sk-abcdefghijklmnop");
  const mask = (text: string) => text.replaceAll("hunter2hunter2", "[masked]");
  await runTurn(inboundMessage(), { ...fixture.deps, mask }, never);
  expect(fixture.audited[0]?.arguments).toBe('{"text":"the password is [masked], and [masked]"}');
});

test("runTurn() has the calls of a turn in the audit, in the order they ended", async () => {
  const calls = ["a", "b"].map((text) => ({ name: "echo", arguments: { text } }));
  const fixture = createFixture({ script: [{ calls }, "done"], tools: [echo] });
  const message = inboundMessage();
  await runTurn(message, fixture.deps, never);
  expect(fixture.audited).toMatchObject([
    {
      turn: message.id,
      sender: message.senderId,
      arguments: '{"text":"a"}',
      decision: { kind: "ran" },
      ok: true,
    },
    {
      turn: message.id,
      sender: message.senderId,
      arguments: '{"text":"b"}',
      decision: { kind: "ran" },
      ok: true,
    },
  ]);
});
