/** Tries a channel without starting it: its credentials, and if somebody wants that, one message there and back. */

import { SendError } from "../../core/channel.ts";
import { UserError } from "../../core/errors.ts";
import type { InboundId, OutboundId } from "../../core/messages.ts";
import type { Ids } from "../../core/platform.ts";
import { TEST_MESSAGE } from "../../lib/phrases.ts";
import type { ConfiguredChannel } from "../channels.ts";

export async function testChannel(
  { name, create }: ConfiguredChannel,
  { sendTo, ids }: { sendTo: string | undefined; ids: Ids },
  signal: AbortSignal,
): Promise<string> {
  const channel = await create({
    // It is not started, so nobody is heard.
    admit: async () => false,
    emit: async () => false,
    heard: () => {},
    report: () => {},
  });
  try {
    if (channel.check === undefined && sendTo === undefined) {
      return `${name}: the settings are right; there are no credentials to try`;
    }
    const who = (await channel.check?.(signal)) ?? "ready";
    if (sendTo === undefined) return `${name}: ${who}`;
    const id = ids.next();
    const messageId = await channel.send(
      {
        message: {
          kind: "final",
          outcome: "notice",
          id: `test:${id}` as OutboundId,
          turn: `test:${id}` as InboundId,
          channel: name,
          chatId: sendTo,
          content: TEST_MESSAGE,
          answers: [],
          media: [],
          metadata: {},
        },
        index: 0,
        key: `test-${id}`,
        chatId: sendTo,
        content: { kind: "text", text: TEST_MESSAGE, isPlain: true },
      },
      signal,
    );
    const shown = messageId === "" ? "" : ` as message ${messageId}`;
    return `${name}: ${who}; the message was taken${shown}`;
  } catch (error) {
    if (!(error instanceof SendError)) throw error;
    throw new UserError(`${name}: ${error.message}`, { cause: error, exitCode: 1 });
  } finally {
    await channel.stop();
  }
}
