import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Origin } from "../../src/core/messages.ts";
import type { ModelErrorKind } from "../../src/core/model.ts";
import { createBackgroundPause } from "../../src/schedule/background-pause.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function setUp({ tellOwner }: { tellOwner?: (text: string, id: string) => Promise<void> } = {}) {
  const clock = createFakeClock();
  const log = createFakeLog();
  const told: { text: string; id: string }[] = [];
  const pause = createBackgroundPause({
    clock,
    log,
    tellOwner: tellOwner ?? (async (text, id) => void told.push({ text, id })),
  });
  const fail = (error: ModelErrorKind = "quota", origin: Origin | undefined = "heartbeat") =>
    pause.observe({ origin, error });
  const succeed = (origin: Origin | undefined = "cron") => pause.observe({ origin, error: undefined });
  return { clock, log, told, pause, fail, succeed };
}

describe("createBackgroundPause()", () => {
  test("pauses nothing before anything failed", () => {
    const { pause, succeed } = setUp();
    expect(pause.leftMs()).toBe(0);
    succeed();
    expect(pause.leftMs()).toBe(0);
  });

  test.each(["cron", "heartbeat", "subagent", undefined] as const)(
    "pauses for 5 minutes after a call of origin %p found no money or no key",
    async (origin) => {
      for (const error of ["quota", "auth"] as const) {
        const { pause, clock } = setUp();
        pause.observe({ origin, error });
        expect(pause.leftMs()).toBe(5 * MINUTE);
        await clock.advance(MINUTE);
        expect(pause.leftMs()).toBe(4 * MINUTE);
        await clock.advance(4 * MINUTE);
        expect(pause.leftMs()).toBe(0);
      }
    },
  );

  test.each(["chat", "api"] as const)(
    "does not pause for a call of origin %p, which somebody hears of",
    (origin) => {
      const { pause, told, fail } = setUp();
      fail("quota", origin);
      expect(pause.leftMs()).toBe(0);
      expect(told).toEqual([]);
    },
  );

  test.each(["transient", "contextOverflow", "badRequest", "contentFilter", "aborted"] as const)(
    "does not pause for an error of kind %p",
    (kind) => {
      const { pause, fail } = setUp();
      fail(kind);
      expect(pause.leftMs()).toBe(0);
    },
  );

  test("doubles the pause up to 6 hours when it did not help", async () => {
    const { pause, clock, fail } = setUp();
    const lengths: number[] = [];
    for (let times = 0; times < 10; times++) {
      fail();
      lengths.push(pause.leftMs() / MINUTE);
      await clock.advance(pause.leftMs());
    }
    expect(lengths).toEqual([5, 10, 20, 40, 80, 160, 320, 360, 360, 360]);
  });

  test("is not made longer by errors of calls that were under way", async () => {
    const { pause, clock, fail } = setUp();
    fail();
    await clock.advance(MINUTE);
    for (let times = 0; times < 20; times++) fail("auth");
    expect(pause.leftMs()).toBe(4 * MINUTE);
  });

  test("ends, and begins short again, with a call that succeeds", async () => {
    const { pause, clock, fail, succeed } = setUp();
    fail();
    await clock.advance(5 * MINUTE);
    fail();
    expect(pause.leftMs()).toBe(10 * MINUTE);
    succeed();
    expect(pause.leftMs()).toBe(0);
    fail();
    expect(pause.leftMs()).toBe(5 * MINUTE);
  });

  test("is not ended by another error, nor by one of a chat", async () => {
    const { pause, fail } = setUp();
    fail();
    fail("transient");
    fail("quota", "chat");
    expect(pause.leftMs()).toBe(5 * MINUTE);
  });

  test("is cut short when a chat is answered, and goes on where it was when that was too early", async () => {
    const { pause, fail, succeed, told, clock } = setUp();
    fail();
    await clock.advance(5 * MINUTE);
    fail();
    expect(pause.leftMs()).toBe(10 * MINUTE);
    succeed("chat");
    expect(pause.leftMs()).toBe(0);
    fail();
    expect(pause.leftMs()).toBe(20 * MINUTE);
    await clock.advance(0);
    expect(told).toHaveLength(1);
  });

  test("tells the owner once in a series what happened and what to do", async () => {
    const { told, clock, pause, fail, succeed } = setUp();
    for (let times = 0; times < 5; times++) {
      fail();
      await clock.advance(pause.leftMs());
    }
    expect(told).toHaveLength(1);
    expect(told[0]?.text).toContain("add credit");
    expect(told[0]?.text).toContain("5 minutes");
    succeed();
    fail("auth");
    expect(told).toHaveLength(2);
    expect(told[1]?.text).toContain("check its key");
    expect(told[1]?.id).not.toBe(told[0]?.id);
  });

  test("tells under the same name when the program is started again and again", async () => {
    const ids = new Set<string>();
    for (let starts = 0; starts < 5; starts++) {
      const { told, fail } = setUp();
      fail();
      ids.add(told[0]?.id ?? "");
    }
    expect(ids.size).toBe(1);
  });

  test.each([
    ["rejects", () => Promise.reject(new Error("no bus"))],
    [
      "throws",
      () => {
        throw new Error("no bus");
      },
    ],
  ])("says in the log that nobody was told when telling %s", async (_, tellOwner) => {
    const { pause, clock, log, fail } = setUp({ tellOwner });
    fail();
    await clock.giveWay();
    expect(pause.leftMs()).toBe(5 * MINUTE);
    expect(log.lines.join("\n")).toContain("The owner was not told");
  });

  test("is at most 6 hours, and told of once a series, whatever calls come to", async () => {
    const call = fc.record({
      origin: fc.constantFrom("chat", "cron", "heartbeat", "subagent", "api", undefined),
      error: fc.constantFrom("quota", "auth", "transient", undefined),
      waitMs: fc.oneof(fc.nat({ max: 2 * MINUTE }), fc.nat({ max: 8 * HOUR })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 40 }), async (calls) => {
        const { pause, clock, told } = setUp();
        let series = 0;
        let isIn = false;
        for (const { origin, error, waitMs } of calls) {
          const before = pause.leftMs();
          pause.observe({ origin, error });
          const isBackground = origin !== "chat" && origin !== "api";
          if (isBackground && error === undefined) isIn = false;
          else if (isBackground && error !== "transient" && !isIn) {
            isIn = true;
            series++;
          }
          expect(pause.leftMs()).toBeLessThanOrEqual(6 * HOUR);
          const isCutShort = !isBackground && error === undefined;
          if (isIn && before > 0) expect(pause.leftMs()).toBe(isCutShort ? 0 : before);
          if (!isIn) expect(pause.leftMs()).toBe(0);
          await clock.advance(waitMs);
        }
        expect(told).toHaveLength(series);
      }),
      { numRuns: 50 },
    );
  });
});
