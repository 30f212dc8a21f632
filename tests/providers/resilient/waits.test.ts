import { describe, expect, test } from "bun:test";
import { Stopped } from "../../../src/core/errors.ts";
import { type Candidate, createResilient } from "../../../src/providers/resilient/resilient.ts";
import { createStanding } from "../../../src/providers/resilient/standing.ts";
import { createFakeClock } from "../../fakes/clock.ts";
import type { Scripted } from "../../fakes/model.ts";
import { deaf, failure, type Outcome, setup, trace } from "./setup.ts";

const down = failure("transient", { message: "the server is down" });
const times = (count: number, reply: Scripted): Scripted[] => Array<Scripted>(count).fill(reply);
const errorOf = ({ reply }: Outcome) => (reply.ok ? undefined : reply.error);

describe("createResilient() waits", () => {
  test("for nothing when the answer comes at once, and says who gave it", async () => {
    const { ask, asked } = setup([["hello there"]]);
    const { reply, text, tookMs, notices } = await ask();
    expect(reply).toMatchObject({ ok: true, content: "hello there", model: "p0/m0" });
    expect(text).toBe("hello there");
    expect([tookMs, notices.length, trace(asked)]).toEqual([0, 0, "m0@0"]);
  });

  test("1, 2 and 4 seconds, and then gives up with what went wrong", async () => {
    const { ask, asked } = setup([times(9, down)]);
    const outcome = await ask();
    expect(trace(asked)).toBe("m0@0 m0@1000 m0@3000 m0@7000");
    expect(outcome.tookMs).toBe(7_000);
    expect(errorOf(outcome)).toEqual({ kind: "transient", message: "the server is down" });
  });

  test("a quarter less to a quarter more, by chance", async () => {
    const least = setup([times(9, down)], { random: () => 0 });
    await least.ask();
    expect(trace(least.asked)).toBe("m0@0 m0@750 m0@2250 m0@5250");
    const most = setup([times(9, down)], { random: () => 0.9999 });
    expect((await most.ask()).tookMs).toBeGreaterThan(8_749);
    expect((await setup([times(9, down)], { random: () => 0.9999 }).ask()).tookMs).toBeLessThan(8_750);
  });

  test("as long as the server asks for, up to a minute", async () => {
    const { ask, asked } = setup([times(9, failure("transient", { retryAfterMs: 20_000 }))]);
    await ask();
    expect(trace(asked)).toBe("m0@0 m0@20000 m0@40000 m0@60000");
    const minute = setup([[failure("transient", { retryAfterMs: 60_000 }), "hi"]]);
    expect((await minute.ask()).tookMs).toBe(60_000);
  });

  test("no shorter than without a word of the server's", async () => {
    const { ask, asked } = setup([times(9, failure("transient", { retryAfterMs: 5 }))]);
    await ask();
    expect(trace(asked)).toBe("m0@0 m0@1000 m0@3000 m0@7000");
  });

  test("for no server that asks for more than a minute, and hands on for how long", async () => {
    const slow = failure("transient", { retryAfterMs: 60_001 });
    const alone = setup([times(9, slow)]);
    const outcome = await alone.ask();
    expect(trace(alone.asked)).toBe("m0@0");
    expect(errorOf(outcome)?.retryAfterMs).toBe(60_001);
    const second = setup([times(9, slow), ["from the other"]]);
    expect(await second.ask()).toMatchObject({ tookMs: 0, text: "from the other" });
  });

  test("and says so when the wait is worth a word", async () => {
    const { ask } = setup([[down, down, failure("transient", { message: "busy" }), "hi"]]);
    const { notices } = await ask();
    expect(notices).toEqual([{ kind: "waiting", text: "busy; trying again in 4 s" }]);
  });

  test("in the persistent mode ever longer, at most a minute, until the deadline", async () => {
    let count = 0;
    const changing: Scripted = async () => ({
      ok: false,
      error: { kind: "transient", message: `failure ${++count}` },
      partial: "",
    });
    const { ask, asked } = setup([times(99, changing)], { retryMode: "persistent", random: () => 0.9999 });
    const { tookMs } = await ask();
    const waits = asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? 0));
    expect(Math.max(...waits)).toBe(60_000);
    expect(tookMs).toBeLessThanOrEqual(900_000);
    expect(tookMs).toBeGreaterThan(800_000);
  });

  test("in the persistent mode no more when the same thing went wrong ten times", async () => {
    const { ask, asked } = setup([times(99, down)], { retryMode: "persistent" });
    expect(errorOf(await ask())?.message).toBe("the server is down");
    expect(asked).toHaveLength(10);
  });
});

