/** A task as it begins, and as others see it. */

import type { TaskInfo, TaskRequest } from "../core/tasks.ts";
import type { ToolRun } from "../core/tool-run.ts";
import { clip, oneLine, wellFormed } from "../lib/text.ts";
import { sameness, type TaskRecord } from "./record.ts";

const LONGEST_TASK = 20_000;
const LONGEST_LABEL = 80;
/** Of the task, where it has no label. */
const LABEL_OF_TASK = 31;

export function newRecord(
  id: string,
  { task, label = "", wait }: TaskRequest,
  { signal: _, sessionKey, ...asker }: ToolRun,
  { mask, now }: { mask: (text: string) => string; now: number },
): TaskRecord {
  const words = mask(wellFormed(task));
  return {
    id,
    label: oneLine(mask(wellFormed(label)), LONGEST_LABEL) || oneLine(words, LABEL_OF_TASK),
    task: clip(words, LONGEST_TASK),
    sessionKey,
    state: "queued",
    createdAt: new Date(now).toISOString(),
    endedAt: undefined,
    toolCalls: 0,
    asker,
    wait,
    same: sameness(words),
    result: undefined,
    reported: false,
  };
}

export function toInfo(record: TaskRecord): TaskInfo {
  const { id, label, task, sessionKey, state, createdAt, endedAt, toolCalls } = record;
  return { id, label, task, sessionKey, state, createdAt, endedAt, toolCalls };
}
