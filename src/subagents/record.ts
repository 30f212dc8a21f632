/** A task as it is on record: `tasks.json`, read with care. */

import { createHash } from "node:crypto";
import type { JsonObject } from "../core/json.ts";
import type { InboundId, Origin, Source } from "../core/messages.ts";
import type { TaskInfo } from "../core/tasks.ts";
import type { ToolRun } from "../core/tool-run.ts";
import { isObject } from "../lib/is-object.ts";
import { refuseNewer } from "../lib/json-file.ts";

export const VERSION = 1;

export interface TaskRecord extends TaskInfo {
  readonly asker: Omit<ToolRun, "signal" | "sessionKey">;
  /** Somebody waited for the result in a turn, so that it is no message. */
  readonly wait: boolean;
  /** Tells the same task from others. */
  readonly same: string;
  /** What came of it, until nobody can ask for it any more. */
  readonly result: string | undefined;
  /** The task under whose id it is told of, with others that the same end of the program cut off. Left out, its own. */
  readonly toldWith?: string;
  /** The result is with the bus, or was for nobody. */
  readonly reported: boolean;
}

export function isOpen({ state }: Pick<TaskInfo, "state">): boolean {
  return state === "queued" || state === "running";
}

/** Short, stable, and of no other task within the week in which ids of messages are known. `key` is the call's identity. */
export function taskId(turn: InboundId, key: string): string {
  return digest(`${turn}\0${key}`).slice(0, 12);
}

/** The same for tasks that differ in case and white space only. */
export function sameness(task: string): string {
  return digest(task.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim()).slice(0, 16);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

const states = ["queued", "running", "done", "failed", "stopped", "interrupted"] as const;
const origins = ["chat", "cron", "heartbeat", "subagent", "api"] as const satisfies readonly Origin[];

const parseOrigin = (value: unknown): Origin | undefined => origins.find((known) => known === value);

function parseSource(value: unknown): Source | undefined {
  if (!isObject(value) || !isObject(value["metadata"])) return undefined;
  const origin = parseOrigin(value["origin"]);
  // It was parsed as JSON.
  return origin && { origin, metadata: value["metadata"] as JsonObject };
}

function parseAsker(value: unknown): TaskRecord["asker"] | undefined {
  if (!isObject(value)) return undefined;
  const { turn, sender, channel, chatId, thread } = value;
  const origin = parseOrigin(value["origin"]);
  const source = parseSource(value["source"]);
  if (typeof turn !== "string" || typeof sender !== "string" || origin === undefined) return undefined;
  if (typeof channel !== "string" || typeof chatId !== "string") return undefined;
  return {
    turn: turn as InboundId,
    sender,
    origin,
    channel,
    chatId,
    ...(typeof thread === "string" ? { thread } : {}),
    ...(source === undefined ? {} : { source }),
  };
}

function parseRecord(value: unknown): TaskRecord | undefined {
  if (!isObject(value)) return undefined;
  const {
    id,
    label,
    task,
    sessionKey,
    createdAt,
    endedAt,
    toolCalls,
    wait,
    same,
    result,
    reported,
    toldWith,
  } = value;
  const state = states.find((known) => known === value["state"]);
  const asker = parseAsker(value["asker"]);
  if (typeof id !== "string" || typeof label !== "string" || typeof task !== "string") return undefined;
  if (typeof sessionKey !== "string" || typeof createdAt !== "string" || typeof same !== "string")
    return undefined;
  if (Number.isNaN(Date.parse(createdAt)) || state === undefined || asker === undefined) return undefined;
  return {
    id,
    label,
    task,
    sessionKey,
    state,
    createdAt,
    endedAt: typeof endedAt === "string" ? endedAt : undefined,
    toolCalls: typeof toolCalls === "number" ? toolCalls : 0,
    asker,
    wait: wait === true,
    same,
    result: typeof result === "string" ? result : undefined,
    ...(typeof toldWith === "string" ? { toldWith } : {}),
    reported: reported === true,
  };
}

/** `undefined` when it is damaged. Entries that are no task are left out. */
export function parseTasks(path: string): (value: unknown) => readonly TaskRecord[] | undefined {
  return (value) => {
    if (!isObject(value) || !Array.isArray(value["tasks"])) return undefined;
    refuseNewer(value, { path, version: VERSION });
    return value["tasks"].flatMap((task) => parseRecord(task) ?? []);
  };
}
