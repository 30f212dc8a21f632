/** What calls to models used is on disk when the program ends, however it ends. */

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { UsageRecord } from "../../src/core/usage.ts";
import { ask, endToEnd, type Home, inTerminal, modelAt, newHome, run, start, startModel } from "./harness.ts";

endToEnd();

function recordsIn(home: Home): readonly UsageRecord[] {
  const text = readFileSync(join(home.workspace, ".nanobot/usage.jsonl"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

test("nanobot agent records a call that the model refused, and nanobot usage shows it", async () => {
  const server = await startModel([{ status: 401, body: {} }]);
  const home = newHome(modelAt(server.url));
  expect((await ask("hello", home)).code).toBe(1);
  expect(recordsIn(home)).toMatchObject([
    { session: "cli:direct", origin: "chat", model: "fake-model", provider: "fake", input: 0, failed: true },
  ]);
  const { code, stdout } = await run(["usage"], { home });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^day +calls +failed .*\n.* 1 +1 /)]);
});

test("nanobot agent records a call that a signal stopped before the model said a word", async () => {
  const server = await startModel([{ never: true }]);
  const home = newHome(modelAt(server.url));
  const program = start(["agent", "-m", "hello"], { home });
  await server.received(1);
  program.signal("SIGINT");
  expect((await program.outcome).code).toBe(130);
  expect(recordsIn(home)).toMatchObject([{ session: "cli:direct", input: 0, output: 0, failed: true }]);
});

test("nanobot agent records a call that Ctrl-C stopped in the middle of its reply, by estimate", async () => {
  const until = new Promise(() => {});
  const server = await startModel([
    { text: ["Once upon a time", " there was"], holdAfter: { writes: 2, until } },
  ]);
  const home = newHome(modelAt(server.url));
  const terminal = inTerminal(["agent", "-m", "tell me a story"], home);
  await terminal.until("Once upon");
  terminal.type("\x03");
  expect(await terminal.exited).toBe(130);
  const [record, ...more] = recordsIn(home);
  expect(record).toMatchObject({ session: "cli:direct", failed: true, estimated: true });
  expect(record?.input).toBeGreaterThan(100);
  expect(record?.output).toBeGreaterThan(1);
  expect(more).toEqual([]);
});
