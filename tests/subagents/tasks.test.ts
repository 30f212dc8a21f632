import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Stopped } from "../../src/core/errors.ts";
import type { InboundMessage } from "../../src/core/messages.ts";
import type { ToolRun } from "../../src/core/tool-run.ts";
import type { Workers } from "../../src/core/workers.ts";
import { never } from "../../src/lib/abort.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createFakeModel, type Scripted } from "../fakes/model.ts";
import { until } from "../fakes/until.ts";
import { asker, createFixture, noTools } from "./fixture.ts";

const hang: Scripted = { hang: true };

function stored(workspace: string): readonly Record<string, unknown>[] {
  return JSON.parse(readFileSync(join(workspace, ".nanobot/tasks.json"), "utf8")).tasks;
}

/** Threads of which each dies. */
const dying: Workers = {
  run: async () => ({ ok: false, reason: "its thread died (it exited with 7)" }),
  endAll: () => {},
};

describe("spawn()", () => {
  test("begins a task, and its result comes as a message to the session that asked", async () => {
    const { spawn, settled, published, tasks } = createFixture({ script: ["There are two files."] });
    const { task, result } = await spawn("count the files", { label: "files" });
    expect(task).toMatchObject({ label: "files", task: "count the files", sessionKey: "telegram:1" });
    expect(result).toBeUndefined();
    await settled();
    expect(published).toMatchObject([
      {
        id: `subagent:${task.id}`,
        kind: "message",
        origin: "subagent",
        channel: "telegram",
        chatId: "1",
        senderId: "anna",
        sessionKey: "telegram:1",
        timestamp: "2023-11-14T22:13:20.000Z",
      },
    ]);
    const content = published[0]?.content ?? "";
    for (const part of ["files", "count the files", "There are two files.", "it was done"])
      expect(content).toContain(part);
    expect(content).not.toContain(task.id);
    expect(tasks.list()).toMatchObject([{ id: task.id, state: "done", endedAt: "2023-11-14T22:13:20.000Z" }]);
  });

  test("brings each result to the chat that asked, whichever wrote last", async () => {
    const { spawn, settled, published } = createFixture({ script: ["for A", "for B"] });
    await spawn("a", { by: asker({ sessionKey: "telegram:A", chatId: "A", thread: "7", turn: "a" }) });
    await spawn("b", { by: asker({ sessionKey: "slack:B", chatId: "B", channel: "slack", turn: "b" }) });
    await settled();
    expect(published).toMatchObject([
      { sessionKey: "telegram:A", channel: "telegram", chatId: "A", thread: "7" },
      { sessionKey: "slack:B", channel: "slack", chatId: "B" },
    ]);
    expect(published[0]?.content).toContain("for A");
    expect(published[1]?.content).toContain("for B");
    expect(published[1]).not.toHaveProperty("thread");
  });

  test("brings a crash to the chat that asked", async () => {
    const { spawn, settled, published, log } = createFixture({ workers: dying });
    await spawn("a", { by: asker({ sessionKey: "slack:B", chatId: "B", channel: "slack" }) });
    await settled();
    expect(published).toMatchObject([{ sessionKey: "slack:B", channel: "slack", chatId: "B" }]);
    expect(published[0]?.content).toContain("it failed");
    expect(published[0]?.content).toContain("its thread died (it exited with 7)");
    expect(log.lines.join("\n")).toContain("The thread of a task ended before the task");
  });

  test.each([
    ["the toolbox", { toolbox: () => Promise.reject(new Error("no tools today")) }],
    ["a thread", { workers: { run: () => Promise.reject(new Error("no tools today")), endAll() {} } }],
  ])("reports that %s could not be had", async (_, broken) => {
    const { spawn, settled, published } = createFixture({ script: ["never"], ...broken });
    await spawn("a");
    await settled();
    expect(published[0]?.content).toContain("It broke off: no tools today.");
  });

  test("works without the list of skills", async () => {
    const { spawn, settled, published, log } = createFixture({
      script: ["done"],
      skillsSummary: () => Promise.reject(new Error("unreadable")),
    });
    await spawn("a");
    await settled();
    expect(published[0]?.content).toContain("it was done");
    expect(log.lines.join("\n")).toContain("without the list of skills");
  });

  test("gives a result again and again to a bus that refuses it, and says so in the log", async () => {
    const taken: InboundMessage[] = [];
    let refusals = 5;
    const { spawn, tasks, clock, log, workspace } = createFixture({
      script: ["done"],
      async publish(message) {
        if (refusals-- > 0) throw new Error("the disk is full");
        taken.push(message);
        return true;
      },
    });
    await spawn("a");
    await clock.whenPending(1);
    expect(stored(workspace)).toMatchObject([{ state: "done", result: "done", reported: false }]);
    while (taken.length === 0) await clock.advance(600_000);
    await tasks.settled(never);
    expect(taken).toHaveLength(1);
    expect(stored(workspace)).toMatchObject([{ reported: true }]);
    expect(log.lines.filter((line) => line.includes("the disk is full"))).toHaveLength(5);
  });

  test("records the task before it resolves", async () => {
    const { spawn, workspace } = createFixture({ script: [hang] });
    const { task } = await spawn("a");
    expect(stored(workspace)).toMatchObject([{ id: task.id, task: "a", asker: { channel: "telegram" } }]);
  });

  test("rejects when the task cannot be recorded, and begins nothing", async () => {
    const files = {
      ...createFileSystem(),
      replace: () => Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" })),
    };
    const { spawn, tasks, model } = createFixture({ script: ["never"], files });
    await expect(spawn("a")).rejects.toThrow("tasks.json");
    expect(tasks.list()).toEqual([]);
    expect(tasks.count("telegram:1")).toBe(0);
    expect(model.requests).toEqual([]);
  });

  test("writes no file where nothing is recorded", async () => {
    const { spawn, settled, published, workspace } = createFixture({ script: ["x"], record: false });
    await spawn("a");
    await settled();
    expect(published).toHaveLength(1);
    expect(existsSync(join(workspace, ".nanobot"))).toBe(false);
  });

  test("begins the same call once, also when it is made at the same time", async () => {
    const { spawn, settled, published, model } = createFixture({ script: ["one", "two"] });
    const both = await Promise.all([spawn("a", { key: "call" }), spawn("a", { key: "call" })]);
    await settled();
    const again = await spawn("a", { key: "call" });
    expect(new Set([...both, again].map(({ task }) => task.id)).size).toBe(1);
    expect(again.task.state).toBe("done");
    expect(model.requests).toHaveLength(1);
    expect(published).toHaveLength(1);
  });

  test("tells calls of different turns apart", async () => {
    const { spawn } = createFixture({ script: [hang, hang] });
    const a = await spawn("a", { key: "call", by: asker({ turn: "1" }) });
    const b = await spawn("b", { key: "call", by: asker({ turn: "2" }) });
    expect(a.task.id).not.toBe(b.task.id);
  });

  test("runs as many as the limit says, and the others in order", async () => {
    const release: (() => void)[] = [];
    const model = createFakeModel(
      ...Array.from({ length: 5 }, () => async () => {
        await new Promise<void>((resolve) => release.push(resolve));
        return { ok: true, content: "ok", toolCalls: [], finishReason: "stop" } as const;
      }),
    );
    const { spawn, tasks, settled } = createFixture({ model, limit: 2 });
    for (const name of ["a", "b", "c", "d", "e"]) await spawn(name);
    const states = () => tasks.list().map(({ task, state }) => `${task} ${state}`);
    await until(() => release.length === 2);
    expect(states()).toEqual(["a running", "b running", "c queued", "d queued", "e queued"]);
    release.shift()?.();
    await until(() => release.length === 2);
    expect(states()).toEqual(["a done", "b running", "c running", "d queued", "e queued"]);
    for (let ended = 0; ended < 4; ended++) {
      await until(() => release.length > 0);
      release.shift()?.();
    }
    await settled();
    expect(model.requests).toHaveLength(5);
  });

  test("refuses a task when a hundred wait", async () => {
    const { spawn, tasks } = createFixture({ script: [hang], limit: 1 });
    for (let index = 0; index <= 100; index++) await spawn(`task ${index}`);
    await expect(spawn("one more")).rejects.toThrow("too many background tasks wait already");
    expect(tasks.count("telegram:1")).toBe(101);
  });

  test("refuses a task when a hundred results are not taken", async () => {
    const script = Array.from({ length: 101 }, () => "done");
    const { spawn, clock, tasks } = createFixture({
      script,
      publish: () => Promise.reject(new Error("the disk is full")),
    });
    for (let index = 0; index < 100; index++) await spawn(`task ${index}`);
    await clock.whenPending(100);
    await expect(spawn("one more")).rejects.toThrow("too many background tasks");
    expect(tasks.list()).toHaveLength(100);
  });

  test("bounds the result, keeping its beginning and its end", async () => {
    const { spawn, settled, published } = createFixture({ script: [`first ${"x".repeat(50_000)} last`] });
    await spawn("a");
    await settled();
    const { content = "" } = published[0] ?? {};
    expect(content.length).toBeLessThan(10_000);
    expect(content).toContain("first xxx");
    expect(content).toContain("xxx last");
    expect(content).toContain("characters left out");
  });

  test("takes secrets out of what is recorded and reported", async () => {
    const { spawn, settled, published, workspace } = createFixture({
      script: ["the key is s3cret"],
      mask: (text) => text.replaceAll("s3cret", "***"),
    });
    await spawn("use s3cret", { label: "s3cret" });
    await settled();
    expect(JSON.stringify([published, stored(workspace)])).not.toContain("s3cret");
    expect(published[0]?.content).toContain("the key is ***");
  });

  test("labels a task by its beginning when it has no label", async () => {
    const { spawn } = createFixture({ script: [hang] });
    const { task } = await spawn("look through all of the files\nand count what is in them");
    expect(task.label).toBe("look through all of the files …");
  });

  test("gives the model the settings, the temperature that was asked for, and the asker's name for the bill", async () => {
    const callers: unknown[] = [];
    const model = createFakeModel(async (_, { caller }) => {
      callers.push(caller);
      return { ok: true, content: "ok", toolCalls: [], finishReason: "stop" };
    });
    const { spawn, settled } = createFixture({ model, skillsSummary: async () => "- weather: skies" });
    const { task } = await spawn("a", { temperature: 1.5 });
    await settled();
    expect(model.requests[0]).toMatchObject({ model: "fake-model", maxTokens: 1_000, temperature: 1.5 });
    expect(JSON.stringify(model.requests[0]?.messages)).toContain("- weather: skies");
    expect(callers).toEqual([
      { sessionKey: "telegram:1", origin: "subagent", turn: `subagent:${task.id}/run` },
    ]);
  });

  test("runs tools in a session of the task's own, counts them, and ends what they left", async () => {
    const runs: ToolRun[] = [];
    const ended: string[] = [];
    const calls = [{ name: "exec", arguments: { command: "ls" } }];
    const { spawn, settled, tasks } = createFixture({
      script: [{ calls }, { calls }, "done"],
      toolbox: async () => ({
        ...noTools,
        async run(_call, run) {
          runs.push(run);
          return { ok: true, text: "fine" };
        },
      }),
      endLeft: async (sessionKey) => void ended.push(sessionKey),
    });
    const { task } = await spawn("a", { by: asker({ thread: "7" }) });
    await settled();
    expect(runs).toHaveLength(2);
    expect(runs[0]).toMatchObject({
      sessionKey: `subagent:${task.id}`,
      turn: `subagent:${task.id}/run`,
      sender: "anna",
      origin: "subagent",
      channel: "telegram",
      chatId: "1",
      thread: "7",
    });
    expect(tasks.list()).toMatchObject([{ toolCalls: 2 }]);
    expect(ended).toEqual([`subagent:${task.id}`]);
  });

  test("reports what came of a task whose commands could not be ended", async () => {
    const { spawn, settled, published, log } = createFixture({
      script: ["done"],
      endLeft: () => Promise.reject(new Error("out of reach")),
    });
    await spawn("a");
    await settled();
    expect(published).toHaveLength(1);
    expect(log.lines.join("\n")).toContain("out of reach");
  });

  test("counts tool calls for the session that asked, which cannot have more by asking others", async () => {
    const counted: string[] = [];
    let ran = 0;
    const { spawn, settled, model } = createFixture({
      script: [{ calls: [{ name: "exec" }] }, "given up"],
      toolbox: async () => ({ ...noTools, run: async () => ({ ok: true, text: `${ran++}` }) }),
      limits: {
        task: () => undefined,
        toolCall: (sessionKey) => {
          counted.push(sessionKey);
          return "too many tool calls in this hour";
        },
      },
    });
    await spawn("a");
    await settled();
    expect(counted).toEqual(["telegram:1"]);
    expect(ran).toBe(0);
    expect(model.requests[1]?.messages.at(-1)?.content).toContain("too many tool calls in this hour");
  });
});

