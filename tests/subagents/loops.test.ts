/** The same task again and again: what a person or the time of a job asks for goes on, what feeds itself ends. */

import { describe, expect, test } from "bun:test";
import type { TaskInfo } from "../../src/core/tasks.ts";
import type { Scripted } from "../fakes/model.ts";
import { asker, createFixture } from "./fixture.ts";

const hang: Scripted = { hang: true };

function setUp(script: readonly Scripted[] = Array.from({ length: 20 }, () => "done")) {
  const loops: TaskInfo[] = [];
  const fixture = createFixture({ script, onLoop: (task) => void loops.push(task) });
  let turn = 0;
  const again = (by: Parameters<typeof asker>[0] = {}) =>
    fixture.spawn("run the tests", { by: asker({ turn: `turn:${turn++}`, ...by }) });
  return { ...fixture, loops, again };
}

describe("spawn() of the same task", () => {
  test("goes on for a person who asks again and again", async () => {
    const { again, settled, published, loops } = setUp();
    for (let time = 0; time < 10; time++) {
      await again();
      await settled();
    }
    expect(published).toHaveLength(10);
    expect(loops).toEqual([]);
  });

  test("goes on for a job that comes every few minutes", async () => {
    const { again, settled, published } = setUp();
    for (let time = 0; time < 10; time++) {
      await again({ origin: "cron", sessionKey: "cron:a", channel: "none", chatId: "" });
      await settled();
    }
    expect(published).toHaveLength(10);
  });

  test("ends where each result begins it anew, and the owner hears of it", async () => {
    const { again, settled, published, loops, clock } = setUp();
    await again();
    await settled();
    for (let time = 0; time < 3; time++) {
      await again({ origin: "subagent" });
      await settled();
    }
    await expect(again({ origin: "subagent" })).rejects.toThrow("begun several times within the hour");
    expect(published).toHaveLength(4);
    expect(loops).toMatchObject([{ sessionKey: "telegram:1", task: "run the tests" }]);
    await again({ origin: "subagent", sessionKey: "telegram:2" });
    await clock.advance(3_600_000);
    await again({ origin: "subagent" });
  });

  test("does not begin beside itself, but for what one turn wants more than once", async () => {
    const { again, spawn, tasks, loops } = setUp([hang, hang, hang]);
    await again({ origin: "cron" });
    await expect(again({ origin: "cron" })).rejects.toThrow("is at work still");
    await expect(again()).rejects.toThrow("is at work still");
    await again({ sessionKey: "telegram:2" });
    const by = asker({ sessionKey: "telegram:3" });
    await spawn("run the tests", { by });
    await spawn("run the tests", { by });
    expect(tasks.list()).toHaveLength(4);
    expect(loops).toEqual([]);
  });
});
