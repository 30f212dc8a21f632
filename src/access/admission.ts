/** Decides whether somebody is listened to, and tells a stranger how to be let in. */

import type { Chat } from "../core/access.ts";
import type { ChannelContext, ChatPlace, Sender } from "../core/channel.ts";
import type { Clock, Log } from "../core/platform.ts";
import { pairingOffer } from "../lib/phrases.ts";
import { createRecent } from "../lib/recent.ts";
import { showCode } from "../lib/show-code.ts";
import {
  type AllowList,
  allows,
  allowsGroup,
  identityOf,
  isOpenToAll,
  isOpenToNobody,
  names,
  namesAnybody,
} from "./allow.ts";
import type { PairingStore } from "./pairing.ts";

const MINUTE_MS = 60_000;
/** Strangers whose last notice is remembered. */
const MOST_STRANGERS = 1_000;

type GroupPolicy = "mention" | "open" | "allowlist";

/** Who is let into a channel. */
export interface Admitted {
  readonly channel: string;
  readonly allowFrom: AllowList;
  /** Left out where pairing is off: then only the list counts. */
  readonly pairing?: Pick<PairingStore, "isApproved" | "request"> | undefined;
}

export interface AdmissionOptions extends Admitted {
  readonly groupPolicy?: GroupPolicy;
  readonly groupAllowFrom?: AllowList;
  /** Resolves when the notice is safe with the bus. The same event is told only once. */
  readonly notify: (place: ChatPlace, text: string, eventId: string) => Promise<void>;
  /** Hears of the private chats of those who are let in as themselves. */
  readonly contacts: { active(contact: Chat & { readonly senderId: string }): void };
  readonly clock: Pick<Clock, "now" | "elapsed">;
  readonly log: Log;
}

/** Rejects when that cannot be found out. */
export async function isAdmitted(admitted: Admitted, senderId: string): Promise<boolean> {
  return allows(admitted.allowFrom, senderId) || isKnown(admitted, senderId);
}

/**
 * Whether somebody was let in by name or by pairing, and not with everybody by `*`: only they can be the owner. Else
 * any stranger who writes in private could say yes to what is put to the owner. Rejects when that cannot be found out.
 */
export async function isKnown({ channel, allowFrom, pairing }: Admitted, senderId: string): Promise<boolean> {
  if (names(allowFrom, senderId)) return true;
  return pairing !== undefined && (await pairing.isApproved(channel, senderId));
}

export function createAdmission({
  groupPolicy = "mention",
  groupAllowFrom,
  notify,
  contacts,
  clock,
  log,
  ...admitted
}: AdmissionOptions): ChannelContext["admit"] {
  const { channel, pairing } = admitted;
  const notices = createRecent<{ at: number }>({ most: MOST_STRANGERS });
  let isTroubled = false;

  /** What fails lets nobody in, and is told once until it works again. */
  async function closed<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      const result = await work();
      isTroubled = false;
      return result;
    } catch (error) {
      if (!isTroubled) log.error("Could not find out who is let in, so nobody new is", { channel, error });
      isTroubled = true;
      return otherwise;
    }
  }

  function isHeardInGroup({ chatId, isAddressed }: Sender): boolean {
    switch (groupPolicy) {
      case "mention":
        return isAddressed;
      case "open":
        return true;
      case "allowlist":
        return allowsGroup(groupAllowFrom, chatId);
    }
  }

  async function offer(sender: Sender): Promise<void> {
    const id = identityOf(sender.senderId);
    if (pairing === undefined || id === undefined) return;
    const notice = notices.of(id, () => ({ at: Number.NEGATIVE_INFINITY }));
    if (clock.elapsed() - notice.at < MINUTE_MS) return;
    const before = notice.at;
    // Before anything is waited for, so that two messages at once get one notice.
    notice.at = clock.elapsed();
    const pending = await closed(() => pairing.request(channel, sender), undefined);
    if (pending === undefined) return;
    const minutes = Math.ceil((Date.parse(pending.expiresAt) - clock.now()) / MINUTE_MS);
    const { chatId, thread, eventId } = sender;
    try {
      await notify(
        { chatId, ...(thread === undefined ? {} : { thread }) },
        pairingOffer(showCode(pending.code), Math.max(1, minutes)),
        eventId,
      );
    } catch (error) {
      // The platform will bring the event again.
      notice.at = before;
      throw error;
    }
  }

  return async (sender) => {
    const { senderId, chatId, isPrivate } = sender;
    const isOurs =
      names(admitted.allowFrom, senderId) || (await closed(() => isKnown(admitted, senderId), false));
    if (isOurs || isOpenToAll(admitted.allowFrom)) {
      if (!isPrivate) return isHeardInGroup(sender);
      if (isOurs) contacts.active({ channel, chatId, senderId });
      return true;
    }
    if (isPrivate) await offer(sender);
    return false;
  };
}

export interface AdmissionWarningOptions {
  readonly allowFrom: AllowList;
  readonly pairing: boolean;
  /** `gateway.owner` is set. */
  readonly hasOwner?: boolean;
}

/** What the owner should know of a channel's list when it starts. */
export function admissionWarning(
  channel: string,
  { allowFrom, pairing, hasOwner = true }: AdmissionWarningOptions,
): string | undefined {
  const setting = `channels.${channel}.allowFrom`;
  if (isOpenToNobody(allowFrom) && !pairing)
    return `${setting} is empty, so nobody is answered. Add your id, or "*" for everybody`;
  if (isOpenToAll(allowFrom) && !namesAnybody(allowFrom) && !hasOwner)
    return `${setting} lets everybody in, and nobody who is let in by "*" is taken for the owner, who is asked before what only you may allow. Set gateway.owner to your own chat, or add your id to the list`;
  return undefined;
}
