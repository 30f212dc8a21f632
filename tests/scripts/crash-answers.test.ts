import { expect, test } from "bun:test";
import { checkAnswers } from "../../scripts/lib/crash/check-answers.ts";
import { createLedger, type Ledger } from "../../scripts/lib/crash/ledger.ts";
import {
  answerTo,
  askFor,
  findMarks,
  findRequests,
  LONG_LINES,
  type Request,
  type Task,
} from "../../scripts/lib/crash/marks.ts";
import { stopped } from "../../src/lib/phrases.ts";

const CHAT = "crash-1";
const request = (number: number, task: Task = "plain"): Request => ({ number, task });

function say(ledger: Ledger, number: number, task: Task = "plain", chat = CHAT): void {
  ledger.accept(ledger.say(chat, request(number, task)));
}

function stop(ledger: Ledger): void {
  ledger.accept(ledger.say(CHAT, undefined));
}

function answer(ledger: Ledger, ...numbers: readonly number[]): void {
  ledger.show(CHAT, numbers.map((number) => answerTo(request(number))).join("\n"));
}

function judge(ledger: Ledger, { idempotent = false } = {}) {
  const report = checkAnswers(ledger, () => idempotent);
  return { ...report, kinds: report.violations.map(({ kind }) => kind) };
}

test("findRequests() finds what askFor() asked, whatever stands around it", () => {
  const text = `An event:\n\`\`\`\n${askFor(request(17, "tools"))}\n\`\`\`\nand ${askFor(request(4))}.`;
  expect(findRequests(text)).toEqual([request(17, "tools"), request(4)]);
  expect(findRequests("q1 unheard-of, xq2 plain")).toEqual([]);
});

test("findMarks() finds every mark of an answer, in order", () => {
  expect(findMarks(answerTo(request(17)))).toEqual(["a17/1", "a17/2"]);
  const marks = findMarks(answerTo(request(5, "long")));
  expect(marks).toHaveLength(LONG_LINES);
  expect([marks[0], marks.at(-1)]).toEqual(["a5/1", `a5/${LONG_LINES}`]);
  expect(answerTo(request(5, "long")).length).toBeGreaterThanOrEqual(8_900);
});

test("checkAnswers() has nothing to say when each message has its answer", () => {
  const ledger = createLedger();
  for (const number of [1, 2, 3]) say(ledger, number);
  answer(ledger, 1);
  answer(ledger, 2, 3);
  expect(judge(ledger)).toMatchObject({ violations: [], answered: 3, stopped: 0, doubledByKills: 0 });
  expect(ledger.waitingCount()).toBe(0);
});

test("checkAnswers() finds a message that nobody answered", () => {
  const ledger = createLedger();
  say(ledger, 1);
  say(ledger, 2);
  answer(ledger, 2);
  expect(judge(ledger).violations).toEqual([
    { kind: "lost", what: "message 1 (plain) in crash-1: a1/1, a1/2 was not shown" },
  ]);
  expect(ledger.open().map((said) => said.request?.number)).toEqual([1]);
});

test("checkAnswers() finds a part that is missing from a long answer", () => {
  const ledger = createLedger();
  say(ledger, 1, "long");
  const lines = answerTo(request(1, "long")).split("\n");
  ledger.show(CHAT, lines.slice(0, 20).join("\n"));
  ledger.show(CHAT, lines.slice(21).join("\n"));
  expect(judge(ledger).violations).toEqual([
    { kind: "lost", what: "message 1 (long) in crash-1: a1/21 was not shown" },
  ]);
});

test("checkAnswers() finds a message that was never accepted", () => {
  const ledger = createLedger();
  ledger.say(CHAT, request(1));
  answer(ledger, 1);
  expect(judge(ledger).kinds).toEqual(["not accepted"]);
});

test("checkAnswers() finds answers and parts that are out of order", () => {
  const ledger = createLedger();
  say(ledger, 1);
  say(ledger, 2);
  answer(ledger, 2);
  answer(ledger, 1);
  expect(judge(ledger).kinds).toEqual(["out of order"]);

  const parts = createLedger();
  say(parts, 1, "long");
  const lines = answerTo(request(1, "long")).split("\n");
  parts.show(CHAT, lines.slice(30).join("\n"));
  parts.show(CHAT, lines.slice(0, 30).join("\n"));
  expect(judge(parts).kinds).toEqual(["out of order"]);
});

test("checkAnswers() asks for no order between chats", () => {
  const ledger = createLedger();
  say(ledger, 1);
  say(ledger, 2, "plain", "crash-2");
  ledger.show("crash-2", answerTo(request(2)));
  answer(ledger, 1);
  expect(judge(ledger).violations).toEqual([]);
});

test("checkAnswers() finds an answer that came twice", () => {
  const ledger = createLedger();
  say(ledger, 1);
  answer(ledger, 1);
  answer(ledger, 1);
  expect(judge(ledger).kinds).toEqual(["doubled"]);
});

test("checkAnswers() excuses one part of a chat by each kill between the two, where the platform takes no key", () => {
  const ledger = createLedger();
  for (const number of [1, 2]) say(ledger, number);
  answer(ledger, 1);
  answer(ledger, 2);
  ledger.kill(performance.now());
  answer(ledger, 2);
  expect(judge(ledger)).toMatchObject({ violations: [], doubledByKills: 1 });
  expect(judge(ledger, { idempotent: true }).kinds).toEqual(["doubled"]);
  answer(ledger, 1);
  expect(judge(ledger)).toMatchObject({ kinds: ["doubled"], doubledByKills: 1 });
});

