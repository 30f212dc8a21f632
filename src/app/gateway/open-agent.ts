/** The agent of a gateway, put together when its first message is there. */

import type { AgentDeps } from "../../agent/deps.ts";
import type { Dispatch } from "../../agent/dispatch.ts";
import type { Typing } from "../../channels/delivery/typing.ts";
import type { ModelChoice } from "../../core/app.ts";
import type { AskOwner } from "../../core/approval.ts";
import type { Bus } from "../../core/bus.ts";
import type { ChannelStatus } from "../../core/channel.ts";
import { type InboundId, type InboundMessage, sourceOf } from "../../core/messages.ts";
import type { Tasks } from "../../core/tasks.ts";
import type { ConfiguredChannel } from "../channels.ts";
import { createOutbound, type OutboundOptions } from "../outbound.ts";
import type { Access } from "./access.ts";
import type { GatewayParts } from "./gateway.ts";
import type { Rest } from "./rest.ts";
import type { Schedule } from "./schedule.ts";

export interface OpenAgentOptions {
  readonly bus: Bus;
  readonly model: ModelChoice;
  readonly isModelWanted: boolean;
  readonly access: Access;
  readonly configured: ReadonlyMap<string, ConfiguredChannel>;
  readonly typing: Typing;
  readonly rest: Rest;
  readonly tasks: Tasks;
  readonly schedule: Schedule;
  readonly elsewhere: OutboundOptions["elsewhere"];
  /** Of the gateway: milliseconds since the epoch. */
  readonly startedAt: number;
  readonly status: () => readonly ChannelStatus[];
  readonly restart: (asked: InboundMessage) => void;
}

/** Its tools put their questions to the owner's chat, and send their messages through the gateway, from now on. */
export async function openAgent(
  parts: Pick<GatewayParts, "settings" | "secrets" | "agent" | "memory" | "use">,
  { access, configured, typing, rest, tasks, schedule, elsewhere, status, restart, ...own }: OpenAgentOptions,
): Promise<Dispatch> {
  const { drainSeconds, heartbeat } = await parts.settings.gateway();
  const routes: AgentDeps["routes"] = schedule.routes;
  const started = new Set<InboundId>();
  const dispatch = await parts.agent.dispatch({
    ...own,
    showReasoning: [...configured.values()].some(({ delivery }) => delivery.showReasoning),
    isWaiting: access.approvals.isWaiting,
    waitsForFinal: (name) => configured.get(name)?.capabilities.waitsForFinal === true,
    drainMs: drainSeconds * 1_000,
    routes,
    keptMessages: heartbeat.keepRecentMessages,
    consolidation: schedule.consolidation,
    onTurnStarted(message) {
      rest.began();
      started.add(message.id);
      if (routes[sourceOf(message).origin] === undefined) typing.started(message);
    },
    onTurnEnded(event) {
      const { inboundId } = event;
      schedule.turnEnded(event);
      typing.ended(inboundId);
      // Messages that joined a turn, or were called off before, began none.
      if (started.delete(inboundId)) rest.ended();
    },
    services: {
      restart,
      pairing: access.pairing,
      isKnown: access.isKnown,
      approvals: access.approvals,
      channels: status,
      memory: await parts.memory.store(),
      tasks,
    },
  });
  const ask: AskOwner = (question, limit) =>
    dispatch.aside(question.run.turn, () => access.approvals.ask(question, limit));
  const { mask } = parts.secrets;
  const outbound = createOutbound({ bus: own.bus, mask, elsewhere });
  parts.use({ ask, outbound, spawner: tasks.spawnerFor });
  return dispatch;
}
