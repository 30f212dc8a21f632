import { describe, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { never } from "../../src/lib/abort.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { tempFolder } from "../fakes/temp.ts";
import { askInVain, MINUTE, me, question, restart, setUp } from "./approvals-fixture.ts";
import { countingBytes, readState, statePath, unreadableFiles, writeState } from "./fixture.ts";

describe("approvals.json", () => {
  test("holds no secret, and is for nobody else", async () => {
    const secret = "hunter2hunter2";
    const { approvals, notices, text, workspace } = await setUp({
      mask: (all) => all.replaceAll(secret, "[masked]"),
    });
    const asking = approvals.ask(question({ what: `curl -H ${secret}`, reason: `has ${secret}` }), never);
    await notices.reach(1);
    expect(text()).toContain("curl -H [masked]");
    expect(text() + notices.all[0]?.text).not.toContain(secret);
    expect(statSync(statePath(workspace, "approvals.json")).mode & 0o777).toBe(0o600);
    // Another secret in the same place is another question.
    const other = approvals.ask(question({ id: "b", what: "curl -H hunter3hunter3" }), never);
    await notices.reach(2);
    for (const at of [0, 1]) {
      const answer = await approvals.answer(notices.codeOf(at), true, me);
      expect(JSON.stringify(answer)).not.toContain(secret);
    }
    await Promise.all([asking, other]);
    // What has ended is of no interest.
    expect(text()).not.toContain("curl");
  });

  test("that is damaged is kept under another name, and nothing waits", async () => {
    for (const damaged of ["{", "", "[]", "\0\0\0", '{"v":1,"questions":{}}']) {
      const workspace = tempFolder();
      writeState(workspace, "approvals.json", damaged);
      const { approvals, log, notices } = await setUp({ workspace });
      expect(approvals.isWaiting("call_a_1_0")).toBe(false);
      askInVain(approvals);
      await notices.reach(1);
      const kept = readdirSync(statePath(workspace, "")).filter((name) => name.includes(".corrupt-"));
      expect(kept.map((name) => readState(workspace, name))).toEqual([damaged]);
      expect(log.lines.length).toBe(2);
    }
  });

  test("loses only the questions that are damaged", async () => {
    const first = await setUp();
    askInVain(first.approvals);
    await first.notices.reach(1);
    const { questions } = JSON.parse(first.text());
    const damaged = [null, 7, {}, { ...questions[0], code: "x" }, { ...questions[0], state: "open" }];
    writeState(first.workspace, "approvals.json", { v: 1, questions: [...damaged, ...questions] });
    expect((await restart(first)).approvals.isWaiting("call_a_1_0")).toBe(true);
  });

  test("of a newer version is refused as it is", async () => {
    const workspace = tempFolder();
    writeState(workspace, "approvals.json", '{"v":2,"questions":[]}');
    await expect(setUp({ workspace })).rejects.toMatchObject({ name: "UserError" });
    expect(readState(workspace, "approvals.json")).toBe('{"v":2,"questions":[]}');
  });

  test("that cannot be read is an error", async () => {
    await expect(setUp({ files: unreadableFiles("EACCES") })).rejects.toThrow("permission denied");
  });

  test("forgets what nobody can come back for", async () => {
    const first = await setUp();
    askInVain(first.approvals);
    await first.notices.reach(1);
    const week = createFakeClock(first.clock.now() + 7 * 24 * 60 * MINUTE);
    const next = await setUp({ workspace: first.workspace, clock: week });
    expect(next.approvals.isWaiting("call_a_1_0")).toBe(false);
  });

  test("has codes from where it is told to take them", async () => {
    const one = await setUp({ randomBytes: countingBytes() });
    const other = await setUp({ randomBytes: countingBytes() });
    for (const { approvals, notices } of [one, other]) {
      askInVain(approvals);
      await notices.reach(1);
    }
    expect(one.notices.codeOf(0)).toBe(other.notices.codeOf(0));
  });
});