describe("spawn() refuses", () => {
  test("while background work pauses", async () => {
    const { spawn, pause, tasks } = createFixture();
    pause.left = 300_000;
    await expect(spawn("a")).rejects.toThrow("background work pauses for 5 minutes");
    expect(tasks.list()).toEqual([]);
  });

  test("what is too much for the hour, in the words of the limit", async () => {
    const { spawn } = createFixture({
      limits: { toolCall: () => undefined, task: (key) => `${key} has begun 200 tasks in this hour` },
    });
    await expect(spawn("a")).rejects.toThrow("telegram:1 has begun 200 tasks in this hour");
  });

  test("the same task for the fourth time within the hour, however it is written", async () => {
    const { spawn, settled, clock } = createFixture({ script: ["1", "2", "3", "4", "5", "6", "7"] });
    await spawn("Check the build 7");
    await spawn("check  the\nbuild 7 ");
    await spawn("CHECK THE BUILD 7");
    await settled();
    await expect(spawn("check the build 7")).rejects.toThrow("begun several times within the hour");
    await spawn("check the build 8");
    await spawn("check the build 7", { by: asker({ sessionKey: "telegram:2" }) });
    await clock.advance(3_600_000);
    await spawn("check the build 7");
  });

  test("the same task for the fourth time, also after a restart", async () => {
    const { spawn, settled, tasks, again } = createFixture({ script: ["1", "2", "3"] });
    for (let time = 0; time < 3; time++) await spawn("check the build");
    await settled();
    await tasks.close();
    await expect(again().spawn("check the build", { key: "new" })).rejects.toThrow("several times");
  });

  test("a subagent", async () => {
    const { spawn } = createFixture();
    await expect(spawn("a", { by: asker({ sessionKey: "subagent:abc" }) })).rejects.toThrow(
      "background work already",
    );
  });

  test("when the program ends", async () => {
    const { spawn, tasks } = createFixture();
    await tasks.close();
    await expect(spawn("a")).rejects.toThrow("about to end");
  });

  test("a turn that was stopped", async () => {
    const { spawn, tasks } = createFixture();
    const signal = AbortSignal.abort(new Stopped("user"));
    await expect(spawn("a", { by: asker({ signal }) })).rejects.toThrow("stopped by the user");
    expect(tasks.list()).toEqual([]);
  });
});

