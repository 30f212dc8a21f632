import { expect, test } from "bun:test";
import { createApprovals } from "../../src/access/approvals.ts";
import type { ApprovalAnswer, ApprovalQuestion, AskOwner } from "../../src/core/approval.ts";
import { Stopped } from "../../src/core/errors.ts";
import { never } from "../../src/lib/abort.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { testRun } from "../fakes/toolbox.ts";

const yes: ApprovalAnswer = { granted: true, by: "me" };

function question(id: string): ApprovalQuestion {
  return { id, tool: "exec", what: `run ${id}`, reason: "it deletes", run: testRun() };
}

/** Approvals whose questions wait to be answered by the test. */
function setUp(expiresMs?: number) {
  const clock = createFakeClock();
  const log = createFakeLog();
  const put: { id: string; answer: (answer: ApprovalAnswer) => void; signal: AbortSignal }[] = [];
  const asker: AskOwner = ({ id }, signal) => {
    const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>();
    put.push({ id, answer: resolve, signal });
    return promise;
  };
  const ask = createApprovals({
    clock,
    log,
    asker: () => asker,
    ...(expiresMs === undefined ? {} : { expiresMs }),
  });
  return { clock, log, put, ask };
}

test("createApprovals() passes a question on and its answer back", async () => {
  const { ask, put, clock } = setUp();
  const asking = ask(question("a"), never);
  await clock.advance(0);
  expect(put.map(({ id }) => id)).toEqual(["a"]);
  put[0]?.answer(yes);
  expect(await asking).toEqual(yes);
  expect(clock.pending).toBe(0);
});

test("createApprovals() says that there is nobody to ask", async () => {
  const ask = createApprovals({ clock: createFakeClock(), log: createFakeLog(), asker: () => undefined });
  expect(await ask(question("a"), never)).toEqual({ granted: false, why: "nobody" });
});

test("createApprovals() looks for somebody to ask anew each time", async () => {
  let asker: AskOwner | undefined;
  const ask = createApprovals({ clock: createFakeClock(), log: createFakeLog(), asker: () => asker });
  expect((await ask(question("a"), never)).granted).toBe(false);
  asker = async () => yes;
  expect((await ask(question("b"), never)).granted).toBe(true);
});

test("createApprovals() gives up a question that is not answered in time, and takes no answer after", async () => {
  const { ask, put, clock } = setUp();
  const asking = ask(question("a"), never);
  await clock.advance(0);
  await clock.advance(599_999);
  expect(put[0]?.signal.aborted).toBe(false);
  await clock.advance(1);
  expect(put[0]?.signal.aborted).toBe(true);
  put[0]?.answer(yes);
  expect(await asking).toEqual({ granted: false, why: "expired" });
});

test("createApprovals() puts one question at a time, and an answer is for the one that was put", async () => {
  const { ask, put, clock } = setUp(1_000);
  const first = ask(question("a"), never);
  const second = ask(question("b"), never);
  await clock.advance(0);
  expect(put.map(({ id }) => id)).toEqual(["a"]);
  await clock.advance(1_000);
  expect(await first).toEqual({ granted: false, why: "expired" });
  expect(put.map(({ id }) => id)).toEqual(["a", "b"]);
  // Too late for the first, and nothing to the second.
  put[0]?.answer(yes);
  await clock.advance(500);
  put[1]?.answer({ granted: false, why: "denied", by: "me" });
  expect(await second).toEqual({ granted: false, why: "denied", by: "me" });
});

test("createApprovals() rejects with the reason of an abort and goes on with the next question", async () => {
  const { ask, put, clock } = setUp();
  const abort = new AbortController();
  const stopped = new Stopped("user");
  const first = ask(question("a"), abort.signal).catch((error: unknown) => error);
  const waiting = ask(question("b"), abort.signal).catch((error: unknown) => error);
  const third = ask(question("c"), never);
  await clock.advance(0);
  abort.abort(stopped);
  expect(await first).toBe(stopped);
  expect(await waiting).toBe(stopped);
  await clock.advance(0);
  expect(put.map(({ id }) => id)).toEqual(["a", "c"]);
  put[1]?.answer(yes);
  expect((await third).granted).toBe(true);
});

test("createApprovals() takes a question that could not be put for one that nobody saw", async () => {
  const log = createFakeLog();
  const asker: AskOwner = async () => {
    throw new Error("the terminal is gone");
  };
  const ask = createApprovals({ clock: createFakeClock(), log, asker: () => asker });
  expect(await ask(question("a"), never)).toEqual({ granted: false, why: "nobody" });
  expect(log.lines.join("\n")).toContain("the terminal is gone");
});
