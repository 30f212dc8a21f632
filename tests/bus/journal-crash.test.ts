/** The journal when its process is killed or the power fails: at every operation, and within every write. */

import { expect, test } from "bun:test";
import fc from "fast-check";
import { createFakeDisk, type FakeDisk } from "./fake-disk.ts";
import { createMemory, expectKept, type Memory, openGateway, type Step, settle } from "./gateway.ts";
import { anyStep, day } from "./steps.ts";

/** Small enough to be made smaller all the time. */
const COMPACT_AT = 400;

/** What a gateway does from its start until the disk stops at operation `stopAt`, after `bytes` of that. */
interface Life {
  readonly steps: readonly Step[];
  readonly stopAt: number;
  /** Below zero counts from the end. */
  readonly bytes: number;
  /** Each step waits for the one before. */
  readonly rests?: boolean;
}

const anyLife: fc.Arbitrary<Life> = fc.record({
  steps: fc.array(anyStep, { minLength: 10, maxLength: 120 }),
  stopAt: fc.nat(250),
  bytes: fc.oneof(fc.nat(700), fc.constantFrom(-1, -2)),
  rests: fc.boolean(),
});

async function live(
  disk: FakeDisk,
  memory: Memory,
  { steps, stopAt, bytes, rests = true }: Life,
): Promise<void> {
  disk.onOperation = (operation, number) => {
    if (number !== stopAt) return undefined;
    return { kind: "stop", bytes: bytes < 0 ? Math.max(0, operation.bytes + bytes) : bytes };
  };
  const work = async () => {
    const gateway = await openGateway(disk, memory, COMPACT_AT);
    for (const step of steps) {
      gateway.step(step);
      if (rests) await settle(gateway.clock);
    }
    await settle(gateway.clock);
    await gateway.ended();
    await gateway.bus.close();
  };
  await Promise.race([work(), disk.stopped]);
}

async function liveOnce(life: Life): Promise<{ disk: FakeDisk; memory: Memory }> {
  const disk = createFakeDisk();
  const memory = createMemory();
  await live(disk, memory, life);
  return { disk, memory };
}

/** Thousands of lives on a busy machine. */
const PATIENCE_MS = 60_000;
const ALL = Number.MAX_SAFE_INTEGER;
const undisturbed = { steps: day, stopAt: ALL, bytes: 0 };

test(
  "createJournalBus() keeps its promises when it is killed at any operation and within any write",
  async () => {
    const whole = await liveOnce(undisturbed);
    expect(whole.memory.put.told.size).toBe(14);
    await expectKept(whole.disk.afterKill(), whole.memory, "kill");
    for (let stopAt = 0; stopAt < whole.disk.operations; stopAt++) {
      for (const bytes of [0, 1, -1, ALL]) {
        const { disk, memory } = await liveOnce({ steps: day, stopAt, bytes });
        await expectKept(disk.afterKill(), memory, "kill");
      }
    }
  },
  PATIENCE_MS,
);

test(
  "createJournalBus() keeps its promises when the power fails at any operation",
  async () => {
    const { disk: whole } = await liveOnce(undisturbed);
    for (let stopAt = 0; stopAt < whole.operations; stopAt++) {
      for (const bytes of [0, ALL]) {
        const { disk, memory } = await liveOnce({ steps: day, stopAt, bytes });
        for (const kept of [0, 25, 400]) {
          await expectKept(disk.afterPowerCut(kept, false), memory, "power cut");
          await expectKept(disk.afterPowerCut(kept, true), memory, "power cut");
        }
      }
    }
  },
  PATIENCE_MS,
);

test(
  "createJournalBus() keeps its promises over many lives, whatever happens in each",
  async () => {
    const lives = fc.array(anyLife, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(lives, async (lives) => {
        let disk = createFakeDisk();
        const memory = createMemory();
        for (const life of lives) {
          await live(disk, memory, life);
          disk = disk.afterKill();
          await expectKept(disk.afterKill(), memory, "kill");
        }
      }),
      { numRuns: 150 },
    );
  },
  PATIENCE_MS,
);

test(
  "createJournalBus() keeps its promises when the power fails, whatever happened before",
  async () => {
    await fc.assert(
      fc.asyncProperty(anyLife, fc.nat(300), fc.boolean(), async (life, kept, hasNuls) => {
        const { disk, memory } = await liveOnce(life);
        await expectKept(disk.afterPowerCut(kept, hasNuls), memory, "power cut");
      }),
      { numRuns: 300 },
    );
  },
  PATIENCE_MS,
);
