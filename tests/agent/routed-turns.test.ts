/** Turns that a source began of its own accord: who hears of them is found out when they are done. */

import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { runTurn } from "../../src/agent/turn.ts";
import { runUntilAnswered } from "../../src/agent/until-answered.ts";
import type { InboundMessage } from "../../src/core/messages.ts";
import type { BackgroundResult, Route, RouteTarget } from "../../src/core/schedule.ts";
import { defineTool, toolOk } from "../../src/core/tool.ts";
import { inboundMessage } from "../fakes/messages.ts";
import type { Scripted } from "../fakes/model.ts";
import { createFixture } from "./fixture.ts";

const never = new AbortController().signal;

const job = inboundMessage({
  id: "cron:a:1000",
  origin: "cron",
  senderId: "cron",
  channel: "none",
  chatId: "",
  sessionKey: "cron:a",
  content: "Water the plants?",
});

const echo = defineTool({
  name: "echo",
  description: "Echoes",
  parameters: v.strictObject({ text: v.string() }),
  execute: async ({ text }) => toolOk(`echo ${text}`),
});

function setUp(script: readonly Scripted[], target: RouteTarget | undefined) {
  const fixture = createFixture({ script, tools: [echo] });
  const asked: BackgroundResult[] = [];
  const route: Route = async (_, result) => {
    asked.push(result);
    return target;
  };
  return { fixture, asked, deps: { ...fixture.deps, routes: { cron: route } } };
}

/** What came of a task that a turn of the job gave away. */
const ofTask = inboundMessage({
  ...job,
  id: "subagent:abc",
  origin: "subagent",
  content: "It has ended.",
  metadata: {},
  askedBy: { origin: "cron", metadata: { job: "a", deliver: true } },
});

const chat: RouteTarget = { channel: "telegram", chatId: "5", thread: "7" };