describe("spawn() with wait", () => {
  test("resolves to the result, and publishes nothing", async () => {
    const { spawn, settled, published, tasks } = createFixture({ script: ["Two."] });
    const { result } = await spawn("a", { wait: true });
    expect(result).toEqual({ state: "done", text: "Two." });
    await settled();
    expect(published).toEqual([]);
    expect(tasks.list()).toMatchObject([{ state: "done" }]);
  });

  test("resolves to what went wrong", async () => {
    const { spawn } = createFixture({ workers: dying });
    const { result } = await spawn("a", { wait: true });
    expect(result?.state).toBe("failed");
    expect(result?.text).toContain("its thread died");
  });

  test("gives the same call the same result", async () => {
    const { spawn, model, again } = createFixture({ script: ["Two."] });
    await spawn("a", { wait: true, key: "call" });
    expect((await spawn("a", { wait: true, key: "call" })).result).toEqual({ state: "done", text: "Two." });
    // As a turn does that was cut off before it had recorded the result.
    const next = again();
    expect((await next.spawn("a", { wait: true, key: "call" })).result?.text).toBe("Two.");
    expect([...model.requests, ...next.model.requests]).toHaveLength(1);
  });

  test.each([1, 2])("is stopped with its turn, with a limit of %p", async (limit) => {
    const { spawn, tasks, published, settled, model } = createFixture({ script: [hang, hang], limit });
    await spawn("another");
    const turn = new AbortController();
    const waited = spawn("a", { wait: true, by: asker({ signal: turn.signal, turn: "2" }) });
    await until(() => tasks.count("telegram:1") === 2 && model.requests.length === limit);
    turn.abort(new Stopped("user"));
    await expect(waited).rejects.toThrow("stopped by the user");
    await until(() => tasks.count("telegram:1") === 1);
    expect(tasks.list().at(-1)).toMatchObject({ task: "a", state: "stopped" });
    await tasks.stop("telegram:1");
    await settled();
    expect(published).toEqual([]);
  });

  test("is not run again when the program ended meanwhile: its turn, which is resumed, learns that", async () => {
    const { spawn, tasks, again, model } = createFixture({ script: [hang] });
    const turn = new AbortController();
    const by = asker({ signal: turn.signal });
    const waited = spawn("a", { wait: true, by, key: "call" });
    await until(() => model.requests.length === 1);
    turn.abort(new Stopped("shutdown"));
    await expect(waited).rejects.toThrow("shutting down");
    await tasks.close();
    const next = again({ script: ["never"] });
    await next.tasks.recover();
    const { result } = await next.spawn("a", { wait: true, key: "call" });
    expect(result?.state).toBe("interrupted");
    await next.settled();
    expect(next.published).toEqual([]);
    expect(next.model.requests).toEqual([]);
  });

  test("fails when a pause comes before its turn, while others wait for the pause to end", async () => {
    const { spawn, tasks, pause, model, clock, settled, published } = createFixture({
      script: [{ error: { kind: "quota", message: "no money" } }, "late but done"],
      limit: 1,
    });
    const first = spawn("first");
    const waited = spawn("waited", { wait: true });
    const patient = spawn("patient");
    await first;
    await until(() => tasks.list().length === 3);
    pause.left = 300_000;
    expect((await waited).result).toMatchObject({ state: "failed" });
    await patient;
    await clock.whenPending(1);
    expect(model.requests).toHaveLength(1);
    pause.left = 0;
    await clock.advance(300_000);
    await settled();
    expect(published.map(({ content }) => content.includes("late but done"))).toEqual([false, true]);
  });
});

