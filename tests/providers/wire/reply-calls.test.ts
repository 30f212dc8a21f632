import { describe, expect, test } from "bun:test";
import { argumentsOf, type CollectedCall, finishCalls } from "../../../src/providers/wire/reply-calls.ts";

const call = (id: string, more: Partial<CollectedCall> = {}): CollectedCall => ({
  id,
  name: "exec",
  arguments: "{}",
  ...more,
});

function idsOf(...ids: readonly string[]): readonly string[] {
  let made = 0;
  return finishCalls(
    ids.map((id) => call(id)),
    () => `new ${++made}`,
  ).map(({ id }) => id);
}

describe("finishCalls()", () => {
  test("gives calls without an id, and with another's, new ones", () => {
    expect(idsOf("a", "", "a", "b")).toEqual(["a", "new 1", "new 2", "b"]);
  });

  test("tells ids apart as they are stored, not as they came", () => {
    expect(idsOf("a\ud800", "a\ud801")).toEqual(["a\ufffd", "new 1"]);
  });

  test("leaves out what is empty but for an id, and fills in missing arguments", () => {
    const calls = [call("a", { name: "", arguments: "" }), call("b", { arguments: "" })];
    expect(finishCalls(calls, () => "new")).toEqual([{ id: "b", name: "exec", arguments: "{}" }]);
  });

  test("keeps what the vendor wants back", () => {
    const extra = { google: { thought_signature: "s" } };
    expect(finishCalls([call("a", { extra })], () => "new")).toEqual([call("a", { extra })]);
  });
});

describe("argumentsOf()", () => {
  test.each([
    ["text as it is", '{"a":', '{"a":'],
    ["an object as JSON", { a: [1] }, '{"a":[1]}'],
    ["a list as JSON", [1], "[1]"],
    ["anything else as nothing", 7, ""],
    ["null as nothing", null, ""],
  ])("takes %s", (_, value, expected) => {
    expect(argumentsOf(value)).toBe(expected);
  });

  test("refuses what is nested too deeply to be written", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(600)}1${"}".repeat(600)}`);
    expect(() => argumentsOf(deep)).toThrow("nested too deeply");
  });
});
