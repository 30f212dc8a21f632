/** Who may talk to this gateway, whom it may write to, who owns it, and what is put to them. */

import {
  type Admitted,
  admissionWarning,
  createAdmission,
  isAdmitted,
  isKnown,
} from "../../access/admission.ts";
import { createDurableApprovals } from "../../access/durable-approvals.ts";
import { createOwner } from "../../access/owner.ts";
import { createPairing, type PairingStore } from "../../access/pairing.ts";
import type { FindOwner } from "../../core/access.ts";
import type { Answerer, Approvals } from "../../core/approval.ts";
import type { ChannelContext } from "../../core/channel.ts";
import type { Log, Platform } from "../../core/platform.ts";
import type { SessionStore } from "../../core/session.ts";
import type { Secrets } from "../../lib/secrets.ts";
import { isOwnTurn } from "../../subagents/own-names.ts";
import type { ConfiguredChannel } from "../channels.ts";
import type { Settings } from "../settings.ts";
import type { Notify } from "./notify.ts";

export interface AccessParts {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly notify: Notify;
  /** As far as it is known by now. */
  readonly channelOf: (name: string) => ConfiguredChannel | undefined;
  sessions(): Promise<SessionStore>;
}

export interface Access {
  readonly pairing: PairingStore;
  readonly approvals: Approvals;
  readonly findOwner: FindOwner;
  admissionTo(channel: ConfiguredChannel): ChannelContext["admit"];
  /** Whether somebody was let in by name, by pairing, by a secret or as the owner, and not only with everybody. */
  isKnown(who: Answerer): Promise<boolean>;
  /** What the owner should know of who is let in. */
  warningsOf(channel: ConfiguredChannel): readonly string[];
  /** Whether the agent may write to a chat of its own accord. */
  mayWrite(channel: string, chatId: string): Promise<boolean>;
  /** Resolves when what is remembered is written. */
  flush(): Promise<void>;
}

export async function openPairing({
  platform,
  settings,
  log,
}: Pick<AccessParts, "platform" | "settings" | "log">): Promise<PairingStore> {
  const { files, locks, clock } = platform;
  const { workspace } = await settings.paths();
  return createPairing({ files, locks, clock, log, workspace });
}

export async function openAccess(parts: AccessParts): Promise<Access> {
  const { platform, settings, log, secrets, notify, channelOf, sessions } = parts;
  const { files, clock } = platform;
  const { workspace } = await settings.paths();
  const { owner: configured, access } = await settings.gateway();
  const pairing = await openPairing(parts);

  const admitted = ({ name, allowFrom, pairing: isOn }: ConfiguredChannel): Admitted => ({
    channel: name,
    allowFrom,
    pairing: isOn ? pairing : undefined,
  });

  const owner = createOwner({
    configured,
    files,
    log,
    clock,
    workspace,
    async isAdmitted(channel, senderId) {
      const known = channelOf(channel);
      return known !== undefined && isKnown(admitted(known), senderId);
    },
  });

  const approvals = await createDurableApprovals({
    files,
    clock,
    log,
    workspace,
    owner: owner.find,
    approvers: access.approvers,
    put: (chat, content, buttons, key) => notify(chat, { content, buttons, id: key }),
    mask: secrets.mask,
    // A task that the end of the program cuts off is not begun again.
    isResumed: ({ turn }) => !isOwnTurn(turn),
  });

  async function isOwners(channel: string, chatId: string): Promise<boolean> {
    const chat = await owner.find();
    return chat?.channel === channel && chat.chatId === chatId;
  }

  return {
    pairing,
    approvals,
    findOwner: owner.find,
    flush: owner.flush,

    admissionTo(channel) {
      const { name, groupPolicy, groupAllowFrom } = channel;
      return createAdmission({
        ...admitted(channel),
        groupPolicy,
        groupAllowFrom,
        notify: (place, content, eventId) =>
          notify({ ...place, channel: name }, { content, id: `pairing:${eventId}` }),
        contacts: owner,
        clock,
        log,
      });
    },

    async isKnown({ channel: name, chatId, senderId }) {
      const channel = channelOf(name);
      if (channel === undefined) return false;
      if (channel.admits === "secret" || (await isOwners(name, chatId))) return true;
      return isKnown(admitted(channel), senderId);
    },

    warningsOf({ name, admits, allowFrom, pairing: isOn }) {
      if (admits === "secret") return [];
      const warning = admissionWarning(name, {
        allowFrom,
        pairing: isOn,
        hasOwner: configured !== undefined,
      });
      return warning === undefined ? [] : [warning];
    },

    async mayWrite(name, chatId) {
      const channel = channelOf(name);
      if (channel === undefined) return false;
      // On most platforms a private chat has the id of the person.
      if ((await isAdmitted(admitted(channel), chatId)) || (await isOwners(name, chatId))) return true;
      // Only who is let in ever began a session.
      return (await sessions()).exists(`${name}:${chatId}`);
    },
  };
}