describe("createResilient() ends", () => {
  test("at the deadline when a model ignores its signal, with what was shown", async () => {
    let say = (_: string) => {};
    const { ask } = setup([[deaf("so far", (more) => (say = more))]], { deadlineMs: 10_000 });
    const outcome = await ask();
    say(" and too late");
    expect(outcome.tookMs).toBe(10_000);
    expect(outcome.reply).toEqual({
      ok: false,
      error: { kind: "transient", message: "No answer came within 10 seconds" },
      partial: "so far",
    });
    expect(outcome.text).toBe("so far");
  });

  test("at the deadline with what had gone wrong before", async () => {
    const { ask } = setup([[down, { hang: true }]], { deadlineMs: 10_000 });
    expect(errorOf(await ask())?.message).toBe("No answer came within 10 seconds: the server is down");
  });

  test("at the deadline when a model cannot even be opened", async () => {
    const clock = createFakeClock();
    const hanging: Candidate = {
      provider: "p",
      name: "m",
      open: () => new Promise(() => {}),
      standing: createStanding(clock),
    };
    const resilient = createResilient({
      candidates: [hanging],
      retryMode: "standard",
      deadlineMs: 600_000,
      clock,
      random: () => 0.5,
      onCall: () => {},
    });
    const request = { model: "m", messages: [], tools: [], toolChoice: "auto", maxTokens: 1 } as const;
    const running = resilient.chat(request, { signal: new AbortController().signal, onDelta: () => {} });
    await clock.advance(600_000);
    expect(await running).toMatchObject({ error: { message: "No answer came within 10 minutes" } });
  });

  test("before the deadline when a wait would not", async () => {
    const { ask, asked } = setup([times(9, failure("transient", { retryAfterMs: 30_000 }))], {
      deadlineMs: 50_000,
    });
    expect((await ask()).tookMs).toBe(30_000);
    expect(trace(asked)).toBe("m0@0 m0@30000");
  });

  test("at once when the caller stops it while it waits", async () => {
    const abort = new AbortController();
    const { begin, clock, asked } = setup([times(9, down)]);
    const running = begin({ signal: abort.signal });
    await clock.advance(0);
    await clock.advance(1_500);
    abort.abort(new Stopped("user"));
    expect(await running).toMatchObject({ reply: { ok: false, error: { kind: "aborted" } }, tookMs: 1_500 });
    await clock.advance(60_000);
    expect(trace(asked)).toBe("m0@0 m0@1000");
    expect(clock.pending).toBe(0);
  });

  test("at once when the caller stops it while a model talks that ignores its signal", async () => {
    const abort = new AbortController();
    let say = (_: string) => {};
    const { begin, end, clock, models } = setup([[deaf("so far", (more) => (say = more))], ["never asked"]]);
    const running = begin({ signal: abort.signal });
    await clock.advance(0);
    abort.abort(new Stopped("user"));
    say(" and too late");
    expect(await end(running)).toMatchObject({
      reply: { ok: false, error: { kind: "aborted" }, partial: "so far" },
      text: "so far",
      tookMs: 0,
    });
    expect(models[1]?.requests).toHaveLength(0);
  });

  test("before it began when it was stopped before", async () => {
    const { ask, asked, calls, clock } = setup([["never asked"]]);
    const outcome = await ask({ signal: AbortSignal.abort(new Stopped("user")) });
    expect(errorOf(outcome)?.kind).toBe("aborted");
    expect([asked.length, calls.length, clock.pending]).toEqual([0, 0, 0]);
  });

  test("with a failure when a model throws, although it must not", async () => {
    const throwing: Scripted = () => Promise.reject(new Error("Cannot find package"));
    const outcome = await setup([[throwing]]).ask();
    expect(errorOf(outcome)).toEqual({
      kind: "badRequest",
      message: "p0/m0 cannot be used: Cannot find package",
    });
  });
});
