import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import type { DurableApprovalsOptions } from "../../src/access/durable-approvals.ts";
import type { Chat } from "../../src/core/access.ts";
import type { Answerer } from "../../src/core/approval.ts";
import { Stopped } from "../../src/core/errors.ts";
import { never } from "../../src/lib/abort.ts";
import { askInVain, byMe, home, MINUTE, me, question, setUp } from "./approvals-fixture.ts";
import { readState, realFiles } from "./fixture.ts";

describe("ask()", () => {
  test("puts a question to the owner, and gives back a yes", async () => {
    const { approvals, notices } = await setUp();
    const asking = approvals.ask(question(), never);
    await notices.reach(1);
    const code = notices.codeOf(0);
    expect(notices.all[0]).toEqual({
      chat: home,
      text: expect.stringContaining("rm -r build"),
      buttons: [
        [
          { label: "Approve", send: `/approve ${code}` },
          { label: "Deny", send: `/deny ${code}` },
        ],
      ],
      key: expect.stringMatching(/^[a-z0-9]{24}$/),
    });
    expect(await approvals.answer(code, true, me)).toEqual({ status: "answered", what: "rm -r build" });
    expect(await asking).toEqual({ granted: true, by: byMe });
    expect(approvals.isWaiting("call_a_1_0")).toBe(false);
  });

  test("gives back a no", async () => {
    const { approvals, notices } = await setUp();
    const asking = approvals.ask(question(), never);
    await notices.reach(1);
    await approvals.answer(notices.codeOf(0), false, me);
    expect(await asking).toEqual({ granted: false, why: "denied", by: byMe });
  });

  test("takes no answer in ten minutes for a no, and no answer after", async () => {
    const { approvals, notices, clock } = await setUp();
    const asking = approvals.ask(question(), never);
    await notices.reach(1);
    await clock.advance(10 * MINUTE - 1);
    expect(approvals.isWaiting("call_a_1_0")).toBe(true);
    await clock.advance(1);
    expect(await asking).toEqual({ granted: false, why: "expired" });
    expect(await approvals.answer(notices.codeOf(0), true, me)).toEqual({ status: "unknown" });
    expect(clock.pending).toBe(0);
  });

  test("says that there is nobody to ask, and keeps nothing", async () => {
    const { approvals, notices, workspace } = await setUp({ owner: async () => undefined });
    expect(await approvals.ask(question(), never)).toEqual({ granted: false, why: "nobody" });
    expect(notices.all).toEqual([]);
    expect(readdirSync(workspace)).toEqual([]);
  });

  test("is a no when the owner cannot be found out, or the question cannot be put or kept", async () => {
    const fail = (what: string) => () => Promise.reject(new Error(what));
    const broken: readonly [string, Partial<Omit<DurableApprovalsOptions, "clock">>][] = [
      ["no owner", { owner: fail("no owner") }],
      ["bus is full", { put: fail("bus is full") }],
      ["disk is full", { files: { ...realFiles, replace: fail("disk is full") } }],
    ];
    for (const [what, options] of broken) {
      const { approvals, log } = await setUp(options);
      expect(await approvals.ask(question(), never)).toEqual({ granted: false, why: "nobody" });
      expect(log.lines.join("\n")).toContain(what);
      expect(approvals.isWaiting("call_a_1_0")).toBe(false);
    }
  });

  test("keeps a question before it is put", async () => {
    const kept: string[] = [];
    const { approvals, workspace } = await setUp({
      put: async (_, __, ___, key) => {
        kept.push(key, readState(workspace, "approvals.json"));
        throw new Error("enough");
      },
    });
    await approvals.ask(question(), never);
    expect(JSON.parse(kept[1] ?? "").questions).toMatchObject([{ key: kept[0], state: "waiting" }]);
  });

  test("puts several questions at once, each with its own code and its own answer", async () => {
    const { approvals, notices } = await setUp();
    const asking = ["a", "b", "c"].map((id) => approvals.ask(question({ id, what: `do ${id}` }), never));
    await notices.reach(3);
    const codeFor = (what: string) =>
      notices.codeOf(notices.all.findIndex(({ text }) => text.includes(what)));
    await approvals.answer(codeFor("do c"), true, me);
    await approvals.answer(codeFor("do a"), false, me);
    expect(approvals.isWaiting("b")).toBe(true);
    await approvals.answer(codeFor("do b"), true, me);
    expect((await Promise.all(asking)).map(({ granted }) => granted)).toEqual([false, true, true]);
    expect(new Set(notices.all.map(({ key }) => key)).size).toBe(3);
  });

  test("takes an answer for the exact call only", async () => {
    const first = await setUp();
    askInVain(first.approvals);
    await first.notices.reach(1);
    await first.approvals.answer(first.notices.codeOf(0), true, me);
    const changes = [
      { what: "rm -r src" },
      { tool: "write_file" },
      { reason: "another" },
      { id: "call_a_1_1" },
    ];
    for (const [at, change] of changes.entries()) {
      const next = await setUp({ workspace: first.workspace, notices: first.notices });
      const stop = new AbortController();
      const asking = next.approvals.ask(question(change), stop.signal).catch((error: unknown) => error);
      await first.notices.reach(at + 2);
      expect(first.notices.all.length).toBe(at + 2);
      stop.abort("enough");
      expect(await asking).toBe("enough");
    }
  });

  test("withdraws a question when its turn is stopped", async () => {
    const { approvals, notices, clock } = await setUp();
    const stop = new AbortController();
    const stopped = new Stopped("user");
    const asking = approvals.ask(question(), stop.signal).catch((error: unknown) => error);
    await notices.reach(1);
    stop.abort(stopped);
    expect(await asking).toBe(stopped);
    expect(approvals.isWaiting("call_a_1_0")).toBe(false);
    expect(await approvals.answer(notices.codeOf(0), true, me)).toEqual({ status: "unknown" });
    expect(clock.pending).toBe(0);
    await expect(approvals.ask(question(), stop.signal)).rejects.toBe(stopped);
  });

  test("puts nothing when it is stopped before the question is kept", async () => {
    const stop = new AbortController();
    const files: typeof realFiles = {
      ...realFiles,
      replace: (...args) => {
        stop.abort("stopped");
        return realFiles.replace(...args);
      },
    };
    const { approvals, notices } = await setUp({ files });
    await expect(approvals.ask(question(), stop.signal)).rejects.toBe("stopped");
    expect(notices.all).toEqual([]);
    expect(approvals.isWaiting("call_a_1_0")).toBe(false);
  });

  test("is not held up by a bus that is full, but by the time it has", async () => {
    const { approvals, clock } = await setUp({ put: () => new Promise<void>(() => {}) });
    const asking = approvals.ask(question(), never);
    await clock.whenPending(1);
    await clock.advance(10 * MINUTE);
    expect(await asking).toEqual({ granted: false, why: "expired" });
  });

  test("keeps at most so many questions, and refuses another one when all of them wait", async () => {
    const { approvals, notices, log, text } = await setUp({ mostQuestions: 5 });
    for (let number = 0; number < 20; number++) {
      const asking = approvals.ask(question({ id: `done ${number}` }), never);
      await notices.reach(number + 1);
      await approvals.answer(notices.codeOf(number), true, me);
      expect((await asking).granted).toBe(true);
    }
    expect(JSON.parse(text()).questions.length).toBe(5);
    const waiting = [0, 1, 2, 3, 4].map((number) =>
      approvals.ask(question({ id: `waits ${number}` }), never),
    );
    await notices.reach(25);
    expect(await approvals.ask(question({ id: "one more" }), never)).toEqual({
      granted: false,
      why: "nobody",
    });
    expect(log.lines.join()).toContain("Too many");
    for (let at = 20; at < 25; at++) await approvals.answer(notices.codeOf(at), true, me);
    expect((await Promise.all(waiting)).every(({ granted }) => granted)).toBe(true);
  });
});

