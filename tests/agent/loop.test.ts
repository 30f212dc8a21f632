import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { runLoop } from "../../src/agent/loop.ts";
import { Stopped } from "../../src/core/errors.ts";
import type { RunEvent } from "../../src/core/events.ts";
import type { InboundId } from "../../src/core/messages.ts";
import type { ChatMessage } from "../../src/core/model.ts";
import { type AnyTool, defineTool, toolError, toolOk } from "../../src/core/tool.ts";
import { createTokenScale } from "../../src/lib/token-scale.ts";
import { createFakeModel, type FakeModel, type Scripted } from "../fakes/model.ts";
import { createTestToolbox, testRun } from "../fakes/toolbox.ts";

/** Says what it was given; `fail` makes it an error, `wait` lets a test hold it. */
function echoTool(
  name: string,
  { readOnly = false, started = () => {}, gate = Promise.resolve() } = {},
): AnyTool {
  return defineTool({
    name,
    description: "Echoes",
    readOnly,
    parameters: v.strictObject({ text: v.string(), fail: v.optional(v.boolean()) }),
    async execute({ text, fail }) {
      started();
      await gate;
      return fail ? toolError(text) : toolOk(text);
    },
  });
}

interface RunOptions {
  readonly tools?: readonly AnyTool[];
  readonly signal?: AbortSignal;
  readonly maxRounds?: number;
  readonly promptTokens?: number;
  readonly emit?: (event: RunEvent) => void | Promise<void>;
  readonly roundsBehind?: number;
  readonly joining?: () => Promise<readonly ChatMessage[]>;
}

async function run(model: FakeModel, { tools = [echoTool("echo")], ...options }: RunOptions = {}) {
  const events: RunEvent[] = [];
  const toolbox = createTestToolbox({
    tools,
  });
  const messages: ChatMessage[] = [
    { role: "system", content: "be good" },
    { role: "user", content: "hello" },
  ];
  const result = await runLoop(
    {
      turn: "cli:1" as InboundId,
      messages,
      request: { model: "m", maxTokens: 100 },
      maxRounds: options.maxRounds ?? 10,
      ...(options.roundsBehind === undefined ? {} : { roundsBehind: options.roundsBehind }),
      promptTokens: options.promptTokens ?? 100_000,
    },
    {
      model,
      scale: createTokenScale(),
      tools: toolbox,
      ...(options.joining === undefined ? {} : { joining: options.joining }),
      run: testRun(options.signal === undefined ? {} : { signal: options.signal }),
      emit: async (event) => {
        events.push(event);
        await options.emit?.(event);
      },
    },
  );
  return { result, events, types: events.map(({ type }) => type).filter((type) => type !== "model.delta") };
}

const tooLong = { error: { kind: "contextOverflow", message: "too long" } } as const;

const call = (text: string, more: object = {}): Scripted => ({
  calls: [{ name: "echo", arguments: { text, ...more } }],
});
const content = ({ result }: Awaited<ReturnType<typeof run>>) =>
  result.status === "answered" ? result.message.content : result.status;

