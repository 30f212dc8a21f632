/** Kills the program over and over while messages flow, lets it settle, and judges what came of them. */

import type { Violation } from "./check-answers.ts";
import type { RunningGateway } from "./gateway.ts";
import { type CrashReport, finish, judge } from "./judge.ts";
import { chooseMoment, createHappenings, describeMoment, type Moment } from "./moments.ts";
import { createRandom, type Random } from "./random.ts";
import { type Mode, startTraffic } from "./traffic.ts";
import { createWorld, type World } from "./world.ts";

export interface CrashOptions {
  readonly command: readonly string[];
  readonly folder: string;
  readonly seed: number;
  readonly mode: Mode;
  readonly kills: number;
  readonly rate: number;
  readonly chats: number;
  readonly hasTelegram?: boolean;
  /** Told as it goes on. */
  say(line: string): void;
  /** How long nothing may happen before it is given up. */
  readonly patienceMs?: number;
  readonly choose?: (random: Random) => Moment;
}

const PATIENCE_MS = 60_000;
const START_MS = 30_000;
const MOMENT_MS = 2_000;
/** Every so many kills it may work until all that waited is answered: a turn that is killed five times in a row ends. */
const REST_EVERY = 3;
const STALLED_MS = 5_000;
const POLL_MS = 10;

export async function runCrashTest(options: CrashOptions): Promise<CrashReport> {
  const { seed, kills, say, patienceMs = PATIENCE_MS, choose = chooseMoment } = options;
  const happenings = createHappenings();
  const world = await createWorld({ ...options, happened: happenings.happened });
  const random = createRandom(seed, "kills");
  const violations: Violation[] = [];
  const wrong = (what: string) => violations.push({ kind: "process", what });
  const began = performance.now();

  /** Whether it ran until it was killed. */
  async function live(kill: number): Promise<boolean> {
    const moment = choose(random);
    const isRest = kill % REST_EVERY === REST_EVERY - 1;
    if (kill === Math.floor(kills / 2)) world.switchTelegram("webhook");
    if (kill === Math.floor((kills * 3) / 4)) world.switchTelegram("polling");
    const running = world.gateway.start();
    let killedAt: number | undefined;
    const end = () => {
      killedAt ??= performance.now();
      running.kill();
    };
    if (moment.kind === "early" && !isRest) await Bun.sleep(moment.afterMs);
    else {
      if (!(await becameReady(running))) return explain(running, `start ${kill} did not become ready`);
      world.journals.begin();
      if (isRest) await caughtUp(world, running, Math.min(patienceMs, STALLED_MS));
      await untilMoment(moment, end);
    }
    if (killedAt === undefined) {
      const code = await Promise.race([running.exited, Promise.resolve(undefined)]);
      if (code !== undefined) return explain(running, `start ${kill} ended by itself with ${code}`);
      end();
    }
    const code = await running.exited;
    world.ledger.kill(killedAt ?? performance.now());
    if (code !== 137) wrong(`start ${kill} ended with ${code}, to be killed ${describeMoment(moment)}`);
    if (kill % 10 === 9)
      say(`${kill + 1} kills, ${world.ledger.said.length} messages, ${world.ledger.waitingCount()} open`);
    return true;
  }

  function untilMoment(moment: Moment, kill: () => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => {
      kill();
      resolve();
    };
    if (moment.kind === "at") happenings.at(moment.happening, moment.times, end);
    // What is waited for may not come.
    const timer = setTimeout(end, moment.kind === "at" ? MOMENT_MS : moment.afterMs);
    return promise.finally(() => {
      clearTimeout(timer);
      happenings.forget();
    });
  }

  async function explain(running: RunningGateway, what: string): Promise<false> {
    wrong(`${what}: ${world.gateway.lastLines().slice(-3).join(" | ")}`);
    running.kill();
    await running.exited;
    return false;
  }

  async function settle(): Promise<void> {
    const running = world.gateway.start();
    if (!(await becameReady(running))) wrong("the last start did not become ready");
    await finish(world, running, wrong, patienceMs);
  }

  const traffic = startTraffic({ ...options, ledger: world.ledger, chats: world.chats });
  try {
    let kill = 0;
    while (kill < kills && (await live(kill))) kill += 1;
    traffic.stop();
    if (violations.length === 0) await settle();
    return judge(world, violations, kill, performance.now() - began);
  } finally {
    traffic.stop();
    await world.close();
  }
}

function becameReady(running: RunningGateway): Promise<boolean> {
  return Promise.race([running.ready, Bun.sleep(START_MS).then(() => false)]);
}

/** Until every message that waits now is answered, or nothing more comes of it. */
async function caughtUp({ ledger }: World, running: RunningGateway, stalledMs: number): Promise<void> {
  let waiting = new Set(ledger.open());
  let progressAt = performance.now();
  let isOver = false;
  void running.exited.then(() => {
    isOver = true;
  });
  while (!isOver && waiting.size > 0 && performance.now() - progressAt < stalledMs) {
    await Bun.sleep(POLL_MS);
    const left = waiting.intersection(new Set(ledger.open()));
    if (left.size < waiting.size) progressAt = performance.now();
    waiting = left;
  }
}