describe("answer()", () => {
  test("takes codes in any spelling, each once", async () => {
    const { approvals, notices } = await setUp();
    const asking = approvals.ask(question(), never);
    await notices.reach(1);
    const code = notices.codeOf(0).replace("-", " ").toLowerCase();
    for (const wrong of ["", "AAAA-AAAA", code.slice(1), `${code}A`, "*"])
      expect(await approvals.answer(wrong, true, me)).toEqual({ status: "unknown" });
    const answers = await Promise.all([approvals.answer(code, true, me), approvals.answer(code, false, me)]);
    expect(answers.map(({ status }) => status)).toEqual(["answered", "unknown"]);
    expect((await asking).granted).toBe(true);
    expect(await approvals.answer(code, false, me)).toEqual({ status: "unknown" });
  });

  test("is only for the chat that the question was put to", async () => {
    const { approvals, notices } = await setUp({
      owner: async () => ({ channel: "telegram", chatId: "1:2" }),
    });
    const asking = approvals.ask(question(), never);
    await notices.reach(1);
    const code = notices.codeOf(0);
    const others: Answerer[] = [
      { channel: "slack", chatId: "1:2", senderId: "1" },
      { channel: "telegram", chatId: "1", senderId: "1:2" },
      { channel: "telegram", chatId: "-100", senderId: "1:2" },
      { channel: "telegram:1", chatId: "2", senderId: "1" },
      { channel: "", chatId: "", senderId: "" },
    ];
    for (const other of others) {
      for (const text of [code, "AAAA-AAAA", ""])
        expect(await approvals.answer(text, true, other)).toEqual({ status: "notAllowed" });
    }
    expect(approvals.isWaiting("call_a_1_0")).toBe(true);
    const by = { channel: "telegram", chatId: "1:2", senderId: "7" };
    expect((await approvals.answer(code, true, by)).status).toBe("answered");
    expect((await asking).granted).toBe(true);
  });

  test("stays with that chat when another one becomes the owner's", async () => {
    let owner: Chat = home;
    const { approvals, notices } = await setUp({ owner: async () => owner });
    const asking = approvals.ask(question(), never);
    await notices.reach(1);
    owner = { channel: "telegram", chatId: "2" };
    const friend = { ...owner, senderId: "2" };
    expect(await approvals.answer(notices.codeOf(0), true, friend)).toEqual({ status: "notAllowed" });
    expect((await approvals.answer(notices.codeOf(0), true, me)).status).toBe("answered");
    await asking;
    // What has been answered belongs to it too.
    expect(await approvals.answer(notices.codeOf(0), true, me)).toEqual({ status: "unknown" });
  });

  test("is for nobody while there is no owner", async () => {
    const { approvals } = await setUp({ owner: async () => undefined });
    expect(await approvals.answer("AAAA-AAAA", true, me)).toEqual({ status: "notAllowed" });
  });

  test("is for approvers alone, in any chat of their channel, where some are named", async () => {
    const { approvals, notices } = await setUp({
      approvers: ["slack:U7", "telegram:@Boss", "matrix:@a:b.c", "irc:*"],
    });
    const cases: readonly [string, string, boolean][] = [
      ["telegram", "1|alice", false],
      ["telegram", "9|boss", true],
      ["telegram", "U7", false],
      ["slack", "U7", true],
      ["slack", "u7", false],
      ["slack", "U77", false],
      ["matrix", "@a:b.c", true],
      ["irc", "anybody", false],
    ];
    for (const [at, [channel, senderId, isAllowed]] of cases.entries()) {
      const stop = new AbortController();
      const asking = approvals.ask(question({ id: `${at}` }), stop.signal).catch(() => undefined);
      await notices.reach(at + 1);
      expect(notices.all.at(-1)?.chat).toEqual(home);
      const by = { channel, chatId: "any", senderId };
      const { status } = await approvals.answer(notices.codeOf(at), true, by);
      expect([channel, senderId, status]).toEqual([channel, senderId, isAllowed ? "answered" : "notAllowed"]);
      stop.abort();
      await asking;
    }
  });

  test("that cannot be kept is not given", async () => {
    let isFull = false;
    const files: typeof realFiles = {
      ...realFiles,
      replace: async (...args) => {
        if (isFull) throw Object.assign(new Error("no"), { code: "ENOSPC" });
        return realFiles.replace(...args);
      },
    };
    const { approvals, notices } = await setUp({ files });
    const asking = approvals.ask(question(), never);
    await notices.reach(1);
    isFull = true;
    await expect(approvals.answer(notices.codeOf(0), true, me)).rejects.toMatchObject({
      name: "UserError",
      message: expect.stringContaining("the disk is full"),
    });
    expect(approvals.isWaiting("call_a_1_0")).toBe(true);
    isFull = false;
    expect((await approvals.answer(notices.codeOf(0), true, me)).status).toBe("answered");
    expect((await asking).granted).toBe(true);
  });

  test("is not used when it cannot be recorded that it is", async () => {
    let writes = 0;
    const files: typeof realFiles = {
      ...realFiles,
      // The question, the answer, and no more.
      replace: async (...args) => {
        if (++writes > 2) throw new Error("the disk failed");
        return realFiles.replace(...args);
      },
    };
    const { approvals, notices, log } = await setUp({ files });
    const asking = approvals.ask(question(), never);
    await notices.reach(1);
    await approvals.answer(notices.codeOf(0), true, me);
    expect(await asking).toEqual({ granted: false, why: "nobody" });
    expect(log.lines.join()).toContain("the disk failed");
  });
});
