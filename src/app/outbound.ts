/** What the `message` tool sends by: onto the bus for the chat that is answered, and to others as far as they are allowed. */

import type { App } from "../core/app.ts";
import type { Bus } from "../core/bus.ts";
import { UserError } from "../core/errors.ts";
import { NOWHERE, type OutboundId } from "../core/messages.ts";
import type { Outbound, ToolMessageOut } from "../core/tool.ts";
import type { ToolRun } from "../core/tool-run.ts";

/** With the chat it goes to. */
export type MessageElsewhere = ToolMessageOut & { readonly channel: string; readonly chatId: string };

export interface OutboundOptions {
  /** Left out where nobody is answered. */
  readonly bus?: Bus;
  readonly mask: (text: string) => string;
  /** Sends to another chat than the one that is answered. Rejects with a `UserError` when that may not be. */
  readonly elsewhere: (message: MessageElsewhere, key: string, run: ToolRun) => Promise<void>;
}

export function createOutbound({ bus, mask, elsewhere }: OutboundOptions): (run: ToolRun) => Outbound {
  return (run) => ({
    async send(message, key) {
      const { channel = run.channel, chatId = run.chatId } = message;
      const isHere = channel === run.channel && chatId === run.chatId;
      const whole = { ...message, channel, chatId };
      if (isHere && channel === NOWHERE) throw nobodyHere();
      if (!isHere) await elsewhere(whole, key, run);
      else if (bus === undefined) throw nobodyHere();
      else await putMessage(bus, whole, { key, run, mask, thread: run.thread });
      return { channel, chatId };
    },
  });
}

function nobodyHere(): UserError {
  return new UserError("Cannot send a message to this chat: there is none", {
    hint: "Name a channel and a chat of it",
  });
}

/** Sends by the gateway of this workspace, if one runs. */
export function throughGateway(askGateway: App["askGateway"]): OutboundOptions["elsewhere"] {
  return async (message, key, { sessionKey, turn, sender, origin, signal }) => {
    const args = {
      ...message,
      media: message.media.map((file) => ({ ...file })),
      buttons: message.buttons.map((row) => row.map((button) => ({ ...button }))),
      ...{ key, sessionKey, turn, sender, origin },
    };
    const answer = await askGateway("message.send", args, signal);
    if (answer.running) return;
    throw new UserError(
      `Cannot send to the channel "${message.channel}": no gateway runs for this workspace`,
      { hint: 'The owner starts one with "nanobot gateway"' },
    );
  };
}

/** The message's id is made of the turn and the call, so that a turn that is resumed cannot send it twice. */
export async function putMessage(
  bus: Bus,
  { channel, chatId, content, media, buttons }: MessageElsewhere,
  {
    key,
    run: { turn, signal },
    mask,
    thread,
  }: {
    key: string;
    run: Pick<ToolRun, "turn" | "signal">;
    mask: (text: string) => string;
    thread?: string | undefined;
  },
): Promise<OutboundId> {
  const id = `${turn}/message/${key}` as OutboundId;
  await bus.publishOutbound(
    {
      kind: "final",
      outcome: "message",
      id,
      turn,
      channel,
      chatId,
      ...(thread === undefined ? {} : { thread }),
      content: mask(content),
      answers: [],
      media,
      ...(buttons.length > 0 ? { buttons } : {}),
      metadata: {},
    },
    signal,
  );
  return id;
}
