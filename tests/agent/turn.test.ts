import { describe, expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import * as v from "valibot";
import { runTurn } from "../../src/agent/turn.ts";
import { Stopped } from "../../src/core/errors.ts";
import type { Model } from "../../src/core/model.ts";
import { defineTool, toolOk } from "../../src/core/tool.ts";
import { INTERRUPTED } from "../../src/lib/tool-failure.ts";
import { createResilient } from "../../src/providers/resilient/resilient.ts";
import { createStanding } from "../../src/providers/resilient/standing.ts";
import type { FakeClock } from "../fakes/clock.ts";
import { inboundMessage } from "../fakes/messages.ts";
import { createFakeModel, type Scripted } from "../fakes/model.ts";
import { createFixture } from "./fixture.ts";

const never = new AbortController().signal;

const echo = defineTool({
  name: "echo",
  description: "Echoes",
  parameters: v.strictObject({ text: v.string() }),
  execute: async ({ text }) => toolOk(`echo ${text}`),
});
/** As the program wraps it, with a stand-in that always answers, if wanted. */
function resilient(model: Model, clock: FakeClock, standIn?: Model): Model {
  const candidate = (provider: string, one: Model) => {
    return { provider, name: "m", open: async () => one, standing: createStanding(clock) };
  };
  return createResilient({
    candidates: [candidate("main", model), ...(standIn ? [candidate("standIn", standIn)] : [])],
    retryMode: "standard",
    deadlineMs: 900_000,
    clock,
    random: () => 0.5,
    onCall: () => {},
  });
}

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
      content:
        "I could not answer: The key was refused; check its key (nanobot status shows where it comes from).",
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

  test("shows what the model thinks only where that is wanted, and never stores it as text", async () => {
    const thinking: Scripted = async (_, { onDelta }) => {
      onDelta({ kind: "reasoning", text: "Hm, let me see" });
      onDelta({ kind: "text", text: "42" });
      return { ok: true, content: "42", toolCalls: [], finishReason: "stop" };
    };
    for (const showReasoning of [false, true]) {
      const fixture = createFixture({ script: [thinking], showReasoning });
      await runTurn(inboundMessage(), fixture.deps, never);
      await fixture.until((shown) => shown.some(({ kind }) => kind === "final"));
      expect(fixture.shown.map(({ kind, content }) => `${kind} ${content}`.trim())).toEqual([
        ...(showReasoning ? ["reasoning Hm, let me see"] : []),
        "delta 42",
        "streamEnd",
        "final 42",
      ]);
      expect(JSON.stringify(await fixture.stored())).not.toContain("Hm");
    }
  });

  test("shows that it waits for a model that is busy, and answers when it is not any more", async () => {
    const busy = { error: { kind: "transient", message: "busy", retryAfterMs: 20_000 } } as const;
    const fixture = createFixture({ script: [busy, "at last"], wrap: resilient });
    const turn = runTurn(inboundMessage(), fixture.deps, never);
    await fixture.until((shown) => shown.some(({ kind }) => kind === "progress"));
    expect(fixture.shown[0]?.content).toBe("busy; trying again in 20 s");
    await fixture.clock.advance(20_000);
    expect(await turn).toBe("answered");
    expect((await fixture.stored()).map(({ content }) => content)).toEqual(["hello", "at last"]);
  });

  test("ends at once when it is stopped while it waits for a model", async () => {
    const busy = { error: { kind: "transient", message: "busy", retryAfterMs: 20_000 } } as const;
    const abort = new AbortController();
    const fixture = createFixture({ script: [{ ...busy, partial: "Well" }, "never asked"], wrap: resilient });
    const turn = runTurn(inboundMessage(), fixture.deps, abort.signal);
    await fixture.until((shown) => shown.some(({ kind }) => kind === "progress"));
    abort.abort(new Stopped("user"));
    expect(await turn).toBe("stopped");
    await fixture.clock.advance(60_000);
    expect(fixture.model.requests).toHaveLength(1);
    expect((await fixture.stored()).map(({ role }) => role)).toEqual(["user"]);
    expect(fixture.finals()).toEqual([]);
    await fixture.end();
  });

  test("tells of an empty account once, beside the answer, until there is credit again", async () => {
    const empty = { error: { kind: "quota", message: "no credit left" } } as const;
    const standIn = createFakeModel("one", "two", "three");
    const fixture = createFixture({
      script: [empty, empty, "credit again", empty],
      wrap: (model, clock) => resilient(model, clock, standIn),
    });
    for (const id of ["1", "2", "3", "4"]) await runTurn(inboundMessage({ id }), fixture.deps, never);
    await fixture.until((shown) => shown.filter(({ kind }) => kind === "final").length === 6);
    expect(fixture.finals().map(({ id, outcome, content }) => [id, outcome, content])).toEqual([
      ["1/notice/quota/1", "notice", "no credit left; until you add credit there, standIn/m answers."],
      ["1/final", "answer", "one"],
      ["2/final", "answer", "two"],
      ["3/final", "answer", "credit again"],
      ["4/notice/quota/1", "notice", "no credit left; until you add credit there, standIn/m answers."],
      ["4/final", "answer", "three"],
    ]);
    expect(fixture.finals()[0]?.answers).toEqual([]);
    expect((await fixture.stored()).map(({ content }) => content)).not.toContain("no credit left");
  });

  test.each(["transient", "auth", "quota", "contextOverflow", "badRequest", "contentFilter"] as const)(
    "never stores the error of a model (%s), and the next message is answered",
    async (kind) => {
      const error = { kind, message: "it went wrong" };
      const fixture = createFixture({ script: [{ error, partial: "half a" }, "fine"] });
      expect(await runTurn(inboundMessage({ id: "1" }), fixture.deps, never)).toBe("failed");
      expect(await runTurn(inboundMessage({ id: "2", content: "again" }), fixture.deps, never)).toBe(
        "answered",
      );
      const stored = await fixture.stored();
      expect(stored.map(({ role, content }) => `${role} ${content}`)).toEqual([
        "user hello",
        "user again",
        "assistant fine",
      ]);
      await fixture.until((shown) => shown.filter(({ kind }) => kind === "final").length === 2);
      expect(fixture.finals()[0]?.content).toMatch(/^I could not answer: it went wrong; .+\.$/);
    },
  );

  test("says when to come again where the server has said so", async () => {
    const error = { kind: "transient", message: "busy", retryAfterMs: 600_000 } as const;
    const fixture = createFixture({ script: [{ error }] });
    await runTurn(inboundMessage(), fixture.deps, never);
    await fixture.until((shown) => shown.length > 0);
    expect(fixture.finals()[0]?.content).toBe("I could not answer: busy; try again in 10 minutes.");
  });

  test("says who answered, in the message and in the session", async () => {
    const fixture = createFixture({
      script: [{ error: { kind: "auth", message: "refused" } }],
      wrap: (model, clock) => resilient(model, clock, createFakeModel("from the other")),
    });
    await runTurn(inboundMessage(), fixture.deps, never);
    await fixture.until((shown) => shown.some(({ kind }) => kind === "final"));
    expect(fixture.finals()[0]?.metadata).toMatchObject({ model: "standIn/m" });
    expect((await fixture.stored())[1]).toMatchObject({ model: "standIn/m" });
  });

  test("remembers a turn whose results were longer than the window, without the results", async () => {
    const long = defineTool({
      name: "long",
      description: "Says much",
      parameters: v.strictObject({ part: v.number() }),
      execute: async ({ part }) => toolOk(`${part} ${"long ".repeat(190)}`),
    });
    const parts = Array.from({ length: 30 }, (_, part): Scripted => {
      return { calls: [{ name: "long", arguments: { part } }] };
    });
    const script = [...parts, "All of it is read.", "Thirty."];
    const { deps, model, end } = createFixture({ script, tools: [long], contextWindowTokens: 4_000 });
    const patient = { ...deps, maxToolIterations: 40 };
    await runTurn(inboundMessage({ id: "cli:1", content: "Read it" }), patient, never);
    await runTurn(inboundMessage({ id: "cli:2", content: "How much?" }), patient, never);
    await end();
    const sent =
      model.requests
        .at(-1)
        ?.messages.map(({ content }) => content)
        .join("\n") ?? "";
    expect(sent).toContain("Read it");
    expect(sent).toContain("All of it is read.");
    expect(sent).toContain("left out to save room");
    expect(sent).toContain("How much?");
  });

  test("compacts what is sent and not what is stored, when the model finds it too long", async () => {
    const long = "word ".repeat(150);
    const script = [1, 2].map((): Scripted => ({ calls: [{ name: "echo", arguments: { text: long } }] }));
    const tooLong = { error: { kind: "contextOverflow", message: "too long" } } as const;
    const fixture = createFixture({ script: [...script, tooLong, "done"], tools: [echo] });
    expect(await runTurn(inboundMessage(), fixture.deps, never)).toBe("answered");
    expect(JSON.stringify(fixture.model.requests[3])).toContain("left out to save room");
    expect(JSON.stringify(await fixture.stored())).not.toContain("left out to save room");
  });
});
