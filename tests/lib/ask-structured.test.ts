import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import type { ChatRequest, Model } from "../../src/core/model.ts";
import { never } from "../../src/lib/abort.ts";
import { askStructured } from "../../src/lib/ask-structured.ts";
import { createFakeModel, type Scripted } from "../fakes/model.ts";
import { connect, serve } from "../providers/fixture.ts";

const question = {
  name: "decide",
  description: "Says what to do",
  schema: v.strictObject({ run: v.boolean(), times: v.optional(v.number()) }),
  messages: [{ role: "user", content: "Anything to do?" }],
  request: { model: "m", maxTokens: 100 },
} as const;

const ask = (reply: Scripted) => {
  const model = createFakeModel(reply);
  return { model, answer: askStructured(model, question, { signal: never }) };
};
const called = (text: string | Record<string, unknown>, name = "decide"): Scripted => {
  return { calls: [{ name, arguments: text }] };
};

describe("askStructured()", () => {
  test("offers one tool, forces it, and gives its arguments, cast to the schema", async () => {
    const { model, answer } = ask(called({ run: "true", times: "3" }));
    expect(await answer).toEqual({ ok: true, value: { run: true, times: 3 } });
    expect(model.requests[0]).toMatchObject({
      model: "m",
      toolChoice: { name: "decide" },
      tools: [{ name: "decide", parameters: { type: "object", required: ["run"] } }],
    });
  });

  test("offers the same list of tools for the same question, and another for another", async () => {
    const offered: ChatRequest["tools"][] = [];
    const model: Model = {
      provider: "fake",
      async chat({ tools }) {
        offered.push(tools);
        return { ok: true, content: "", toolCalls: [], finishReason: "stop" };
      },
    };
    for (const name of ["decide", "decide", "other"]) {
      await askStructured(model, { ...question, name }, { signal: never });
    }
    expect(offered.map((tools) => tools === offered[0])).toEqual([true, true, false]);
    expect(offered[2]).toMatchObject([{ name: "other" }]);
  });

  test.each([
    ["arguments that do not fit", called({ run: "perhaps" }), "do not fit"],
    ["arguments that are broken", called('{"run":'), "not valid JSON"],
    ["another tool", called({}, "other"), "no call of decide"],
  ])("says what is wrong with %s", async (_, reply, problem) => {
    expect(await ask(reply).answer).toMatchObject({
      ok: false,
      problem: expect.stringContaining(problem),
    });
  });

  test("gives what was said in words when no call came", async () => {
    expect(await ask("Nothing to do.").answer).toMatchObject({ ok: false, text: "Nothing to do." });
  });

  test("hands on the error of a model that failed", async () => {
    const error = { kind: "quota", message: "empty" } as const;
    expect(await ask({ error }).answer).toEqual({ ok: false, problem: "empty", text: "", error });
  });

  test("asks a server that cannot be forced to choose by itself, at once and from then on", async () => {
    const refused = {
      status: 400,
      body: { error: { message: "tool_choice: only auto is supported", type: "invalid_request_error" } },
    };
    const decided = { toolCalls: [{ name: "decide", arguments: { run: false } }] };
    const server = await serve([refused, decided, { text: "No." }]);
    const { model } = connect(server.url);
    expect(await askStructured(model, question, { signal: never })).toEqual({
      ok: true,
      value: { run: false },
    });
    expect(await askStructured(model, question, { signal: never })).toMatchObject({ ok: false, text: "No." });
    expect(server.requests.map(({ body }) => body["tool_choice"])).toEqual([
      { type: "function", function: { name: "decide" } },
      "auto",
      "auto",
    ]);
  });
});
