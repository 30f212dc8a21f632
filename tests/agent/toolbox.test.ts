import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import type { AuditEntry } from "../../src/core/audit.ts";
import { UserError } from "../../src/core/errors.ts";
import { type AnyTool, defineTool, toolError, toolOk } from "../../src/core/tool.ts";
import { failedBecause } from "../../src/lib/tool-failure.ts";
import { createFakeLog } from "../fakes/log.ts";
import { createTestToolbox, testRun } from "../fakes/toolbox.ts";

const parameters = v.strictObject({
  path: v.pipe(v.string(), v.description("where")),
  count: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  flag: v.optional(v.boolean()),
  tags: v.optional(v.array(v.string())),
});

const show = defineTool({
  name: "show",
  description: "Shows its arguments",
  parameters,
  readOnly: true,
  execute: async (args) => toolOk(JSON.stringify(args)),
});

function toolbox(tools: readonly AnyTool[] = [show], spilled: string[] = []) {
  return createTestToolbox({
    tools,
    maxResultChars: 500,
    spill: async (_, { id }, text) => {
      spilled.push(text);
      return `.nanobot/tool-results/s/${id}.txt`;
    },
  });
}

const run = testRun({ sessionKey: "s" });
const callWith = (args: unknown, name = "show", box = toolbox()) =>
  box.run({ id: "c1", name, arguments: typeof args === "string" ? args : JSON.stringify(args) }, run);

function tool(execute: () => Promise<ReturnType<typeof toolOk>>, resultLimit?: number): AnyTool {
  return defineTool({
    name: "t",
    description: "",
    parameters: v.strictObject({}),
    ...(resultLimit ? { resultLimit } : {}),
    execute,
  });
}

describe("createToolbox()", () => {
  test("describes its tools by JSON Schema, in a stable order", () => {
    const other = defineTool({ ...show, name: "alpha" });
    const { definitions } = toolbox([show, other]);
    expect(definitions.map(({ name }) => name)).toEqual(["alpha", "show"]);
    expect(definitions[1]?.parameters).toMatchObject({
      type: "object",
      required: ["path"],
      properties: { path: { type: "string", description: "where" }, count: { type: "integer", minimum: 1 } },
      additionalProperties: false,
    });
  });

  test("casts as far as the schema asks", async () => {
    const cases: [unknown, unknown][] = [
      [
        { path: "a", count: "5" },
        { path: "a", count: 5 },
      ],
      [
        { path: "a", flag: "True" },
        { path: "a", flag: true },
      ],
      [{ path: 5 }, { path: "5" }],
      [{ path: "5" }, { path: "5" }],
      [
        { path: "a", tags: '["x","y"]' },
        { path: "a", tags: ["x", "y"] },
      ],
      [{ path: "a", count: null }, { path: "a" }],
      ['"{\\"path\\":\\"a\\"}"', { path: "a" }],
    ];
    for (const [given, wanted] of cases) {
      const result = await callWith(given);
      expect(result.ok ? JSON.parse(result.text) : result.text).toEqual(wanted);
    }
  });

  test("answers every defect of the arguments with an error that names all of it", async () => {
    const problems: [unknown, string][] = [
      [{}, '"path" is missing'],
      [{ path: "a", count: 0 }, '"count"'],
      [{ path: "a", count: "many" }, '"count"'],
      [{ path: "a", other: 1 }, '"other" is not a parameter'],
      [{ path: ["a"] }, '"path"'],
      ["[]", "one JSON object, not a list"],
      ["{", "not valid JSON"],
      ['{"path":"a","__proto__":{"x":1}}', '"__proto__" is not a parameter'],
    ];
    for (const [given, problem] of problems) {
      const result = await callWith(given);
      expect(result.ok).toBe(false);
      expect(result.text).toStartWith("Error: ");
      expect(result.text).toContain(problem);
    }
    expect((await callWith({ count: 0 })).text).toMatch(/"path" is missing.*"count"/);
  });

  test("says which tools there are when one is not, and which was meant", async () => {
    const result = await callWith({}, "shwo");
    expect(result.text).toContain('there is no tool "shwo"; did you mean "show"?');
  });

  test("names an error that has no words by its code or its kind", async () => {
    const refused = Object.assign(new AggregateError([]), { code: "ECONNREFUSED" });
    for (const [thrown, named] of [
      [refused, "ECONNREFUSED"],
      [new RangeError(), "RangeError"],
    ] as const) {
      const tool = defineTool({
        name: "show",
        description: "",
        parameters: v.looseObject({}),
        execute: () => Promise.reject(thrown),
      });
      const box = createTestToolbox({ tools: [tool] });
      const { text } = await box.run({ id: "c1", name: "show", arguments: "{}" }, testRun());
      expect(text).toStartWith(`Error: ${named}\n`);
    }
  });

  test("turns whatever a tool throws into an error with its hint", async () => {
    const failing = tool(async () => {
      throw new UserError("Cannot open it", { hint: "Close it first" });
    });
    const result = await callWith({}, "t", toolbox([failing]));
    expect(result.text).toStartWith("Error: Cannot open it. Close it first");
    const odd = await callWith({}, "t", toolbox([tool(() => Promise.reject("text"))]));
    expect(odd.text).toStartWith("Error: text");
  });

  test("caps a long result by head and tail and keeps all of it in a file", async () => {
    const spilled: string[] = [];
    const long = `begin ${"x".repeat(2_000_000)} end`;
    const result = await callWith({}, "t", toolbox([tool(async () => toolOk(long))], spilled));
    expect(result.text.length).toBeLessThanOrEqual(500);
    expect(result.text).toStartWith("begin ");
    expect(result.text).toEndWith(" end");
    expect(result.text).toContain(".nanobot/tool-results/s/c1.txt");
    expect(spilled).toEqual([long]);
  });

  test("never cuts inside a surrogate pair, wherever the limit falls", async () => {
    for (let shift = 0; shift < 4; shift++) {
      const text = "a".repeat(shift) + "😀".repeat(1_000);
      const result = await callWith({}, "t", toolbox([tool(async () => toolError(text))]));
      expect(result.text.isWellFormed()).toBe(true);
    }
    const lone = await callWith({}, "t", toolbox([tool(async () => toolOk("cut \ud83d"))]));
    expect(lone.text).toBe("cut \ufffd");
  });

  test("cuts a result where it says itself, and no later than the cap", async () => {
    const limited = async (limit: number) =>
      (await callWith({}, "t", toolbox([tool(async () => toolOk("x".repeat(900), { limit }))]))).text.length;
    expect([await limited(200), await limited(5_000)]).toEqual([200, 500]);
  });

  test("cuts a failure where it says itself too", async () => {
    const { text } = await callWith(
      {},
      "t",
      toolbox([tool(async () => toolError("x".repeat(900), { limit: 200 }))]),
    );
    expect(failedBecause(text)).toHaveLength(200);
  });

  test("shows no half of a secret, wherever the limit falls", async () => {
    const secret = "abcdefghijklmnopqrstuvwxyz";
    for (let limit = 150; limit < 200; limit++) {
      const said = `${"x ".repeat(50)}${secret} ${"y ".repeat(100)}${secret}${" z".repeat(30)}`;
      const box = createTestToolbox({
        tools: [tool(async () => toolOk(said, { limit }))],
        mask: (text) => text.replaceAll(secret, "[masked]"),
      });
      expect((await callWith({}, "t", box)).text).not.toMatch(/abc|xyz/);
    }
  });

  test("lets a tool with a limit of its own use it", async () => {
    const result = await callWith({}, "t", toolbox([tool(async () => toolOk("x".repeat(900)), 1_000)]));
    expect(result.text).toHaveLength(900);
  });

  test("says so when a tool has no output", async () => {
    expect((await callWith({}, "t", toolbox([tool(async () => toolOk(" \n"))]))).text).toBe(
      "(t completed with no output)",
    );
  });

  test("still gives the shortened result when the rest cannot be kept", async () => {
    const box = createTestToolbox({
      tools: [tool(async () => toolOk("x".repeat(2_000)))],
      maxResultChars: 500,
      spill: () => Promise.reject(new Error("ENOSPC")),
    });
    const result = await callWith({}, "t", box);
    expect(result.ok).toBe(true);
    expect(result.text).toContain("characters left out");
  });
});

