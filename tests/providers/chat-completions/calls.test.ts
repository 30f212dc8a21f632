import { describe, expect, test } from "bun:test";
import type { ToolCall } from "../../../src/core/model.ts";
import { createWireCalls } from "../../../src/providers/chat-completions/calls.ts";

type Delta = { readonly [key: string]: unknown };

const ls = '{"command":"ls"}';

function callsOf(deltas: readonly Delta[]): readonly ToolCall[] {
  const calls = createWireCalls();
  let ids = 0;
  for (const delta of deltas) calls.add(delta);
  return calls.finish(() => `new_${++ids}`);
}

/** A delta for `exec`, with that much of its arguments. */
function exec(text: unknown, fields: Delta = {}): Delta {
  return { ...fields, function: { name: "exec", arguments: text } };
}

describe("createWireCalls() puts calls together", () => {
  test.each([
    [
      "an index that is text",
      [exec('{"command":', { index: "0", id: "a" }), { index: "0", function: { arguments: '"ls"}' } }],
      [ls],
    ],
    [
      "a name of null later on",
      [exec("", { index: 0, id: "a" }), { index: 0, id: null, function: { name: null, arguments: ls } }],
      [ls],
    ],
    ["arguments of null", [exec(null, { index: 0 })], ["{}"]],
    ["arguments that are an object", [exec({ command: "ls" }, { index: 0 })], [ls]],
    ["arguments that are a list", [exec([1], { index: 0 })], ["[1]"]],
    [
      "an empty object before the pieces",
      [exec({}, { index: 0 }), { index: 0, function: { arguments: ls } }],
      [ls],
    ],
    [
      "the name with every piece",
      [
        exec('{"command":', { index: 0, id: "a" }),
        exec('"ls"}', { index: 0, id: "a" }),
        exec("", { index: 0, id: "a" }),
      ],
      [ls],
    ],
    ["the whole call once more", [exec(ls, { index: 0, id: "a" }), exec(ls, { index: 0, id: "a" })], [ls]],
    ["one id for two calls", [exec(ls, { id: "a" }), exec('{"n":1}', { id: "a" })], [ls, '{"n":1}']],
    ["one index for two calls", [exec(ls, { index: 0 }), exec('{"n":1}', { index: 0 })], [ls, '{"n":1}']],
    ["neither index nor id", [exec(ls), exec(ls)], [ls, ls]],
    ["no function", [{ index: 0, id: "a" }, { index: 0, function: null }, exec(ls, { index: 0 })], [ls]],
  ])("with %s", (_, deltas, expected) => {
    const toolCalls = callsOf(deltas);
    expect(toolCalls.map(({ name }) => name)).toEqual(expected.map(() => "exec"));
    expect(toolCalls.map((one) => one.arguments)).toEqual(expected);
    expect(new Set(toolCalls.map(({ id }) => id || "none")).size).toBe(expected.length);
    expect(toolCalls.every(({ id }) => id !== "")).toBe(true);
  });

  test("of another name under the same index", () => {
    const deltas = [exec(ls, { index: 0 }), { index: 0, function: { name: "list_dir", arguments: "" } }];
    expect(callsOf(deltas).map(({ name }) => name)).toEqual(["exec", "list_dir"]);
  });

  test("but not without end", () => {
    expect(callsOf(Array(256).fill(exec(ls)))).toHaveLength(256);
    expect(() => callsOf(Array(257).fill(exec(ls)))).toThrow("more than 256");
  });

  test("with what the vendor wants back", () => {
    const deltas = [
      {
        index: 0,
        id: "a",
        extra_content: { google: { thought_signature: "c2ln" } },
        function: { name: "exec" },
      },
      { index: 0, extra_content: { other: 1 }, function: { arguments: ls } },
      { index: 1, id: "b", extra_content: "text", function: { name: "exec" } },
    ];
    expect(callsOf(deltas)).toEqual([
      { id: "a", name: "exec", arguments: ls, extra: { google: { thought_signature: "c2ln" }, other: 1 } },
      { id: "b", name: "exec", arguments: "{}" },
    ]);
  });

  test("without what would be too much to send back", () => {
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`);
    const deltas = [
      { index: 0, extra_content: { a: "x".repeat(300_000) }, function: { name: "exec" } },
      { index: 1, extra_content: deep, function: { name: "exec" } },
    ];
    expect(callsOf(deltas).map(({ extra }) => extra)).toEqual([undefined, undefined]);
    const nested = exec(deep);
    expect(() => callsOf([nested])).toThrow("nested too deeply");
  });
});
