/** The chat commands about who may talk to the agent, and about what it asks for: /pairing, /approve, /deny. */

import type { ApprovedSender, Pairing, PendingPairing } from "../core/access.ts";
import { escapeMarkdown } from "../lib/escape-markdown.ts";
import {
  answeredQuestion,
  MISSING_HERE,
  ONLY_KNOWN,
  ONLY_OWNER_ANSWERS,
  PAIRING_USAGE,
  pairingAnswered,
  pairingRevoked,
  pairingsListed,
  takesCode,
  UNKNOWN_PAIRING,
  UNKNOWN_QUESTION,
} from "../lib/phrases.ts";
import { showCode } from "../lib/show-code.ts";
import { oneLine } from "../lib/text.ts";
import type { CommandHandler, CommandPort } from "./command-port.ts";

/** Of each kind in the list. */
const MOST_LISTED = 20;
const LONGEST_NAME = 64;
const LONGEST_QUESTION = 300;

export const approve: CommandHandler = (port, rest) => answer(port, rest, true);
export const deny: CommandHandler = (port, rest) => answer(port, rest, false);

async function answer({ deps, message }: CommandPort, code: string, granted: boolean): Promise<string> {
  const { approvals } = deps.services;
  if (approvals === undefined) return MISSING_HERE.approvals;
  if (code === "") return takesCode(granted ? "approve" : "deny");
  const { channel, chatId, senderId } = message;
  const result = await approvals.answer(code, granted, { channel, chatId, senderId });
  switch (result.status) {
    case "answered":
      return answeredQuestion(granted, escapeMarkdown(oneLine(result.what, LONGEST_QUESTION)));
    case "unknown":
      return UNKNOWN_QUESTION;
    case "notAllowed":
      return ONLY_OWNER_ANSWERS;
  }
}

export const pairing: CommandHandler = async (port, rest) => {
  const { deps } = port;
  const known = deps.services.pairing;
  if (known === undefined) return MISSING_HERE.pairing;
  if (!(await isKnown(port))) return ONLY_KNOWN;
  const [action = "list", ...given] = rest.split(/\s+/).filter((word) => word !== "");
  const [first, second] = given;
  switch (action.toLowerCase()) {
    case "list":
      return given.length === 0 ? listed(await known.list(), deps.clock.now()) : PAIRING_USAGE;
    case "approve":
    case "deny": {
      // In one piece, or in the two that it is shown in.
      if (first === undefined || given.length > 2) return PAIRING_USAGE;
      const code = given.join("");
      const granted = action.toLowerCase() === "approve";
      const found = await (granted ? known.approve(code) : known.deny(code));
      return found === undefined ? UNKNOWN_PAIRING : pairingAnswered(granted, nameOf(found));
    }
    case "revoke":
      if (first === undefined || given.length > 2) return PAIRING_USAGE;
      return second === undefined ? revoked(known, first) : revoked(known, second, first);
    default:
      return PAIRING_USAGE;
  }
};

/** Whether whoever sent the command is more than somebody whom everybody's entry let in. */
export async function isKnown({ deps, message }: CommandPort): Promise<boolean> {
  const { channel, chatId, senderId } = message;
  return (await deps.services.isKnown?.({ channel, chatId, senderId })) ?? true;
}

async function revoked(known: Pairing, senderId: string, channel?: string): Promise<string> {
  const isRevoked = await known.revoke(senderId, channel);
  return pairingRevoked(isRevoked, shown(senderId), channel === undefined ? undefined : shown(channel));
}

/** Whatever others put into it, a name is a word or two on one line. */
function shown(untrusted: string): string {
  return escapeMarkdown(oneLine(untrusted, LONGEST_NAME));
}

function nameOf({ channel, senderId, displayName }: PendingPairing): string {
  const who = `${shown(channel)} ${shown(senderId)}`;
  const name = shown(displayName ?? "");
  return name === "" ? who : `${who} (${name})`;
}

function listed({ pending, approved }: Awaited<ReturnType<Pairing["list"]>>, now: number): string {
  return pairingsListed({
    pending: pending
      .slice(0, MOST_LISTED)
      .map((one) => `${showCode(one.code)}  ${nameOf(one)}, ${leftOf(one, now)}`),
    morePending: Math.max(0, pending.length - MOST_LISTED),
    approved: approved.slice(0, MOST_LISTED).map(approvedLine),
    moreApproved: Math.max(0, approved.length - MOST_LISTED),
  });
}

function leftOf({ expiresAt }: PendingPairing, now: number): string {
  const minutes = Math.max(0, Math.ceil((Date.parse(expiresAt) - now) / 60_000));
  return Number.isNaN(minutes) ? "soon over" : `valid ${minutes} min`;
}

function approvedLine({ channel, senderId, approvedAt }: ApprovedSender): string {
  const since = approvedAt === undefined ? "" : `, since ${shown(approvedAt.slice(0, 10))}`;
  return `${shown(channel)} ${shown(senderId)}${since}`;
}
