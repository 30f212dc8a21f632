/** Turns what the user typed into a message for the agent. */

import type { ChannelContext } from "../../core/channel.ts";
import type { InboundId, InboundMessage, Media } from "../../core/messages.ts";

/** The chat a session key names: what follows its first colon, or all of it. */
function chatOf(session: string): string {
  return session.slice(session.indexOf(":") + 1) || session;
}

/** A maker of messages that belong to `session`, whatever channel its key names. */
export function createInbound(
  session: string,
  { clock, ids }: Pick<ChannelContext, "clock" | "ids">,
): (content: string, media: readonly Media[]) => InboundMessage {
  return (content, media) => ({
    id: `cli:${ids.next()}` as InboundId,
    kind: "message",
    channel: "cli",
    senderId: "user",
    chatId: chatOf(session),
    content,
    media,
    timestamp: new Date(clock.now()).toISOString(),
    origin: "chat",
    sessionKey: session,
    metadata: {},
  });
}
