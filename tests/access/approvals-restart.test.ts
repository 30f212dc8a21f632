import { describe, expect, test } from "bun:test";
import { Stopped } from "../../src/core/errors.ts";
import type { InboundId } from "../../src/core/messages.ts";
import type { ToolRun } from "../../src/core/tool-run.ts";
import { never } from "../../src/lib/abort.ts";
import { isOwnTurn } from "../../src/subagents/own-names.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { tempFolder } from "../fakes/temp.ts";
import { testRun } from "../fakes/toolbox.ts";
import { askInVain, byMe, createNotices, MINUTE, me, question, restart, setUp } from "./approvals-fixture.ts";
import { mortalFiles, writeState } from "./fixture.ts";

describe("after a kill", () => {
  test("a question that waits goes on, is not put again, and its time goes on", async () => {
    const first = await setUp();
    askInVain(first.approvals);
    await first.notices.reach(1);
    await first.clock.advance(4 * MINUTE);
    const next = await restart(first);
    expect(next.approvals.isWaiting("call_a_1_0")).toBe(true);
    const asking = next.approvals.ask(question(), never);
    await next.clock.advance(6 * MINUTE - 1);
    expect(next.approvals.isWaiting("call_a_1_0")).toBe(true);
    await next.clock.advance(1);
    expect(await asking).toEqual({ granted: false, why: "expired" });
    expect(first.notices.all.length).toBe(1);
  });

  test("a question of what is not taken up again has no answer any more, whoever else waits", async () => {
    const options = { isResumed: ({ turn }: ToolRun) => !isOwnTurn(turn) };
    const first = await setUp(options);
    const turns = ["subagent:b", "telegram:update:1"];
    askInVain(first.approvals, { id: "call_lost", run: testRun({ turn: "subagent:a/run" as InboundId }) });
    await first.notices.reach(1);
    for (const [at, turn] of turns.entries()) {
      askInVain(first.approvals, { id: `call_${at}`, run: testRun({ turn: turn as InboundId }) });
      await first.notices.reach(at + 2);
    }
    const codes = [0, 1, 2].map((at) => first.notices.codeOf(at));
    const next = await restart(first, options);
    const waiting = ["call_lost", "call_0", "call_1"].map((id) => next.approvals.isWaiting(id));
    expect(waiting).toEqual([false, true, true]);
    const answers = await Promise.all(codes.map((code) => next.approvals.answer(code, true, me)));
    expect(answers.map(({ status }) => status)).toEqual(["unknown", "answered", "answered"]);
    // It is asked anew by nobody, and is gone from the file with the first answer.
    expect((await restart(next)).approvals.isWaiting("call_lost")).toBe(false);
    expect(JSON.stringify(next.text())).not.toContain("call_lost");
  });

  test("a question that waits can be answered, before and after its call asks again", async () => {
    const first = await setUp();
    askInVain(first.approvals);
    askInVain(first.approvals, { id: "call_a_1_1", what: "other" });
    await first.notices.reach(2);
    const codeFor = (what: string) =>
      first.notices.codeOf(first.notices.all.findIndex(({ text }) => text.includes(what)));
    const next = await restart(first);
    expect(await next.approvals.answer(codeFor("other"), true, me)).toEqual({
      status: "answered",
      what: "other",
    });
    expect(next.approvals.isWaiting("call_a_1_1")).toBe(true);
    const asking = next.approvals.ask(question(), never);
    expect(await next.approvals.ask(question({ id: "call_a_1_1", what: "other" }), never)).toEqual({
      granted: true,
      by: byMe,
    });
    await next.approvals.answer(codeFor("rm -r build"), false, me);
    expect(await asking).toMatchObject({ why: "denied" });
    expect(first.notices.all.length).toBe(2);
  });

  test("a question that was kept and not put is put", async () => {
    const first = await setUp({ put: () => new Promise<void>(() => {}) });
    askInVain(first.approvals);
    await first.clock.whenPending(1);
    const notices = createNotices();
    const next = await restart(first, { notices });
    const asking = next.approvals.ask(question(), never);
    await notices.reach(1);
    await next.approvals.answer(notices.codeOf(0), true, me);
    expect((await asking).granted).toBe(true);
  });

  test.each([true, false])("an answer (%p) that no call has used is used, once", async (granted) => {
    const first = await setUp();
    askInVain(first.approvals);
    await first.notices.reach(1);
    // As it lies on disk between the answer and its use.
    const between = first
      .text()
      .replace('"waiting"', `"${granted ? "granted" : "denied"}",\n"by": "${byMe}"`);
    writeState(first.workspace, "approvals.json", between);
    // A clock of its own: that of the process that was killed would let its question end.
    const next = await restart({ ...first, clock: createFakeClock(first.clock.now() + 60 * MINUTE) });
    expect(next.approvals.isWaiting("call_a_1_0")).toBe(true);
    expect(await next.approvals.ask(question(), never)).toMatchObject({ granted, by: byMe });
    expect(next.approvals.isWaiting("call_a_1_0")).toBe(false);
    const last = await restart(next);
    expect(last.approvals.isWaiting("call_a_1_0")).toBe(false);
    askInVain(last.approvals);
    await first.notices.reach(2);
  });

  test("a question whose time is over is a no, and its call has not begun", async () => {
    const first = await setUp();
    askInVain(first.approvals);
    await first.notices.reach(1);
    await first.clock.whenPending(1);
    const later = createFakeClock(first.clock.now() + 11 * MINUTE);
    const next = await setUp({ workspace: first.workspace, notices: first.notices, clock: later });
    expect(next.approvals.isWaiting("call_a_1_0")).toBe(true);
    expect(await next.approvals.answer(first.notices.codeOf(0), true, me)).toEqual({ status: "unknown" });
    expect(await next.approvals.ask(question(), never)).toEqual({ granted: false, why: "expired" });
    expect(next.approvals.isWaiting("call_a_1_0")).toBe(false);
  });

  test("a question waits no longer than ever because the clock was set back", async () => {
    const first = await setUp();
    askInVain(first.approvals);
    await first.notices.reach(1);
    const minutesBack = createFakeClock(first.clock.now() - 5 * MINUTE);
    const near = await setUp({ workspace: first.workspace, notices: first.notices, clock: minutesBack });
    const asking = near.approvals.ask(question(), never);
    await minutesBack.whenPending(1);
    await minutesBack.advance(10 * MINUTE);
    expect(await asking).toEqual({ granted: false, why: "expired" });
    writeState(first.workspace, "approvals.json", first.text().replaceAll('"ended"', '"waiting"'));
    const yearBack = createFakeClock(first.clock.now() - 365 * 24 * 60 * MINUTE);
    const far = await setUp({ workspace: first.workspace, notices: first.notices, clock: yearBack });
    expect(await far.approvals.answer(first.notices.codeOf(0), true, me)).toEqual({ status: "unknown" });
    expect(await far.approvals.ask(question(), never)).toEqual({ granted: false, why: "expired" });
  });

  test("and at a shutdown a question stands", async () => {
    const first = await setUp();
    const shutdown = new AbortController();
    const asking = first.approvals.ask(question(), shutdown.signal).catch((error: unknown) => error);
    await first.notices.reach(1);
    shutdown.abort(new Stopped("shutdown"));
    expect(await asking).toBeInstanceOf(Stopped);
    const next = await restart(first);
    expect(next.approvals.isWaiting("call_a_1_0")).toBe(true);
    const again = next.approvals.ask(question(), never);
    await next.clock.whenPending(1);
    await next.approvals.answer(first.notices.codeOf(0), true, me);
    expect((await again).granted).toBe(true);
    expect(first.notices.all.length).toBe(1);
  });

  /** Asks and answers until its process is killed at a write, and tells how far it came. */
  async function untilKilled(at: number, moment: "before" | "after") {
    const files = mortalFiles(at, moment);
    const workspace = tempFolder();
    const notices = createNotices();
    let answered: unknown;
    let used: unknown;
    const { approvals, clock } = await setUp({
      workspace,
      files,
      notices,
      put: async (...notice) => {
        await notices.put(...notice);
        approvals.answer(notices.codeOf(0), true, me).then(
          (answer) => {
            answered = answer;
          },
          () => {},
        );
      },
    });
    void approvals.ask(question(), never).then((answer) => {
      used = answer;
    });
    await Promise.race([clock.whenPending(2), settled(() => files.isDead || used !== undefined, clock)]);
    return { files, workspace, notices, answered: () => answered, used: () => used };
  }

  async function settled(isDone: () => boolean, clock: { giveWay(): Promise<void> }): Promise<void> {
    while (!isDone()) await clock.giveWay();
    // What was on its way when it was killed.
    for (let turn = 0; turn < 20; turn++) await clock.giveWay();
  }

  test.each(["before", "after"] as const)(
    "%s any write: a yes is used once, and nothing is done without one",
    async (moment) => {
      let at = 0;
      for (let isDead = true; isDead; ) {
        const first = await untilKilled(++at, moment);
        isDead = first.files.isDead;
        const wasUsed = (first.used() as { granted?: boolean } | undefined)?.granted === true;
        const next = await setUp({ workspace: first.workspace, notices: first.notices });
        expect(next.log.lines).toEqual([]);
        // A call that may have begun must not look as if it had not.
        if (wasUsed) expect(next.approvals.isWaiting("call_a_1_0")).toBe(false);
        // The owner was told that the yes is taken, so that it holds.
        else if (first.answered() !== undefined && next.approvals.isWaiting("call_a_1_0"))
          expect(await next.approvals.ask(question(), never)).toEqual({ granted: true, by: byMe });
        if (next.approvals.isWaiting("call_a_1_0")) {
          const asking = next.approvals.ask(question(), never);
          await first.notices.reach(1);
          const { status } = await next.approvals.answer(first.notices.codeOf(0), true, me);
          expect(["answered", "unknown"]).toContain(status);
          expect((await asking).granted).toBe(true);
        }
        expect(first.notices.all.length).toBeLessThanOrEqual(1);
      }
      expect(at).toBeGreaterThan(5);
    },
  );
});