describe("stop()", () => {
  test("ends those of a session that run or wait, and reports none of them", async () => {
    const aborted: unknown[] = [];
    const model = createFakeModel(
      async (_, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () => {
            aborted.push(signal.reason);
            resolve({ ok: false, error: { kind: "aborted", message: "aborted" }, partial: "" });
          }),
        ),
      "of the other",
    );
    const { spawn, tasks, settled, published } = createFixture({ model, limit: 1 });
    await spawn("a");
    await spawn("b");
    await spawn("c", { by: asker({ sessionKey: "telegram:2" }) });
    await until(() => model.requests.length === 1);
    expect(tasks.count("telegram:1")).toBe(2);
    expect(await tasks.stop("telegram:1")).toBe(2);
    expect(aborted).toMatchObject([{ by: "user" }]);
    expect(tasks.count("telegram:1")).toBe(0);
    expect(await tasks.stop("telegram:1")).toBe(0);
    await settled();
    expect(tasks.list().map(({ state }) => state)).toEqual(["stopped", "stopped", "done"]);
    expect(published).toMatchObject([{ sessionKey: "telegram:2" }]);
  });

  test("is remembered by the next process, which reports none of them", async () => {
    const { spawn, tasks, again } = createFixture({ script: [hang] });
    await spawn("a");
    await tasks.stop("telegram:1");
    const next = again();
    await next.tasks.recover();
    await next.settled();
    expect(next.published).toEqual([]);
    expect(next.tasks.list()).toMatchObject([{ state: "stopped" }]);
  });
});

