/** The end of a run: everything is answered, the program ends as it is asked to, and what came of all is judged. */

import { checkAnswers, type Violation } from "./check-answers.ts";
import { checkEffects, checkSessions } from "./check-sessions.ts";
import type { RunningGateway } from "./gateway.ts";
import type { World } from "./world.ts";

export interface CrashReport {
  readonly violations: readonly Violation[];
  readonly figures: readonly (readonly [string, number | string])[];
}

const DRAIN_MS = 40_000;
const POLL_MS = 10;

/** Until nothing is open any more; then SIGTERM. */
export async function finish(
  world: World,
  running: RunningGateway,
  wrong: (what: string) => void,
  patienceMs: number,
): Promise<void> {
  let code: number | undefined;
  void running.exited.then((value) => {
    code = value;
  });
  await untilQuiet(world, () => code !== undefined, patienceMs);
  if (code !== undefined) {
    wrong(`it ended by itself with ${code}: ${world.gateway.lastLines().slice(-3).join(" | ")}`);
    return;
  }
  running.terminate();
  const ended = await Promise.race([running.exited, Bun.sleep(DRAIN_MS).then(() => undefined)]);
  if (ended === undefined) {
    running.kill();
    await running.exited;
    wrong(`it did not end within ${DRAIN_MS / 1_000} s of SIGTERM`);
  } else if (ended !== 0) wrong(`it ended with ${ended} on SIGTERM`);
}

/** How long nothing may come behind the last answer: for what should not come. */
const QUIET_MS = 1_500;

async function untilQuiet(
  { ledger, chats }: Pick<World, "ledger" | "chats">,
  isOver: () => boolean,
  patienceMs: number,
): Promise<void> {
  const isIdempotent = (chat: string) => chats.find(({ name }) => name === chat)?.isIdempotent === true;
  let judgedAt = -1;
  while (!isOver()) {
    const silence = performance.now() - ledger.progressAt;
    if (silence > patienceMs) return;
    if (silence > QUIET_MS && judgedAt !== ledger.progressAt) {
      judgedAt = ledger.progressAt;
      // What was stopped stays open, so only the judgement says whether anything is missing.
      const { violations } = checkAnswers(ledger, isIdempotent);
      if (violations.every(({ kind }) => kind !== "lost" && kind !== "not accepted")) return;
    }
    await Bun.sleep(POLL_MS);
  }
}

export function judge(world: World, process: readonly Violation[], kills: number, ms: number): CrashReport {
  const { ledger, chats, webhooks, telegram, model, gateway, journals } = world;
  const idempotent = new Set(chats.filter(({ isIdempotent }) => isIdempotent).map(({ name }) => name));
  world.keep("ledger.json", JSON.stringify({ said: ledger.said, shown: ledger.shown, kills: ledger.kills }));
  const answers = checkAnswers(ledger, (chat) => idempotent.has(chat));
  const sessions = checkSessions(world.sessions());
  const effects = world.effects();
  const states = [...sessions.calls.values()];
  const violations = [
    ...process,
    ...answers.violations,
    ...sessions.violations,
    ...checkEffects(sessions.calls, effects),
    ...model.invalid.map(
      (why): Violation => ({ kind: "session", what: `a request no vendor takes: ${why}` }),
    ),
    ...[...webhooks.refusals, ...telegram.refusals].map((what): Violation => ({ kind: "process", what })),
    ...gateway.complaints.map((line): Violation => ({ kind: "process", what: `on stderr: ${line}` })),
  ];
  const of = (kind: Violation["kind"]) => violations.filter((violation) => violation.kind === kind).length;
  return {
    violations,
    figures: [
      ["kills", kills],
      ["seconds", Math.round(ms / 1_000)],
      ["messages", ledger.said.length],
      ["answered", answers.answered],
      ["stopped by /stop", answers.stopped],
      ["excused, their answer was a call that was cut off", ledger.excused.size],
      ["lost", of("lost") + of("not accepted")],
      ["doubled", of("doubled")],
      ["doubled by a kill, where the platform takes no key", answers.doubledByKills],
      ["sent again and dropped by key", webhooks.repeats],
      ["out of order", of("out of order")],
      ["in the wrong chat", of("wrong chat")],
      ["lines of sessions", sessions.lines],
      ["faults of sessions", of("session")],
      ["calls", states.length],
      ["calls cut off", states.filter((state) => state === "unknown").length],
      ["calls run twice", of("run twice")],
      ["journals made smaller", journals.replaced],
      ["half-written files left behind", journals.leftBehind()],
      ["requests to the model", model.requests],
      ["faults of the process", of("process")],
    ],
  };
}
