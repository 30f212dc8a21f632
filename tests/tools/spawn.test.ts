import { describe, expect, test } from "bun:test";
import { UserError } from "../../src/core/errors.ts";
import type { Spawner, TaskInfo, TaskRequest, TaskResult } from "../../src/core/tasks.ts";
import { spawn } from "../../src/tools/spawn.ts";
import { createFixture } from "./fixture.ts";

function setUp({ state = "running", result }: { state?: TaskInfo["state"]; result?: TaskResult } = {}) {
  const requests: TaskRequest[] = [];
  const tasks: Spawner = {
    async spawn(request) {
      requests.push(request);
      if (request.task === "refused") throw new UserError("too many tasks in this hour");
      const { task, label = "the task" } = request;
      return {
        task: {
          id: "abc",
          label,
          task,
          sessionKey: "cli:direct",
          state,
          createdAt: "2026-11-30T09:00:00.000Z",
          endedAt: undefined,
          toolCalls: 0,
        },
        ...(result === undefined ? {} : { result }),
      };
    },
  };
  const { call } = createFixture({ ports: { tasks } });
  return { requests, run: (args: object) => call(spawn, args) };
}

describe("spawn", () => {
  test("begins a task, named by its call, and says that its result comes by itself", async () => {
    const { run, requests } = setUp();
    const { ok, text } = await run({ task: "count the files", label: "files" });
    expect(ok).toBe(true);
    expect(text).toStartWith("Works in the background: files. ");
    expect(text).not.toContain("abc");
    expect(requests).toEqual([
      { task: "count the files", label: "files", wait: false, temperature: undefined, key: "call_0_0" },
    ]);
  });

  test.each([
    ["queued", "Waits for its turn: the task."],
    ["done", "Has ended: the task."],
    ["interrupted", "Has ended: the task."],
  ] as const)("says how a task stands that is %s", async (state, words) => {
    const { run } = setUp({ state });
    expect((await run({ task: "a" })).text).toStartWith(words);
  });

  test("gives the result that was waited for, as what may quote others", async () => {
    const { run, requests } = setUp({ result: { state: "done", text: "There are two." } });
    expect(await run({ task: "a", wait: true, temperature: 2 })).toEqual({
      ok: true,
      text: "There are two.",
      external: true,
    });
    expect(requests).toMatchObject([{ wait: true, temperature: 2 }]);
  });

  test.each(["failed", "stopped", "interrupted"] as const)(
    "fails when what was waited for %s",
    async (state) => {
      const { run } = setUp({ result: { state, text: "It broke off." } });
      expect(await run({ task: "a", wait: true })).toMatchObject({ ok: false, text: "It broke off." });
    },
  );

  test("says why no task may begin", async () => {
    const { run } = setUp();
    expect(await run({ task: "refused" })).toMatchObject({ ok: false, text: "too many tasks in this hour" });
  });

  test("says so where nothing works in the background", async () => {
    const { call } = createFixture({ ports: { tasks: undefined } });
    expect(await call(spawn, { task: "a" })).toMatchObject({
      ok: false,
      text: expect.stringContaining("nothing can work in the background here"),
    });
  });

  test("refuses a blank task", async () => {
    const { run, requests } = setUp();
    expect(await run({ task: " \n" })).toMatchObject({ ok: false });
    expect(requests).toEqual([]);
  });

  test.each([[{}], [{ task: "" }], [{ task: "a", temperature: 2.1 }], [{ task: "x".repeat(16_001) }]])(
    "takes no arguments like %p",
    async (args) => {
      const { run, requests } = setUp();
      await expect(run(args)).rejects.toThrow();
      expect(requests).toEqual([]);
    },
  );

  test("is for the main agent, and may be called again after a crash", () => {
    expect(spawn).toMatchObject({ mainOnly: true, repeatable: true });
    expect(spawn.readOnly).toBeUndefined();
  });
});