describe("recover()", () => {
  test("reports tasks that an earlier process left, once", async () => {
    const { spawn, tasks, published, again } = createFixture({ script: [hang], limit: 1 });
    const by = asker({ sessionKey: "slack:B", channel: "slack", chatId: "B" });
    const { task } = await spawn("runs", { by });
    await spawn("waits");
    await tasks.close();
    expect(published).toEqual([]);
    const next = again();
    await next.tasks.recover();
    await next.settled();
    expect(next.published).toMatchObject([
      { id: `subagent:${task.id}`, sessionKey: "slack:B", chatId: "B" },
      { sessionKey: "telegram:1" },
    ]);
    expect(next.published[0]?.content).toContain("It was interrupted");
    expect(next.tasks.list().map(({ state }) => state)).toEqual(["interrupted", "interrupted"]);
    const third = again();
    await third.tasks.recover();
    await third.settled();
    expect(third.published).toEqual([]);
  });

  test("publishes results that were recorded and did not reach the bus", async () => {
    const { spawn, tasks, clock, again } = createFixture({
      script: ["the answer"],
      publish: () => Promise.reject(new Error("the disk is full")),
    });
    const { task } = await spawn("a");
    await clock.whenPending(1);
    await tasks.close();
    const taken: InboundMessage[] = [];
    const next = again({ publish: async (message) => taken.push(message) > 0 });
    await next.tasks.recover();
    await next.settled();
    expect(taken).toMatchObject([{ id: `subagent:${task.id}` }]);
    expect(taken[0]?.content).toContain("the answer");
  });

  test("takes it for reported when the bus knows it already", async () => {
    const { spawn, clock, tasks, again } = createFixture({
      script: ["x"],
      publish: () => Promise.reject(new Error("the disk is full")),
    });
    await spawn("a");
    await clock.whenPending(1);
    await tasks.close();
    const next = again({ publish: async () => false });
    await next.tasks.recover();
    await next.settled();
    expect(stored(next.workspace)).toMatchObject([{ reported: true }]);
  });

  test.each([
    ["no JSON", "{{{"],
    ["another shape", '{"v":1,"tasks":{}}'],
  ])("keeps a file that is damaged under another name: %s", async (_, text) => {
    const { workspace, tasks, spawn, log } = createFixture({ script: [hang] });
    mkdirSync(join(workspace, ".nanobot"));
    writeFileSync(join(workspace, ".nanobot/tasks.json"), text);
    await tasks.recover();
    await spawn("a");
    const kept = `${join(workspace, ".nanobot/tasks.json")}.corrupt-20231114T221320000Z`;
    expect(readFileSync(kept, "utf8")).toBe(text);
    expect(log.lines.join("\n")).toContain("put aside");
  });

  test("refuses the file of a newer version, and leaves it as it is", async () => {
    const { workspace, tasks } = createFixture();
    mkdirSync(join(workspace, ".nanobot"));
    const path = join(workspace, ".nanobot/tasks.json");
    writeFileSync(path, '{"v":2,"tasks":[]}');
    await expect(tasks.recover()).rejects.toThrow("a newer nanobot wrote it");
    expect(readFileSync(path, "utf8")).toBe('{"v":2,"tasks":[]}');
  });

  test("leaves out entries that are no tasks, and keeps the others", async () => {
    const { workspace, spawn, tasks, again } = createFixture({ script: ["x"] });
    await spawn("a");
    await tasks.settled(never);
    const path = join(workspace, ".nanobot/tasks.json");
    const broken = [null, 1, "x", [], {}, { ...stored(workspace)[0], state: "odd" }];
    writeFileSync(path, JSON.stringify({ v: 1, tasks: [...broken, ...stored(workspace)] }));
    const next = again();
    await next.tasks.recover();
    expect(next.tasks.list()).toMatchObject([{ task: "a" }]);
  });
});

