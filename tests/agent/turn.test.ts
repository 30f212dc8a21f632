import { describe, expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import * as v from "valibot";
import { runTurn } from "../../src/agent/turn.ts";
import { Stopped } from "../../src/core/errors.ts";
import { defineTool, toolOk } from "../../src/core/tool.ts";
import { INTERRUPTED } from "../../src/lib/phrases.ts";
import { inboundMessage } from "../fakes/messages.ts";
import { createFixture } from "./fixture.ts";

const never = new AbortController().signal;

const echo = defineTool({
  name: "echo",
  description: "Echoes",
  parameters: v.strictObject({ text: v.string() }),
  execute: async ({ text }) => toolOk(`echo ${text}`),
});
const callEcho = { calls: [{ name: "echo", arguments: { text: "a" } }], content: "Let me look." };

describe("runTurn()", () => {
  test("stores the user's line with its context, and the answer, and publishes the answer", async () => {
    const fixture = createFixture({ script: ["hi there"] });
    expect(await runTurn(inboundMessage({ id: "cli:7" }), fixture.deps, never)).toBe("answered");
    expect(await fixture.stored()).toMatchObject([
      {
        role: "user",
        content: "hello",
        turn: "cli:7",
        inbound: "cli:7",
        runtime: expect.stringContaining("Current Time: 2026-11-30 09:00 (Monday, UTC)"),
      },
      { role: "assistant", content: "hi there", turn: "cli:7", timestamp: "2026-11-30T09:00:00.000Z" },
    ]);
    await fixture.until((shown) => shown.some(({ kind }) => kind === "final"));
    expect(fixture.finals()).toMatchObject([
      {
        id: "cli:7/final",
        outcome: "answer",
        content: "hi there",
        answers: ["cli:7"],
        metadata: { model: "test-model", usage: { input: 10, output: 5 } },
      },
    ]);
  });

  test("puts the runtime context in front of the user's text, and replays it word for word", async () => {
    const fixture = createFixture({ script: ["one", "two"] });
    await runTurn(inboundMessage({ id: "cli:1", content: "first" }), fixture.deps, never);
    fixture.clock.advance(3_600_000);
    await runTurn(inboundMessage({ id: "cli:2", content: "second" }), fixture.deps, never);
    const [before, after] = fixture.model.requests;
    expect(after?.messages.slice(0, 2)).toEqual(before?.messages.slice(0, 2) ?? []);
    expect(after?.messages.at(-1)?.content).toEndWith("[/Runtime Context]\n\nsecond");
  });

  test("sends requests each of which begins with the one before, byte for byte", async () => {
    const fixture = createFixture({
      script: [
        callEcho,
        "done",
        { calls: [{ name: "echo", arguments: { text: "b" } }, { name: "nope" }] },
        "again",
        "end",
      ],
      tools: [echo],
    });
    for (const id of ["1", "2", "3"])
      await runTurn(inboundMessage({ id, content: `ask ${id}` }), fixture.deps, never);
    const requests = fixture.model.requests.map(({ messages }) =>
      messages.map((message) => JSON.stringify(message)),
    );
    requests.slice(1).forEach((messages, index) => {
      const before = requests[index] ?? [];
      expect(messages.slice(0, before.length)).toEqual(before);
      expect(messages.length).toBeGreaterThan(before.length);
    });
    expect(requests).toHaveLength(5);
  });

  test("shows text as it comes, and hints, in the order they happen", async () => {
    const fixture = createFixture({ script: [callEcho, "done"], tools: [echo] });
    await runTurn(inboundMessage(), fixture.deps, never);
    await fixture.until((shown) => shown.some(({ kind }) => kind === "final"));
    expect(fixture.shown.map(({ kind, content }) => `${kind} ${content}`.trim())).toEqual([
      "delta Let me look.",
      "streamEnd",
      'toolHint echo("a")',
      "delta done",
      "streamEnd",
      "final done",
    ]);
  });

  test("shows an error and does not store it as an answer", async () => {
    const fixture = createFixture({
      script: [{ error: { kind: "auth", message: "The key was refused" }, partial: "ha" }],
    });
    expect(await runTurn(inboundMessage(), fixture.deps, never)).toBe("failed");
    expect((await fixture.stored()).map(({ role }) => role)).toEqual(["user"]);
    await fixture.until((shown) => shown.some(({ kind }) => kind === "final"));
    expect(fixture.finals()[0]).toMatchObject({
      outcome: "error",
      content: "I could not answer: The key was refused",
    });
  });

  test("does not add a message again that the session has", async () => {
    const fixture = createFixture({ script: ["one", "two"] });
    const message = inboundMessage({ id: "cli:1" });
    await runTurn(message, fixture.deps, never);
    await runTurn(message, fixture.deps, never);
    expect((await fixture.stored()).filter(({ role }) => role === "user")).toHaveLength(1);
  });

  test("closes the calls that an interrupted turn left open, without running them", async () => {
    let ran = 0;
    const tool = defineTool({ ...echo, execute: async () => toolOk(`run ${++ran}`) });
    const fixture = createFixture({ script: ["hello again"], tools: [tool] });
    const session = await fixture.sessions.open("cli:direct", { signal: never });
    const calls = ["a", "b"].map((id) => ({
      id,
      type: "function" as const,
      function: { name: "echo", arguments: '{"text":"x"}' },
    }));
    await session.append(
      [
        { role: "user", content: "do it" },
        { role: "assistant", content: "", tool_calls: calls },
        { role: "tool", tool_call_id: "a", name: "echo", content: "echo x" },
      ],
      { sync: false },
    );
    await session.close();
    await runTurn(inboundMessage(), fixture.deps, never);
    expect(ran).toBe(0);
    const sent = fixture.model.requests[0]?.messages.map(({ content }) => content).slice(1, 5);
    expect(sent?.slice(0, 4)).toEqual(["do it", "", "echo x", INTERRUPTED]);
    expect((await fixture.stored()).filter(({ content }) => content === INTERRUPTED)).toHaveLength(1);
  });

  test("keeps what was done when it is stopped, and leaves the answer to who stopped it", async () => {
    const abort = new AbortController();
    const tool = defineTool({
      ...echo,
      async execute() {
        abort.abort(new Stopped("user"));
        return toolOk("never seen");
      },
    });
    const fixture = createFixture({ script: [callEcho], tools: [tool] });
    expect(await runTurn(inboundMessage(), fixture.deps, abort.signal)).toBe("stopped");
    expect((await fixture.stored()).map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(fixture.finals()).toEqual([]);
    await fixture.end();
  });

  test("recovers a session that is damaged on disk", async () => {
    const fixture = createFixture({ script: ["fine"] });
    const path = await fixture.sessions.path("cli:direct");
    const session = await fixture.sessions.open("cli:direct", { signal: never });
    await session.append([{ role: "user", content: "before" }], { sync: false });
    await session.close();
    appendFileSync(path, `{"role":"tool","tool_call_id":"x","content":"orphan"}\n${"\0".repeat(100)}`);
    expect(await runTurn(inboundMessage(), fixture.deps, never)).toBe("answered");
    expect(fixture.model.requests[0]?.messages.map(({ role }) => role)).toEqual(["system", "user", "user"]);
  });

  test("tells the user when the session cannot be written", async () => {
    const fixture = createFixture({ script: ["fine"] });
    const failing = {
      ...fixture.deps,
      sessions: { ...fixture.sessions, open: () => Promise.reject(new Error("EACCES: permission denied")) },
    };
    expect(await runTurn(inboundMessage(), failing, never)).toBe("failed");
    await fixture.until((shown) => shown.length > 0);
    expect(fixture.finals()[0]).toMatchObject({
      outcome: "error",
      content: expect.stringContaining("EACCES"),
    });
  });

  test("says that it waits when another process has the session", async () => {
    const fixture = createFixture({ script: ["at last"] });
    const holder = await fixture.sessions.open("cli:direct", { signal: never });
    const turn = runTurn(inboundMessage(), fixture.deps, never);
    fixture.clock.advance(2_000);
    await fixture.until((shown) => shown.some(({ kind }) => kind === "progress"));
    await holder.close();
    expect(await turn).toBe("answered");
  });

  test("adds a note without asking a model", async () => {
    const fixture = createFixture();
    const note = inboundMessage({ kind: "note", content: "Reminder was sent" });
    expect(await runTurn(note, fixture.deps, never)).toBe("noted");
    expect(await fixture.stored()).toMatchObject([{ role: "assistant", content: "Reminder was sent" }]);
    expect(fixture.model.requests).toHaveLength(0);
  });

  test("sends no more of a long session than fits the context window", async () => {
    const replies = Array.from({ length: 60 }, () => "word ".repeat(100));
    const fixture = createFixture({ script: replies, contextWindowTokens: 5_000 });
    for (let turn = 0; turn < 60; turn++) {
      await runTurn(inboundMessage({ id: `cli:${turn}`, content: `ask ${turn}` }), fixture.deps, never);
    }
    const sizes = fixture.model.requests.map(({ messages }) => JSON.stringify(messages).length);
    expect(Math.max(...sizes)).toBeLessThan(5_000 * 6);
    const last = fixture.model.requests.at(-1)?.messages ?? [];
    expect(last[1]?.role).toBe("user");
    expect(last.at(-1)?.content).toEndWith("ask 59");
  });
});
