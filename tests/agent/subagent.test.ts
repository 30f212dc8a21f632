import { describe, expect, test } from "bun:test";
import { subagentProgram } from "../../src/agent/subagent.ts";
import type { InboundId } from "../../src/core/messages.ts";
import type { ChatReply, ToolCall } from "../../src/core/model.ts";
import type { SubagentAsks, SubagentInput } from "../../src/core/subagent.ts";
import type { ToolResult } from "../../src/core/tool.ts";
import { textReply } from "../fakes/model.ts";

const input: SubagentInput = {
  turn: "subagent:1/run" as InboundId,
  systemPrompt: "You are a subagent.",
  task: "count the files",
  definitions: [{ name: "list_dir", description: "lists", parameters: { type: "object" } }],
  readOnly: ["list_dir"],
  request: { model: "m", maxTokens: 100 },
  maxRounds: 15,
  promptTokens: 10_000,
  fitting: 10_000,
};

function calls(...names: readonly string[]): ChatReply {
  const toolCalls = names.map((name) => ({ id: "theirs", name, arguments: '{"path":"."}' }));
  return { ok: true, content: "", toolCalls, finishReason: "tool_calls" };
}

/** A main thread that answers what is scripted. */
function createHost(replies: readonly ChatReply[], { result = "two files", fitting = 10_000 } = {}) {
  const queue = [...replies];
  const asked: { chat: SubagentAsks["chat"]["request"][]; tool: ToolCall[]; refused: number[] } = {
    chat: [],
    tool: [],
    refused: [],
  };
  const handlers = {
    chat(request: SubagentAsks["chat"]["request"]) {
      asked.chat.push(structuredClone(request));
      const reply: ChatReply = queue.shift() ?? {
        ok: false,
        error: { kind: "badRequest", message: "out of replies" },
        partial: "",
      };
      return { reply, fitting };
    },
    tool(call: ToolCall): ToolResult {
      asked.tool.push(call);
      return { ok: true, text: result };
    },
    refused(estimated: number) {
      asked.refused.push(estimated);
      return { fitting };
    },
  };
  const ask = async (kind: keyof typeof handlers, request: never) => handlers[kind](request);
  return {
    asked,
    run: (given = input) => subagentProgram(given, ask as Parameters<typeof subagentProgram>[1]),
  };
}

describe("subagentProgram()", () => {
  test("gives the model the prompt and the task, and reports its last words", async () => {
    const { run, asked } = createHost([textReply("There are two.")]);
    expect(await run()).toEqual({ status: "done", text: "There are two." });
    expect(asked.chat).toEqual([
      {
        messages: [
          { role: "system", content: "You are a subagent." },
          { role: "user", content: "count the files" },
        ],
        toolChoice: "auto",
      },
    ]);
  });

  test("has the main thread run its tools, and shows the model what came of them", async () => {
    const { run, asked } = createHost([calls("list_dir"), textReply("Two.")]);
    expect(await run()).toEqual({ status: "done", text: "Two." });
    expect(asked.tool).toMatchObject([{ name: "list_dir", arguments: '{"path":"."}' }]);
    expect(asked.chat[1]?.messages.at(-1)).toMatchObject({ role: "tool", content: "two files" });
  });

  test("names calls by its own turn, so that no other turn has the same", async () => {
    const own = createHost([calls("list_dir"), textReply("a")]);
    const other = createHost([calls("list_dir"), textReply("b")]);
    await own.run();
    await other.run({ ...input, turn: "subagent:1" as InboundId });
    expect(own.asked.tool[0]?.id).not.toBe(other.asked.tool[0]?.id ?? "");
  });

  test("asks for a summary after the last round, and reports it", async () => {
    const { run, asked } = createHost([calls("list_dir"), calls("list_dir"), textReply("Half is done.")]);
    expect(await run({ ...input, maxRounds: 2 })).toEqual({ status: "done", text: "Half is done." });
    expect(asked.chat.at(-1)?.toolChoice).toBe("none");
  });

  test("says why the model failed, and what was done before", async () => {
    const failed: ChatReply = {
      ok: false,
      error: { kind: "quota", message: "The account is empty" },
      partial: "I had beg",
    };
    const { run } = createHost([calls("list_dir"), failed]);
    const { status, text } = await run();
    expect(status).toBe("failed");
    expect(text).toContain("The account is empty");
    expect(text).toContain('Before that it did: list_dir(".").');
    expect(text).not.toContain("I had beg");
  });

  test("sends less after the main thread said that less fits", async () => {
    const long = "words ".repeat(4_000);
    const { run, asked } = createHost([calls("list_dir"), calls("list_dir"), textReply("Done.")], {
      result: long,
      fitting: 2_000,
    });
    await run();
    const size = JSON.stringify(asked.chat.at(-1)?.messages).length;
    expect(size).toBeLessThan(20_000);
    expect(size).toBeGreaterThan(100);
  });

  test("tells the main thread that a prompt was too long, and tries with less", async () => {
    const tooLong: ChatReply = {
      ok: false,
      error: { kind: "contextOverflow", message: "too long" },
      partial: "",
    };
    const { run, asked } = createHost([calls("list_dir"), tooLong, textReply("Done.")], {
      result: "words ".repeat(2_000),
    });
    expect(await run()).toEqual({ status: "done", text: "Done." });
    expect(asked.refused).toHaveLength(1);
    const [, first, second] = asked.chat.map((request) => JSON.stringify(request).length);
    expect(second).toBeLessThan(first ?? 0);
  });
});
