/** Lets the program work under mixed load without an end in sight, and watches what it takes. */

import { join } from "node:path";
import type { Violation } from "./check-answers.ts";
import { type CrashReport, finish, judge } from "./judge.ts";
import { formatHeader, formatSample, judgeSamples, type Sample, takeSample } from "./process-samples.ts";
import { startTraffic } from "./traffic.ts";
import { createWorld } from "./world.ts";

export interface SoakOptions {
  readonly command: readonly string[];
  readonly folder: string;
  readonly seed: number;
  readonly minutes: number;
  readonly rate: number;
  readonly chats: number;
  /** Told as it goes on. */
  say(line: string): void;
}

const START_MS = 30_000;
const PATIENCE_MS = 60_000;
const SAMPLE_MS = 10_000;
/** So many times what it was the memory may be. A short run is hardly warm when it ends. */
const LONG_GROWTH = 1.15;
const SHORT_GROWTH = 1.3;
const LONG_MINUTES = 10;
/** A short run is looked at more often. */
const FEWEST_SAMPLES = 40;

export async function runSoak(options: SoakOptions): Promise<CrashReport> {
  const { minutes, say } = options;
  const world = await createWorld({ ...options, mode: "rough", happened: () => {} });
  const violations: Violation[] = [];
  const wrong = (what: string) => violations.push({ kind: "process", what });
  const began = performance.now();
  const elapsed = () => performance.now() - began;
  const samples: Sample[] = [];
  const running = world.gateway.start();
  let isOver = false;
  void running.exited.then(() => {
    isOver = true;
  });
  try {
    if (!(await Promise.race([running.ready, Bun.sleep(START_MS).then(() => false)])))
      wrong("it did not become ready");
    world.journals.begin();
    const traffic = startTraffic({ ...options, mode: "rough", ledger: world.ledger, chats: world.chats });
    const interval = Math.min(SAMPLE_MS, (minutes * 60_000) / FEWEST_SAMPLES);
    say(formatHeader());
    while (!isOver && elapsed() < minutes * 60_000) {
      await Bun.sleep(interval);
      if (isOver) break;
      const sample = takeSample(running.pid, join(world.workspace, ".nanobot"), elapsed() / 1_000);
      samples.push(sample);
      say(formatSample(sample));
    }
    traffic.stop();
    await finish(world, running, wrong, PATIENCE_MS);
    for (const what of judgeSamples(samples, minutes < LONG_MINUTES ? SHORT_GROWTH : LONG_GROWTH))
      wrong(what);
    return judge(world, violations, 0, elapsed());
  } finally {
    running.kill();
    await world.close();
  }
}