test("problemOf() says what a call would be told, without making it or telling a secret", async () => {
  const { problemOf } = createTestToolbox({
    tools: [show],
    mask: (text) => text.replaceAll("s3cret", "[masked]"),
  });
  const ask = (name: string, args: string) => problemOf({ id: "c1", name, arguments: args });
  expect(ask("show", '{"path":"a"}')).toBeUndefined();
  expect(ask("show", "{}")).toBe('the arguments do not fit: "path" is missing');
  expect(ask("s3cret", "{}")).toBe('there is no tool "[masked]". The tools are: show');
});

test("run() logs how a call was judged and how it ended", async () => {
  const log = createFakeLog();
  const asking = defineTool({
    ...show,
    permit: async () => ({ decision: "deny", reason: "it is not allowed" }),
  });
  let elapsed = 0;
  const clock = { elapsed: () => (elapsed += 5) };
  await callWith({ path: "a" }, "show", createTestToolbox({ tools: [asking], log, clock }));
  expect(log.lines).toEqual([
    "debug Tool call judged c1 show deny it is not allowed",
    "debug Tool call ended c1 show refused false 5",
  ]);
});

test("run() has what went wrong in the audit, without the words for the model", async () => {
  const audited: AuditEntry[] = [];
  const box = createTestToolbox({
    tools: [tool(async () => toolError("Cannot read it"))],
    audit: (entry) => void audited.push(entry),
  });
  await callWith({}, "t", box);
  expect(audited).toMatchObject([{ ok: false, error: "Cannot read it" }]);
});

test("createToolbox() takes secrets out of results, also out of what is kept in a file", async () => {
  const spilled: string[] = [];
  const box = createTestToolbox({
    tools: [tool(async () => toolOk(`key s3cret-value ${"x".repeat(600)}`))],
    maxResultChars: 500,
    mask: (text) => text.replaceAll("s3cret-value", "[masked]"),
    spill: async (_, __, text) => {
      spilled.push(text);
      return "file";
    },
  });
  const result = await callWith({}, "t", box);
  expect(result.text).toStartWith("key [masked]");
  expect(spilled[0]).toStartWith("key [masked]");
});
