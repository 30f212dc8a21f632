import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import type { InboundId } from "../../src/core/messages.ts";
import { parseTasks, sameness, taskId } from "../../src/subagents/record.ts";

const parse = parseTasks("/ws/.nanobot/tasks.json");

const record = {
  id: "abc",
  label: "files",
  task: "count the files",
  sessionKey: "telegram:1",
  state: "done",
  createdAt: "2026-11-30T09:00:00.000Z",
  endedAt: "2026-11-30T09:01:00.000Z",
  toolCalls: 2,
  asker: { turn: "t", sender: "anna", origin: "chat", channel: "telegram", chatId: "1", thread: "7" },
  wait: false,
  same: "digest",
  result: "two",
  reported: true,
};

describe("parseTasks()", () => {
  test("reads back what was written", () => {
    expect<unknown>(parse(JSON.parse(JSON.stringify({ v: 1, tasks: [record] })))).toEqual([record]);
  });

  test("takes any file without a throw, and lets through only what is a task in every field", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(record)),
        fc.jsonValue().filter((value) => value !== null),
        (field, value) => {
          const found = parse({ v: 1, tasks: [{ ...record, [field]: value }] });
          for (const task of found ?? []) {
            expect(typeof task.asker.chatId).toBe("string");
            expect(typeof task.toolCalls).toBe("number");
            expect(Number.isNaN(Date.parse(task.createdAt))).toBe(false);
          }
        },
      ),
    );
    fc.assert(fc.property(fc.jsonValue(), (value) => void parse(value)));
  });
});

test("sameness() tells digits apart, and neither case nor white space", () => {
  expect(sameness(" Build\t7\n now ")).toBe(sameness("build 7 NOW"));
  expect(sameness("build 7")).not.toBe(sameness("build 8"));
  expect(sameness("build7")).not.toBe(sameness("build 7"));
});

test("taskId() is short, and the same for the same call of the same turn only", () => {
  const id = taskId("telegram:update:1" as InboundId, "call_1");
  expect(id).toMatch(/^[0-9a-f]{12}$/);
  expect(taskId("telegram:update:1" as InboundId, "call_1")).toBe(id);
  expect(taskId("telegram:update:1" as InboundId, "call_2")).not.toBe(id);
  expect(taskId("telegram:update:2" as InboundId, "call_1")).not.toBe(id);
});