describe("runLoop()", () => {
  test("takes in what the user says meanwhile, after tools ran and not before the first call", async () => {
    const model = createFakeModel({ calls: [{ name: "echo", arguments: { text: "a" } }] }, "done");
    let asked = 0;
    const joining = async (): Promise<readonly ChatMessage[]> => {
      asked++;
      return [{ role: "user", content: "and this" }];
    };
    const { result } = await run(model, { joining });
    expect(result).toMatchObject({ status: "answered" });
    expect(asked).toBe(1);
    expect(model.requests.map(({ messages }) => messages.at(-1)?.content)).toEqual(["hello", "and this"]);
  });

  test("takes nobody in after an abort, nor before the summary at the end of its rounds", async () => {
    const abort = new AbortController();
    const joining = () => Promise.reject(new Error("asked"));
    const call = { calls: [{ name: "echo", arguments: { text: "a" } }] };
    const emit = ({ type }: RunEvent) => {
      if (type === "tool.ended") abort.abort(new Stopped("user"));
    };
    const aborted = await run(createFakeModel(call), { joining, emit, signal: abort.signal });
    expect(aborted.result.status).toBe("aborted");
    const { result } = await run(createFakeModel(call, "summary"), { joining, maxRounds: 1 });
    expect(result).toMatchObject({ message: { content: "summary" } });
  });

  test("goes on behind the rounds that another run made, with ids of its own", async () => {
    const model = createFakeModel({ calls: [{ name: "echo", arguments: { text: "a" } }] }, "summary");
    const { events } = await run(model, { roundsBehind: 2, maxRounds: 3 });
    const made = events.flatMap((event) => (event.type === "assistant.calls" ? event.message.toolCalls : []));
    expect(made.map(({ id }) => id)).toEqual([expect.stringMatching(/^call_[0-9a-f]+_2_0$/)]);
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "none"]);
  });

  test("answers without tools", async () => {
    const done = await run(createFakeModel("hi there"));
    expect(content(done)).toBe("hi there");
    expect(done.types).toEqual(["model.started", "model.ended"]);
  });

  test("runs the tools that are called and gives the results back", async () => {
    const model = createFakeModel(call("one"), "done");
    const done = await run(model);
    expect(content(done)).toBe("done");
    expect(model.requests[1]?.messages.slice(2)).toMatchObject([
      { role: "assistant", content: "", toolCalls: [{ name: "echo", arguments: '{"text":"one"}' }] },
      { role: "tool", name: "echo", content: "one" },
    ]);
    expect(done.types).toEqual([
      "model.started",
      "model.ended",
      "assistant.calls",
      "tool.started",
      "tool.ended",
      "model.started",
      "model.ended",
    ]);
  });

  test("gives calls ids of its own, unique and the same for the same turn", async () => {
    const same = { calls: ["a", "b"].map((text) => ({ name: "echo", id: "x", arguments: { text } })) };
    const ids = async () => {
      const model = createFakeModel(same, same, "done");
      await run(model);
      return model.requests[2]?.messages.flatMap((message) =>
        message.role === "tool" ? [message.toolCallId] : [],
      );
    };
    const first = await ids();
    expect(new Set(first).size).toBe(4);
    expect(await ids()).toEqual(first ?? []);
    for (const id of first ?? []) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
  });

  test("waits for emit before it runs tools", async () => {
    const order: string[] = [];
    const tool = echoTool("echo", { started: () => order.push("tool") });
    await run(createFakeModel(call("x"), "done"), {
      tools: [tool],
      emit: async ({ type }) => {
        if (type !== "assistant.calls") return;
        await Promise.resolve();
        order.push("saved");
      },
    });
    expect(order).toEqual(["saved", "tool"]);
  });

  test("ends with the error when emit rejects, and runs no tool", async () => {
    let ran = false;
    const failing = run(createFakeModel(call("x"), "done"), {
      tools: [echoTool("echo", { started: () => (ran = true) })],
      emit: ({ type }) => {
        if (type === "assistant.calls") throw new Error("disk is full");
      },
    });
    await expect(failing).rejects.toThrow("disk is full");
    expect(ran).toBe(false);
  });

  test("runs read-only calls of one reply side by side and keeps their order", async () => {
    let running = 0;
    let most = 0;
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const started = () => {
      most = Math.max(most, ++running);
      if (running === 3) open();
    };
    const model = createFakeModel(
      { calls: ["a", "b", "c"].map((text) => ({ name: "look", arguments: { text } })) },
      "done",
    );
    await run(model, { tools: [echoTool("look", { readOnly: true, started, gate })] });
    expect(most).toBe(3);
    expect(model.requests[1]?.messages.slice(3).map((message) => message.content)).toEqual(["a", "b", "c"]);
  });

  test("runs other calls one after the other", async () => {
    const order: string[] = [];
    const tool = defineTool({
      name: "echo",
      description: "",
      parameters: v.strictObject({ text: v.string() }),
      async execute({ text }) {
        order.push(`start ${text}`);
        await Promise.resolve();
        order.push(`end ${text}`);
        return toolOk(text);
      },
    });
    const calls = ["a", "b"].map((text) => ({ name: "echo", arguments: { text } }));
    await run(createFakeModel({ calls }, "done"), { tools: [tool] });
    expect(order).toEqual(["start a", "end a", "start b", "end b"]);
  });

  test("keeps the history valid when arguments are a list, a double-encoded string or broken", async () => {
    const deep = `{"text":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
    for (const args of ['[{"text":"x"},{}]', '"text"', "{broken", "12", "null", deep]) {
      const model = createFakeModel({ calls: [{ name: "echo", arguments: args }] }, "done");
      const done = await run(model);
      expect(content(done)).toBe("done");
      const [sent, result] = model.requests[1]?.messages.slice(2) ?? [];
      expect(sent?.role === "assistant" && sent.toolCalls?.[0]?.arguments).toBe("{}");
      expect(result?.content).toStartWith("Error: ");
    }
    for (const args of [JSON.stringify(JSON.stringify({ text: "found" })), '[{"text":"found"}]']) {
      const model = createFakeModel({ calls: [{ name: "echo", arguments: args }] }, "done");
      await run(model);
      expect(model.requests[1]?.messages.slice(-2)).toMatchObject([
        { toolCalls: [{ arguments: '{"text":"found"}' }] },
        { content: "found" },
      ]);
    }
  });

  test("keeps the history valid when a tool's name is none", async () => {
    const model = createFakeModel({ calls: [{ name: "fn.exec ✓", arguments: {} }, { name: "" }] }, "done");
    await run(model);
    const sent = model.requests[1]?.messages[2];
    const names = sent?.role === "assistant" ? sent.toolCalls?.map(({ name }) => name) : [];
    for (const name of names ?? []) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(model.requests[1]?.messages[3]?.content).toContain("there is no tool");
  });

  test("stops after the same call failed three times, with a word to the user", async () => {
    const model = createFakeModel(...Array<Scripted>(100).fill({ calls: [{ name: "echo", arguments: {} }] }));
    const done = await run(model, { maxRounds: 40 });
    expect(model.requests).toHaveLength(3);
    expect(content(done)).toContain("failed 3 times");
    expect(content(done)).not.toContain("[");
    expect(content(done)).toContain('"text" is missing');
  });

  test("stops a model that fails in the same way with ever other arguments", async () => {
    const replies = Array.from(
      { length: 100 },
      (_, index): Scripted => ({
        calls: [{ name: "echo", arguments: { text: index % 2 === 0 ? [] : {}, fail: undefined } }],
      }),
    );
    const model = createFakeModel(...replies);
    await run(model, { maxRounds: 40 });
    expect(model.requests.length).toBeLessThanOrEqual(7);
  });

  test("goes on when a call fails and then succeeds", async () => {
    const model = createFakeModel(
      call("no", { fail: true }),
      call("no", { fail: true }),
      call("yes"),
      "done",
    );
    expect(content(await run(model))).toBe("done");
  });

  test("asks once more after a blank answer, and then reports it as an error", async () => {
    const second = createFakeModel("  ", "there");
    expect(content(await run(second))).toBe("there");
    expect(second.requests[1]?.toolChoice).toBe("none");
    const blank = createFakeModel("", "\n");
    const { result } = await run(blank);
    expect(result.status).toBe("failed");
    expect(blank.requests).toHaveLength(2);
  });

  test("asks for an honest summary when the rounds run out", async () => {
    const model = createFakeModel(call("1"), call("2"), "This is as far as I came");
    expect(content(await run(model, { maxRounds: 2 }))).toBe("This is as far as I came");
    expect(model.requests[2]?.toolChoice).toBe("none");
    expect(model.requests[2]?.messages.at(-1)?.content).toContain("2 rounds");
  });

  test("gives its own summary when the model gives none, and hands on its failure", async () => {
    expect(content(await run(createFakeModel(call("1"), " "), { maxRounds: 1 }))).toContain("all 1 rounds");
    const error = { kind: "quota", message: "no credit" } as const;
    const { result } = await run(createFakeModel(call("1"), { error }), { maxRounds: 1 });
    expect(result).toEqual({ status: "failed", error });
  });

  test("hands on a failure of the model", async () => {
    const error = { kind: "auth", message: "refused" } as const;
    const { result } = await run(createFakeModel({ error, partial: "half an" }));
    expect(result).toEqual({ status: "failed", error });
  });

  test("gives every announced call a result when it is aborted", async () => {
    const abort = new AbortController();
    const tool = echoTool("echo", {
      started: () => abort.abort(new Stopped("user")),
      gate: new Promise(() => {}),
    });
    const model = createFakeModel({
      calls: ["a", "b"].map((text) => ({ name: "echo", arguments: { text } })),
    });
    const { result, events } = await run(model, { tools: [tool], signal: abort.signal });
    expect(result.status).toBe("aborted");
    const ended = events.flatMap((event) => (event.type === "tool.ended" ? [event.result.text] : []));
    expect(ended.map((text) => text.split("\n")[0])).toEqual([
      "Error: stopped before it was finished, outcome unknown",
      "Error: not run, because the turn was stopped",
    ]);
  });

  test("is aborted while the model thinks", async () => {
    const abort = new AbortController();
    const running = run(createFakeModel({ hang: true }), { signal: abort.signal });
    abort.abort(new Stopped("shutdown"));
    expect((await running).result.status).toBe("aborted");
  });

  test("says on whose behalf it asks, and passes on what the model has to tell, in order", async () => {
    const telling: Scripted = async (_, { onDelta, onNotice, caller }) => {
      onNotice?.({ kind: "waiting", text: "busy" });
      onDelta({ kind: "text", text: "hi" });
      onNotice?.({ kind: "quota", text: JSON.stringify(caller) });
      return { ok: true, content: "hi", toolCalls: [], finishReason: "stop", model: "p/m" };
    };
    const { events, result } = await run(createFakeModel(telling));
    expect(events).toMatchObject([
      { type: "model.started" },
      { type: "model.notice", notice: { kind: "waiting", text: "busy" } },
      {
        type: "model.notice",
        notice: { text: '{"sessionKey":"cli:direct","origin":"chat","turn":"cli:1"}' },
      },
      { type: "model.delta", delta: { text: "hi" } },
      { type: "model.ended" },
    ]);
    expect(result).toMatchObject({ status: "answered", message: { content: "hi", model: "p/m" } });
  });

  describe("when the conversation is too long", () => {
    const long = "word ".repeat(180);

    test("leaves out what is old and asks once more", async () => {
      const model = createFakeModel(call(long), call(long), tooLong, "done");
      const done = await run(model);
      expect(content(done)).toBe("done");
      expect(model.requests).toHaveLength(4);
      const results = model.requests[3]?.messages.filter(({ role }) => role === "tool") ?? [];
      expect(results[0]?.content).toContain("left out to save room");
      expect(results[1]?.content).toBe(long);
      expect(done.types.slice(-4)).toEqual(["model.started", "model.ended", "model.started", "model.ended"]);
    });

    test("asks no third time", async () => {
      const model = createFakeModel(call(long), call(long), tooLong, tooLong, "never asked");
      const { result } = await run(model);
      expect(result).toEqual({ status: "failed", error: { kind: "contextOverflow", message: "too long" } });
      expect(model.requests).toHaveLength(4);
    });

    test("asks no second time when there is nothing to leave out, or something was shown", async () => {
      const alone = createFakeModel(tooLong, "never asked");
      expect((await run(alone)).result.status).toBe("failed");
      expect(alone.requests).toHaveLength(1);
      const shown = createFakeModel(call(long), call(long), { ...tooLong, partial: "Well" }, "never asked");
      expect((await run(shown)).result.status).toBe("failed");
      expect(shown.requests).toHaveLength(3);
    });

    test("goes on with less in the rounds that follow", async () => {
      const model = createFakeModel(call(long), call(long), call(long), tooLong, call("x"), "done");
      expect(content(await run(model))).toBe("done");
      const [before, after] = [model.requests[4]?.messages ?? [], model.requests[5]?.messages ?? []];
      expect(after.slice(0, before.length)).toEqual([...before]);
    });

    test("keeps the question when it asks for a summary or an answer that was blank", async () => {
      const summary = createFakeModel(call(long), call(long), tooLong, "that far");
      expect(content(await run(summary, { maxRounds: 2 }))).toBe("that far");
      expect(summary.requests[3]?.messages.at(-1)?.content).toContain("2 rounds");
      const blank = createFakeModel(call(long), call(long), "", tooLong, "there");
      expect(content(await run(blank))).toBe("there");
      expect(blank.requests[4]?.messages.at(-1)?.content).toContain("was empty");
    });

    test("sends what fits from the start", async () => {
      const model = createFakeModel(call(long), call(long), call(long), "done");
      const done = await run(model, { promptTokens: 700 });
      expect(content(done)).toBe("done");
      expect(JSON.stringify(model.requests[3]).length).toBeLessThan(
        JSON.stringify(model.requests[1]).length * 2,
      );
      const stored = done.events.flatMap((event) =>
        event.type === "tool.ended" ? [event.message.content] : [],
      );
      expect(stored).toEqual([long, long, long]);
    });
  });
});
