import { describe, expect, test } from "bun:test";
import { createThreadQuestions } from "../../src/lib/thread-questions.ts";
import { serveThread } from "../../src/lib/thread-service.ts";
import type { ReplyMessage } from "../../src/lib/worker-protocol.ts";
import { until } from "../fakes/until.ts";

const call = { id: "c", name: "exec", arguments: "{}" };

/** Both ends of the wire, in one thread. */
function connect(
  serve: Parameters<typeof serveThread<"subagent">>[0],
  clone: <T>(value: T) => T = structuredClone,
) {
  const questions = createThreadQuestions<"subagent">((message) => service.answer(structuredClone(message)));
  const send = (reply: ReplyMessage) => questions.answered(clone(reply));
  const service = serveThread<"subagent">(serve, send);
  return { ...questions, service };
}

const unasked = () => Promise.reject(new Error("it was not asked for"));

describe("serveThread()", () => {
  test("gives each question its own answer, in any order", async () => {
    const waiting: { text: string; resolve: () => void }[] = [];
    const { ask } = connect({
      chat: unasked,
      refused: unasked,
      tool: ({ name }) =>
        new Promise((resolve) =>
          waiting.push({ text: name, resolve: () => resolve({ ok: true, text: name }) }),
        ),
    });
    const first = ask("tool", { ...call, name: "a" });
    const second = ask("tool", { ...call, name: "b" });
    for (const { resolve } of waiting.toReversed()) resolve();
    expect(await first).toEqual({ ok: true, text: "a" });
    expect(await second).toEqual({ ok: true, text: "b" });
  });

  test("tells the thread what went wrong", async () => {
    const { ask } = connect({ chat: unasked, refused: unasked, tool: unasked });
    await expect(ask("tool", call)).rejects.toThrow("it was not asked for");
  });

  test("tells the thread when it serves nothing of the kind, inherited names included", async () => {
    const { ask } = connect({});
    await expect(ask("tool", call)).rejects.toThrow('nobody answers "tool"');
    await expect(ask("toString" as "tool", call)).rejects.toThrow('nobody answers "toString"');
  });

  test("tells the thread when the answer cannot be cloned", async () => {
    const text = (() => {}) as unknown as string;
    const { ask } = connect({ chat: unasked, refused: unasked, tool: async () => ({ ok: true, text }) });
    await expect(ask("tool", call)).rejects.toThrow();
  });

  test("aborts what is being done when the thread is gone, and waits for its end", async () => {
    const gone = new Error("gone");
    const seen: unknown[] = [];
    let settle = () => {};
    const { ask, service } = connect({
      chat: unasked,
      refused: unasked,
      tool: (_, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => seen.push(signal.reason));
          settle = () => resolve({ ok: false, text: "stopped" });
        }),
    });
    void ask("tool", call);
    let isOver = false;
    const ended = service.end(gone).then(() => {
      isOver = true;
    });
    await until(() => seen.length === 1);
    expect(seen).toEqual([gone]);
    expect(isOver).toBe(false);
    settle();
    await ended;
  });
});

test("answered() leaves an answer alone that nobody waits for", () => {
  const questions = createThreadQuestions<"subagent">(() => {});
  questions.answered({ type: "reply", id: 7, ok: true, value: 1 });
  questions.answered({ type: "reply", id: 8, ok: false, message: "no" });
});
