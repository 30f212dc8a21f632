/** Tells the owner of messages that could not be delivered: of each chat once an hour, since a chat that takes none may get many. */

import type { Undelivered } from "../../channels/delivery/target.ts";
import type { FindOwner } from "../../core/access.ts";
import type { Clock, Log } from "../../core/platform.ts";
import { undeliverable } from "../../lib/phrases.ts";
import type { Notify } from "./notify.ts";

const EVERY_MS = 60 * 60_000;

export interface TellOwnerOptions {
  readonly findOwner: FindOwner;
  readonly notify: Notify;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/** Never throws: whoever calls it has other messages to deliver. */
export function createTellOwner({ findOwner, notify, clock, log }: TellOwnerOptions) {
  async function tell({ message: { channel, chatId }, reason }: Undelivered): Promise<void> {
    const owner = await findOwner();
    // In the chat it failed in, it would fail too.
    if (owner === undefined || (owner.channel === channel && owner.chatId === chatId)) return;
    await notify(owner, {
      content: undeliverable({ channel, chatId, reason }),
      id: `undeliverable:${channel}:${chatId}:${Math.floor(clock.now() / EVERY_MS)}`,
    });
  }

  return (undelivered: Undelivered): void => {
    tell(undelivered).catch((error: unknown) =>
      log.warn("The owner was not told of an undeliverable message", { error }),
    );
  };
}