describe("list()", () => {
  test("keeps the latest fifty that ended, shortened", async () => {
    const script = Array.from({ length: 60 }, () => "y".repeat(5_000));
    const { spawn, settled, tasks, workspace } = createFixture({ script });
    for (let index = 0; index < 60; index++) {
      await spawn(`${index} ${"x".repeat(9_000)}`);
      await settled();
    }
    expect(tasks.list()).toHaveLength(50);
    expect(tasks.list()[0]?.task.startsWith("10 ")).toBe(true);
    expect(readFileSync(join(workspace, ".nanobot/tasks.json"), "utf8").length).toBeLessThan(250_000);
  });
});

describe("close()", () => {
  test("ends all and reports nothing, for the next process to do that", async () => {
    const { spawn, tasks, published, workspace, model } = createFixture({ script: [hang], limit: 1 });
    await spawn("a");
    await spawn("b");
    await until(() => model.requests.length === 1);
    await tasks.close();
    expect(published).toEqual([]);
    expect(stored(workspace).every(({ state }) => state === "running" || state === "queued")).toBe(true);
  });

  test("leaves a task for the next process when the threads were ended before", async () => {
    const { spawn, tasks, published, workspace } = createFixture({
      workers: {
        run: async () => ({ ok: false, reason: "the program is ending", isEnding: true }),
        endAll() {},
      },
    });
    await spawn("a");
    await tasks.settled(never);
    await tasks.close();
    expect(published).toEqual([]);
    expect(stored(workspace)).toMatchObject([{ state: "queued" }]);
  });
});

test("settled() resolves when its signal aborts", async () => {
  const { spawn, tasks } = createFixture({ script: [hang] });
  await spawn("a");
  const abort = new AbortController();
  const settled = tasks.settled(abort.signal);
  abort.abort();
  await settled;
  expect(tasks.count("telegram:1")).toBe(1);
});
