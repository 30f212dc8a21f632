import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createHourlyLimits, type HourlyLimitsOptions } from "../../src/lib/hourly-limits.ts";
import { createFakeClock } from "../fakes/clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function setUp(options: Partial<HourlyLimitsOptions> = {}) {
  const clock = createFakeClock();
  const exceeded: string[] = [];
  const limits = createHourlyLimits({
    clock,
    onExceeded: (what, sessionKey) => void exceeded.push(`${what} ${sessionKey}`),
    ...options,
  });
  const call = (times: number, session = "s") =>
    Array.from({ length: times }, () => limits.toolCall(session)).filter((refusal) => refusal !== undefined);
  return { clock, limits, exceeded, call };
}

describe("createHourlyLimits()", () => {
  test("lets 1,000 tool calls and 200 tasks pass in an hour, and none more", () => {
    const { limits, call, exceeded } = setUp();
    expect(call(1_000)).toEqual([]);
    expect(limits.toolCall("s")).toContain("1000 tool calls");
    for (let task = 0; task < 200; task++) expect(limits.task("s")).toBeUndefined();
    expect(limits.task("s")).toContain("200 tasks");
    expect(exceeded).toEqual(["toolCalls s"]);
  });

  test("says the limit, where it is set, and when there is room again", async () => {
    const { clock, limits } = setUp({ tasks: 2 });
    limits.task("s");
    await clock.advance(20 * MINUTE);
    limits.task("s");
    const refusal = limits.task("s");
    expect(refusal).toContain("begun 2 tasks");
    expect(refusal).toContain("limits.tasksPerHour");
    expect(refusal).toContain("in 41 minutes");
    await clock.advance(41 * MINUTE);
    expect(limits.task("s")).toBeUndefined();
    expect(limits.task("s")).toContain("in 20 minutes");
  });

  test("speaks of no hour with 61 minutes", async () => {
    const { clock, limits } = setUp({ tasks: 1, toolCalls: 1 });
    limits.task("s");
    limits.toolCall("s");
    expect(limits.task("s")).toContain("room again in a little more than an hour");
    expect(limits.toolCall("s")).toContain("room again in a little more than an hour");
    await clock.advance(MINUTE);
    expect(limits.task("s")).toContain("room again in 60 minutes");
  });

  test("counts each session by itself", () => {
    const { call } = setUp({ toolCalls: 3 });
    expect(call(3, "a")).toEqual([]);
    expect(call(3, "b")).toEqual([]);
    expect(call(1, "a")).toHaveLength(1);
  });

  test("does not count what was refused", async () => {
    const { clock, call } = setUp({ toolCalls: 2 });
    call(2);
    for (let minute = 0; minute < 61; minute++) {
      expect(call(1)).toHaveLength(1);
      await clock.advance(MINUTE);
    }
    expect(call(2)).toEqual([]);
  });

  test("tells of a session once an hour, be it of calls or of tasks", async () => {
    const { clock, limits, exceeded, call } = setUp({ toolCalls: 1, tasks: 1 });
    call(50);
    limits.task("s");
    limits.task("s");
    call(5, "other");
    expect(exceeded).toEqual(["toolCalls s", "toolCalls other"]);
    await clock.advance(59 * MINUTE);
    call(1);
    expect(exceeded).toHaveLength(2);
    await clock.advance(2 * MINUTE);
    call(2);
    expect(exceeded).toEqual(["toolCalls s", "toolCalls other", "toolCalls s"]);
  });

  test("does not heed the clock on the wall", async () => {
    let elapsed = 0;
    const { call } = setUp({ toolCalls: 2, clock: { elapsed: () => elapsed } });
    expect(call(3)).toHaveLength(1);
    elapsed += HOUR + MINUTE;
    expect(call(2)).toEqual([]);
  });

  test("forgets the sessions that did nothing for longest, and keeps those that go on", () => {
    const { call } = setUp({ toolCalls: 1 });
    call(1, "first");
    call(1, "busy");
    for (let session = 0; session < 5_000; session++) {
      call(1, `s${session}`);
      call(1, "busy");
    }
    expect(call(1, "busy")).toHaveLength(1);
    expect(call(1, "first")).toEqual([]);
  });

  test("never lets more than the limit pass in any hour, nor stops anybody for longer than one and a minute", async () => {
    const waits = fc.array(fc.nat({ max: 20 * MINUTE }), { minLength: 1, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(waits, fc.integer({ min: 1, max: 6 }), async (pauses, most) => {
        const { clock, limits } = setUp({ toolCalls: most });
        const passed: number[] = [];
        for (const wait of pauses) {
          await clock.advance(wait);
          const now = clock.elapsed();
          const inHour = passed.filter((at) => at > now - HOUR).length;
          const inLonger = passed.filter((at) => at > now - HOUR - MINUTE).length;
          const refusal = limits.toolCall("s");
          if (refusal === undefined) passed.push(now);
          if (inHour >= most) expect(refusal).toBeDefined();
          if (inLonger < most) expect(refusal).toBeUndefined();
        }
      }),
      { numRuns: 50 },
    );
  });
});