test("checkAnswers() does not excuse what was doubled before, or after, a kill", () => {
  const before = createLedger();
  before.kill(performance.now());
  say(before, 1);
  answer(before, 1);
  answer(before, 1);
  before.kill(performance.now());
  expect(judge(before).kinds).toEqual(["doubled"]);
});

test("checkAnswers() does not excuse what was shown long before the kill, and must have been recorded", () => {
  const ledger = createLedger();
  say(ledger, 1);
  answer(ledger, 1);
  ledger.kill(performance.now() + 60_000);
  answer(ledger, 1);
  expect(judge(ledger).kinds).toEqual(["doubled"]);
});

test("checkAnswers() finds the beginning of an answer that was left standing, but for a kill or a /stop", () => {
  const ledger = createLedger();
  say(ledger, 12);
  ledger.show(CHAT, "a1");
  answer(ledger, 12);
  expect(judge(ledger).violations).toEqual([{ kind: "doubled", what: '"a1", and no more, in crash-1' }]);

  const killed = createLedger();
  say(killed, 12);
  killed.show(CHAT, "a1");
  killed.kill(performance.now());
  answer(killed, 12);
  expect(judge(killed)).toMatchObject({ violations: [], doubledByKills: 1 });

  const halted = createLedger();
  say(halted, 12);
  halted.show(CHAT, "a1");
  stop(halted);
  halted.show(CHAT, stopped(1));
  expect(judge(halted).violations).toEqual([]);
});

test("checkAnswers() sees a message as it is after its changes", () => {
  const ledger = createLedger();
  say(ledger, 1);
  const shown = ledger.show(CHAT, "a");
  ledger.change(shown, answerTo(request(1)));
  expect(judge(ledger)).toMatchObject({ violations: [], answered: 1 });
});

test("checkAnswers() finds answers in chats that did not ask, and answers to nobody", () => {
  const ledger = createLedger();
  say(ledger, 1);
  say(ledger, 2, "plain", "crash-2");
  answer(ledger, 1, 2);
  ledger.show("crash-2", answerTo(request(2)));
  answer(ledger, 9);
  expect(judge(ledger).violations).toEqual([
    { kind: "wrong chat", what: "a2/1 in crash-1 is for crash-2" },
    { kind: "wrong chat", what: "a2/2 in crash-1 is for crash-2" },
    { kind: "wrong chat", what: "a9/1 in crash-1, and nobody asked" },
    { kind: "wrong chat", what: "a9/2 in crash-1, and nobody asked" },
  ]);
});

test("checkAnswers() takes a /stop for the answer to what was not answered before it", () => {
  const ledger = createLedger();
  say(ledger, 1);
  answer(ledger, 1);
  for (const number of [2, 3]) say(ledger, number);
  stop(ledger);
  ledger.show(CHAT, stopped(2));
  say(ledger, 4);
  answer(ledger, 4);
  expect(judge(ledger)).toMatchObject({ violations: [], answered: 2, stopped: 2 });
});

test("checkAnswers() takes an answer that a /stop cut off for stopped, and lets it be given again", () => {
  const ledger = createLedger();
  for (const number of [1, 2]) say(ledger, number);
  const half = answerTo(request(2)).slice(0, 10);
  ledger.show(CHAT, `${answerTo(request(1))}\n${half}`);
  stop(ledger);
  ledger.show(CHAT, stopped(2));
  say(ledger, 3);
  answer(ledger, 1, 2, 3);
  expect(judge(ledger)).toMatchObject({ violations: [], answered: 3 });
});

test("checkAnswers() finds what was lost although a /stop came, before an answer or after the /stop", () => {
  const ledger = createLedger();
  for (const number of [1, 2]) say(ledger, number);
  answer(ledger, 2);
  stop(ledger);
  ledger.show(CHAT, stopped(0));
  say(ledger, 3);
  expect(judge(ledger).violations.map(({ what }) => what)).toEqual([
    "message 1 (plain) in crash-1: a1/1, a1/2 was not shown",
    "message 3 (plain) in crash-1: a3/1, a3/2 was not shown",
  ]);
});

test("checkAnswers() finds a /stop without a reply", () => {
  const ledger = createLedger();
  stop(ledger);
  expect(judge(ledger).violations).toEqual([{ kind: "lost", what: "1 of 1 replies to /stop in crash-1" }]);
});

test("checkAnswers() finds what another chat was not told", () => {
  const ledger = createLedger();
  say(ledger, 1, "forward");
  answer(ledger, 1);
  ledger.forward(1);
  expect(judge(ledger).kinds).toEqual(["lost"]);
  say(ledger, 2, "plain", "crash-2");
  ledger.show("crash-2", `${answerTo(request(2))}\nx1; is for you.`);
  expect(judge(ledger).violations).toEqual([]);
});

test("checkAnswers() expects no answer that was a call which was cut off", () => {
  const ledger = createLedger();
  say(ledger, 1, "message");
  ledger.excuse(1);
  expect(judge(ledger).violations).toEqual([]);
  expect(ledger.waitingCount()).toBe(0);
});

test("waitingCount() leaves out what a reply to /stop may have called off, and nothing later", () => {
  const ledger = createLedger();
  say(ledger, 1);
  stop(ledger);
  expect(ledger.waitingCount()).toBe(1);
  ledger.show(CHAT, stopped(1));
  say(ledger, 2);
  say(ledger, 3, "plain", "crash-2");
  expect(ledger.waitingCount()).toBe(2);
  answer(ledger, 2);
  expect(ledger.waitingCount()).toBe(1);
  expect(ledger.open()).toHaveLength(2);
});
