/** What a running gateway does for the other commands of this program, over its control socket. */

import * as v from "valibot";
import type { DurableBus, OutboxEntry } from "../../core/bus.ts";
import type { ChannelStatus } from "../../core/channel.ts";
import { UserError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { InboundId, Origin, OutboundId } from "../../core/messages.ts";
import type { Outbound } from "../../core/tool.ts";
import type { ToolRun } from "../../core/toolbox.ts";

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
  readonly outbound: (run: ToolRun) => Outbound;
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
    content,
  };
}

export function controlCommands({ bus, channels, outbound, ...facts }: ControlParts): ControlCommands {
  function idOf(args: JsonObject): OutboundId {
    const { id } = args;
    if (typeof id !== "string") throw new UserError("Name the message by its id");
    return id as OutboundId;
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
    "outbox.retry": async (args) => bus.outbox.retry(idOf(args)),
    "outbox.drop": async (args) => bus.outbox.drop(idOf(args)),
    "message.send": async (args, signal) => {
      const { key, turn, sessionKey, sender, origin, ...message } = v.parse(sent, args);
      // Whoever asks sits outside every chat, so that each is another one.
      const run = {
        sessionKey,
        sender,
        origin,
        turn: turn as InboundId,
        channel: "none",
        chatId: "",
        signal,
      };
      return { ...(await outbound(run).send(message, key)) };
    },
  };
}
