/** Tasks that are loaded with the first of them, and may not be to be had. */

import { expect, test } from "bun:test";
import { createLateTasks, type TasksParts, type TasksUse } from "../../src/app/tasks.ts";
import { never } from "../../src/lib/abort.ts";
import { asker } from "../subagents/fixture.ts";

const use: TasksUse = { model: {} as never, publish: async () => true, isRecorded: true };

test("createLateTasks() lets all else end where there can be no tasks, and tells whoever wanted one", async () => {
  const broken = new Error("there is no workspace today");
  const parts = {
    platform: {},
    settings: { paths: () => Promise.reject(broken) },
  } as unknown as TasksParts;
  const tasks = createLateTasks(parts, use);
  const spawn = () => tasks.spawnerFor(asker()).spawn({ task: "a", wait: false, key: "call" });
  await expect(spawn()).rejects.toBe(broken);
  await expect(tasks.recover()).rejects.toBe(broken);
  expect(await tasks.stop("telegram:1")).toBe(0);
  expect(tasks.count("telegram:1")).toBe(0);
  await tasks.settled(never);
  await tasks.close();
  await expect(spawn()).rejects.toBe(broken);
});
