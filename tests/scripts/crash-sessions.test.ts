import { expect, test } from "bun:test";
import { checkEffects, checkSessions } from "../../scripts/lib/crash/check-sessions.ts";
import { askFor, effectCommand, effectOf } from "../../scripts/lib/crash/marks.ts";

const user = (number: number, inbound = `event-${number}`) => ({
  role: "user",
  content: askFor({ number, task: "tools" }),
  inbound,
});
const calling = (...numbers: readonly number[]) => ({
  role: "assistant",
  content: "",
  tool_calls: numbers.map((number) => ({
    id: `call_${number}`,
    type: "function",
    function: { name: "exec", arguments: JSON.stringify({ command: effectCommand(number, 0.2) }) },
  })),
});
const result = (number: number, content = "Exit code: 0") => ({
  role: "tool",
  tool_call_id: `call_${number}`,
  content,
});
const CUT_OFF = "Error: interrupted, outcome unknown.";

function check(lines: readonly unknown[], more: Readonly<Record<string, string>> = {}) {
  const text = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
  const report = checkSessions(
    Object.entries({ "one.jsonl": text, ...more }).map(([name, content]) => ({ name, text: content })),
  );
  return { ...report, found: report.violations.map(({ what }) => what) };
}

test("effectOf() reads the number that effectCommand() leaves behind", () => {
  expect([effectOf(effectCommand(12, 0)), effectOf(effectCommand(13, 0.4)), effectOf("ls")]).toEqual([
    12,
    13,
    undefined,
  ]);
});

test("checkSessions() has nothing to say of a session in which all is well", () => {
  const report = check([{ _type: "metadata" }, user(1), calling(1, 2), result(1), result(2, CUT_OFF)]);
  expect(report.found).toEqual([]);
  expect([...report.calls]).toEqual([
    [1, "finished"],
    [2, "unknown"],
  ]);
  expect(report.lines).toBe(5);
});

test("checkSessions() finds damaged lines and a torn end", () => {
  expect(check([user(1), '{"role":"us']).found).toEqual(['a damaged line, "{\\"role\\":\\"us" in one.jsonl']);
  expect(check([], { "two.jsonl": JSON.stringify(user(1)) }).found).toEqual([
    "the last line has no end in two.jsonl",
  ]);
});

test("checkSessions() finds calls without a result, with two, and results without a call", () => {
  expect(check([user(1), calling(1)]).found).toEqual(["call call_1 has no result in one.jsonl"]);
  expect(check([user(1), calling(1), result(1), result(1)]).found).toEqual([
    "call call_1 has two results in one.jsonl",
  ]);
  expect(check([user(1), result(7)]).found).toEqual(["a result without its call, call_7 in one.jsonl"]);
  expect(check([calling(1), result(1), calling(1), result(1)]).found).toEqual([
    "call call_1 stands twice in one.jsonl",
  ]);
});

test("checkSessions() finds messages that stand twice, in one session or in two", () => {
  expect(check([user(1), user(1)]).found).toEqual([
    "event-1 stands twice in one.jsonl",
    "message 1 stands twice in one.jsonl",
  ]);
  expect(check([user(1)], { "two.jsonl": `${JSON.stringify(user(1, "event-9"))}\n` }).found).toEqual([
    "message 1 stands twice in two.jsonl",
  ]);
});

test("checkEffects() lets a call that was cut off have run, or not", () => {
  const { calls } = check([user(1), calling(1, 2, 3), result(1), result(2, CUT_OFF), result(3, CUT_OFF)]);
  expect(checkEffects(calls, [1, 2])).toEqual([]);
});

test("checkEffects() finds calls that ran twice, finished or cut off", () => {
  const { calls } = check([user(1), calling(1, 2), result(1), result(2, CUT_OFF)]);
  expect(checkEffects(calls, [1, 1, 2, 2, 2])).toEqual([
    { kind: "run twice", what: "call 1 ran 2 times" },
    { kind: "run twice", what: "call 2 ran 3 times" },
  ]);
});

test("checkEffects() finds effects and records that contradict each other", () => {
  const { calls } = check([user(1), calling(1, 2), result(1), result(2, "Error: not allowed")]);
  expect(checkEffects(calls, [2, 8]).map(({ what }) => what)).toEqual([
    "call 8 ran and stands in no session",
    "call 1 is recorded as finished and left nothing behind",
    "call 2 is recorded as not run and left something behind",
  ]);
});
