/** What a running gateway does for the other commands of this program, over its control socket. */

import * as v from "valibot";
import { type DurableBus, OUTBOX_PREVIEW, type OutboxEntry } from "../../core/bus.ts";
import type { ChannelStatus } from "../../core/channel.ts";
import { UserError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import { type InboundId, NOWHERE, type Origin, type OutboundId } from "../../core/messages.ts";
import type { Tasks } from "../../core/tasks.ts";
import { clip } from "../../lib/text.ts";
import type { OutboundOptions } from "../outbound.ts";
import type { Schedule } from "./schedule.ts";

export type ControlCommands = Readonly<
  Record<string, (args: JsonObject, signal: AbortSignal) => Promise<JsonValue>>
>;

export interface ControlParts {
  readonly version: string;
  readonly pid: number;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly address: string;
  readonly bus: DurableBus;
  readonly channels: () => readonly ChannelStatus[];
  readonly elsewhere: OutboundOptions["elsewhere"];
  readonly tasks: Pick<Tasks, "list">;
  readonly schedule: Pick<Schedule, "cron" | "heartbeat">;
}

const media = v.object({
  path: v.string(),
  mime: v.string(),
  name: v.exactOptional(v.string()),
});
const button = v.object({ label: v.string(), send: v.string() });
const sent = v.object({
  channel: v.string(),
  chatId: v.string(),
  content: v.string(),
  media: v.array(media),
  buttons: v.array(v.array(button)),
  key: v.string(),
  turn: v.string(),
  sessionKey: v.string(),
  sender: v.string(),
  origin: v.picklist(["chat", "cron", "heartbeat", "subagent", "api"] satisfies Origin[]),
});

function outboxRow({ content, ...entry }: OutboxEntry): JsonObject {
  return {
    ...entry,
    thread: entry.thread ?? null,
    reason: entry.reason ?? null,
    content: clip(content, OUTBOX_PREVIEW),
  };
}

export function controlCommands({
  bus,
  channels,
  elsewhere,
  tasks,
  schedule,
  ...facts
}: ControlParts): ControlCommands {
  function idOf(args: JsonObject): string {
    const { id } = args;
    if (typeof id !== "string") throw new UserError("Say which one by its id");
    return id;
  }

  return {
    status: async () => ({ ...facts, journal: bus.problem() ?? null, outbox: bus.outbox.list().length }),
    "channels.status": async () =>
      channels().map(({ detail, heardAt, ...status }) => ({
        ...status,
        detail: detail ?? null,
        heardAt: heardAt ?? null,
      })),
    "outbox.list": async () => bus.outbox.list().map(outboxRow),
    "outbox.retry": async (args) => bus.outbox.retry(idOf(args) as OutboundId),
    "outbox.drop": async (args) => bus.outbox.drop(idOf(args) as OutboundId),
    "tasks.list": async () =>
      tasks.list().map(({ endedAt, ...task }) => ({ ...task, endedAt: endedAt ?? null })),
    "cron.run": async (args) => (await schedule.cron()).runNow(idOf(args), { force: args["force"] === true }),
    "cron.reload": async () => {
      (await schedule.cron()).reload();
      return true;
    },
    "heartbeat.now": async (_, signal) => (await schedule.heartbeat()).now(signal),
    "message.send": async (args, signal) => {
      const { success, output } = v.safeParse(sent, args);
      if (!success) throw new UserError("Cannot send the message: it is not what the gateway expects");
      const { key, turn, sessionKey, sender, origin, ...message } = output;
      // Whoever asks sits outside every chat.
      const run = {
        sessionKey,
        sender,
        origin,
        turn: turn as InboundId,
        channel: NOWHERE,
        chatId: "",
        signal,
      };
      await elsewhere(message, key, run);
      return true;
    },
  };
}
