/** The agent of a gateway, put together when its first message is there. */

import type { Dispatch } from "../../agent/dispatch.ts";
import type { Typing } from "../../channels/delivery/typing.ts";
import type { GatewayOptions } from "../../core/app.ts";
import type { AskOwner } from "../../core/approval.ts";
import type { Bus } from "../../core/bus.ts";
import type { ChannelStatus } from "../../core/channel.ts";
import type { InboundMessage } from "../../core/messages.ts";
import type { ConfiguredChannel } from "../channels.ts";
import { createOutbound, type OutboundOptions } from "../outbound.ts";
import type { Access } from "./access.ts";
import type { GatewayParts } from "./gateway.ts";

export interface OpenAgentOptions {
  readonly bus: Bus;
  readonly options: GatewayOptions;
  readonly access: Access;
  readonly configured: ReadonlyMap<string, ConfiguredChannel>;
  readonly typing: Typing;
  readonly elsewhere: OutboundOptions["elsewhere"];
  /** Of the gateway: milliseconds since the epoch. */
  readonly startedAt: number;
  readonly status: () => readonly ChannelStatus[];
  readonly restart: (asked: InboundMessage) => void;
}

/** Its tools put their questions to the owner's chat, and send their messages through the gateway, from now on. */
export async function openAgent(
  { settings, secrets, agent, use }: Pick<GatewayParts, "settings" | "secrets" | "agent" | "use">,
  { bus, options, access, configured, typing, elsewhere, startedAt, status, restart }: OpenAgentOptions,
): Promise<Dispatch> {
  const { drainSeconds } = await settings.gateway();
  const dispatch = await agent.dispatch({
    ...options,
    bus,
    startedAt,
    showReasoning: [...configured.values()].some(({ delivery }) => delivery.showReasoning),
    isWaiting: access.approvals.isWaiting,
    waitsForFinal: (name) => configured.get(name)?.capabilities.waitsForFinal === true,
    drainMs: drainSeconds * 1_000,
    onTurnStarted: typing.started,
    onTurnEnded: ({ inboundId }) => typing.ended(inboundId),
    services: {
      restart,
      pairing: access.pairing,
      isKnown: access.isKnown,
      approvals: access.approvals,
      channels: status,
    },
  });
  const ask: AskOwner = (question, limit) =>
    dispatch.aside(question.run.turn, () => access.approvals.ask(question, limit));
  use({ ask, outbound: createOutbound({ bus, mask: secrets.mask, elsewhere }) });
  return dispatch;
}