describe("runTurn() of a turn that nobody waits for", () => {
  test("shows nothing while it runs, and tells the chat that its route names", async () => {
    const script = [{ calls: [{ name: "echo", arguments: { text: "a" } }], content: "Let me look." }, "Yes."];
    const { fixture, asked, deps } = setUp(script, chat);
    expect(await runTurn(job, deps, never)).toBe("answered");
    await fixture.until((shown) => shown.some(({ kind }) => kind === "final"));
    expect(asked).toEqual([{ outcome: "answer", content: "Yes." }]);
    expect(fixture.shown).toMatchObject([
      { kind: "final", id: "cron:a:1000/final", ...chat, content: "Yes.", answers: ["cron:a:1000"] },
    ]);
    await fixture.end();
  });

  test("tells nobody when its route names nobody, and is answered", async () => {
    const { fixture, deps } = setUp(["Nothing new."], undefined);
    const published: string[] = [];
    const bus: typeof deps.bus = {
      ...deps.bus,
      publishOutbound(message, signal) {
        published.push(`${message.kind} to ${message.channel}`);
        return deps.bus.publishOutbound(message, signal);
      },
    };
    expect(await runTurn(job, { ...deps, bus }, never)).toBe("answered");
    expect(published).toEqual(["final to none"]);
    expect(await fixture.stored("cron:a")).toMatchObject([{ role: "user" }, { content: "Nothing new." }]);
    await fixture.end();
  });

  test("says what the route says in the place of its own words", async () => {
    const error = { kind: "transient", message: "no connection" } as const;
    const { fixture, asked, deps } = setUp([{ error }], { ...chat, content: "Reminder: water the plants" });
    expect(await runTurn(job, deps, never)).toBe("failed");
    await fixture.until((shown) => shown.some(({ kind }) => kind === "final"));
    expect(asked).toMatchObject([{ outcome: "error" }]);
    expect(fixture.finals()).toMatchObject([{ outcome: "error", content: "Reminder: water the plants" }]);
    await fixture.end();
  });

  test("ends without an answer when it is told to end while its route is asked", async () => {
    const { fixture, deps } = setUp(["Yes."], chat);
    const abort = new AbortController();
    const route: Route = async () => {
      abort.abort(new Error("shutdown"));
      return undefined;
    };
    expect(await runTurn(job, { ...deps, routes: { cron: route } }, abort.signal)).toBe("stopped");
    expect(fixture.finals()).toEqual([]);
    // The next process finds the answer in the session, and asks again.
    const again = { isRedelivered: true, resume: async () => 1, rejoin() {}, join: () => [] };
    expect(await runTurn(job, deps, never, again)).toBe("answered");
    await fixture.until((shown) => shown.some(({ kind }) => kind === "final"));
    expect(fixture.finals()).toMatchObject([{ ...chat, content: "Yes." }]);
    expect(fixture.model.requests).toHaveLength(1);
    await fixture.end();
  });

  test("begins with the newest messages of the turns before it, and keeps all of them", async () => {
    const script = Array.from({ length: 6 }, (_, run) => `answer ${run}`);
    const { fixture, deps } = setUp(script, undefined);
    for (let run = 0; run < 6; run++) {
      const message = { ...job, id: `cron:a:${run}` as typeof job.id, content: `run ${run}` };
      await runTurn(message, { ...deps, keptMessages: 2 }, never);
    }
    const last =
      fixture.model.requests
        .at(-1)
        ?.messages.map(({ content }) => content)
        .join("\n") ?? "";
    expect(last).toContain("run 4");
    expect(last).toContain("answer 4");
    expect(last).not.toContain("answer 3");
    expect(await fixture.stored("cron:a")).toHaveLength(12);
    await fixture.end();
  });

  test("begins with nothing of the turns before it where none is to be seen", async () => {
    const { fixture, deps } = setUp(["one", "two"], undefined);
    for (const run of [0, 1]) {
      await runTurn({ ...job, id: `cron:a:${run}` as typeof job.id }, { ...deps, keptMessages: 0 }, never);
    }
    expect(fixture.model.requests.at(-1)?.messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(await fixture.stored("cron:a")).toHaveLength(4);
    await fixture.end();
  });

  test("takes the way of the turn that asked, when it is about what came of a task", async () => {
    const script = [
      { calls: [{ name: "echo", arguments: { text: "a" } }], content: "Let me look." },
      "Done.",
    ];
    const { fixture, deps } = setUp(script, chat);
    const seen: InboundMessage[] = [];
    const route: Route = async (inbound) => {
      seen.push(inbound);
      return chat;
    };
    expect(await runTurn(ofTask, { ...deps, routes: { cron: route } }, never)).toBe("answered");
    await fixture.until((shown) => shown.some(({ kind }) => kind === "final"));
    expect(seen).toMatchObject([{ id: "subagent:abc", metadata: { job: "a", deliver: true } }]);
    expect(fixture.shown).toMatchObject([
      { kind: "final", id: "subagent:abc/final", ...chat, content: "Done.", answers: ["subagent:abc"] },
    ]);
    await fixture.end();
  });

  test("begins with all that went before, when it is about what came of a task", async () => {
    const { fixture, deps } = setUp(["one", "two", "three", "four"], undefined);
    for (const run of [0, 1, 2]) {
      await runTurn({ ...job, id: `cron:a:${run}` as typeof job.id }, { ...deps, keptMessages: 4 }, never);
    }
    await runTurn(ofTask, { ...deps, keptMessages: 1 }, never);
    const contents = fixture.model.requests.at(-1)?.messages.map(({ content }) => content) ?? [];
    expect(contents.slice(-4, -1)).toMatchObject(["two", expect.stringContaining("plants"), "three"]);
    await fixture.end();
  });

  test.each([
    [job, { origin: "cron", metadata: job.metadata }],
    [ofTask, ofTask.askedBy],
  ])("tells tools what it goes back to: %#", async (message, source) => {
    const sources: unknown[] = [];
    const { fixture, deps } = setUp([{ calls: [{ name: "echo", arguments: { text: "a" } }] }, "Yes."], chat);
    const toolbox: typeof deps.toolbox = {
      ...deps.toolbox,
      run(call, run) {
        sources.push(run.source);
        return deps.toolbox.run(call, run);
      },
    };
    await runTurn(message, { ...deps, toolbox }, never);
    expect(sources).toEqual([source]);
    await fixture.end();
  });
});

test("a turn whose route fails at first is told once that works again, and its model is asked once", async () => {
  const { fixture, deps } = setUp(["Yes."], chat);
  let attempts = 0;
  const route: Route = async () => {
    if (++attempts === 1) throw new Error("ENOSPC");
    return chat;
  };
  const delivery = { message: job, isRedelivered: false, resume: async () => 1, done: async () => {} };
  const port = { rejoin() {}, join: () => [] };
  const turn = runUntilAnswered(delivery, { ...deps, routes: { cron: route } }, never, port);
  while (attempts < 2) {
    await fixture.clock.giveWay();
    await fixture.clock.advance(5_000);
  }
  expect(await turn).toBe("answered");
  await fixture.until((shown) => shown.some(({ kind }) => kind === "final"));
  expect(fixture.finals()).toMatchObject([{ ...chat, content: "Yes." }]);
  expect(fixture.model.requests).toHaveLength(1);
  await fixture.end();
});
