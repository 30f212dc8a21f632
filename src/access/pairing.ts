/** Lets somebody new in by a code: strangers are given one, and whoever may talk to the agent says yes to it. */

import { randomBytes as cryptoRandomBytes } from "node:crypto";
import type { ApprovedSender, Pairing, PendingPairing } from "../core/access.ts";
import type { Sender } from "../core/channel.ts";
import { UserError } from "../core/errors.ts";
import type { Clock, FileSystem, Locks, Log } from "../core/platform.ts";
import { createAlone } from "../lib/alone.ts";
import { exactText } from "../lib/exact-text.ts";
import { explained, quote } from "../lib/file-error.ts";
import { createJsonFile } from "../lib/json-file.ts";
import { join } from "../lib/path.ts";
import { clip, oneLine, wellFormed } from "../lib/text.ts";
import { identityOf, isSamePerson } from "./allow.ts";
import { isSameCode, newCode, parseCode, type RandomBytes } from "./code.ts";
import {
  CODE_LASTS_MS,
  formatPairing,
  isoTime,
  noPairing,
  type PairingState,
  type PendingEntry,
  parsePairing,
} from "./pairing-file.ts";

/** Codes that wait at once, over all channels. */
const MOST_PENDING = 100;
/** New codes of a channel in a minute, so that strangers cannot use them up. */
const MOST_A_MINUTE = 3;
const MINUTE_MS = 60_000;
const MOST_APPROVED = 10_000;
/** No platform's ids come near. */
const LONGEST_ID = 500;
const LONGEST_NAME = 100;
const LONGEST_FILE = 16 * 1024 * 1024;

export interface PairingOptions {
  readonly files: FileSystem;
  readonly locks: Locks;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly log: Log;
  /** Absolute and real. */
  readonly workspace: string;
  readonly randomBytes?: RandomBytes;
  readonly mostPending?: number;
}

export interface PairingStore extends Pairing {
  /**
   * The code of a stranger, the same as long as it can be used. `undefined` when there are too many of them, or when
   * the file is damaged.
   */
  request(
    channel: string,
    sender: Pick<Sender, "senderId" | "chatId" | "displayName">,
  ): Promise<PendingPairing | undefined>;
  /** Rejects when that cannot be found out. */
  isApproved(channel: string, senderId: string): Promise<boolean>;
}

export function createPairing({
  files,
  locks,
  clock,
  log,
  workspace,
  randomBytes = cryptoRandomBytes,
  mostPending = MOST_PENDING,
}: PairingOptions): PairingStore {
  const path = join(workspace, ".nanobot", "pairing.json");
  const file = createJsonFile({ files, log, path, parse: parsePairing, longest: LONGEST_FILE });

  /** Without the codes that are too old, or of a time that has yet to come because the clock was wrong. */
  function current(state: PairingState): PairingState {
    const now = clock.now();
    const isUsable = ({ expiresMs }: PendingEntry) => expiresMs > now && expiresMs <= now + CODE_LASTS_MS;
    return { ...state, pending: state.pending.filter(isUsable) };
  }

  /** Throws a `UserError` for a damaged file. */
  async function load(): Promise<PairingState> {
    const state = await explained("read", path, file.read);
    if (state === "damaged") {
      throw new UserError(`Cannot read ${quote(path)}: it is damaged, so it lets nobody in`, {
        hint: "Mend it, or give it another name to begin a new one",
        exitCode: 1,
      });
    }
    return current(state === "missing" ? noPairing : state);
  }

  function save(state: PairingState): Promise<void> {
    return explained("write", path, () => file.write(formatPairing(state)));
  }

  /** Nobody else changes the file meanwhile. */
  const alone = createAlone({ locks, clock, name: `pairing:${workspace}`, path });

  function pendingOf(state: PairingState, channel: string, id: string): PendingEntry | undefined {
    return state.pending.find((entry) => entry.channel === channel && identityOf(entry.senderId) === id);
  }

  function isFull({ pending }: PairingState, channel: string): boolean {
    const minuteAgo = clock.now() - MINUTE_MS;
    const fresh = pending.filter((entry) => entry.channel === channel && entry.createdMs > minuteAgo);
    return pending.length >= mostPending || fresh.length >= MOST_A_MINUTE;
  }

  async function add(
    channel: string,
    { senderId, chatId, displayName }: Pick<Sender, "senderId" | "chatId" | "displayName">,
    id: string,
  ): Promise<PendingPairing | undefined> {
    const state = await load();
    const known = pendingOf(state, channel, id);
    if (known !== undefined || isFull(state, channel)) return known && toPending(known);
    const createdMs = clock.now();
    const expiresMs = createdMs + CODE_LASTS_MS;
    // Whoever says yes to somebody must see what their name is made of.
    const name = clip(exactText(oneLine(wellFormed(displayName ?? ""), LONGEST_NAME)), LONGEST_NAME);
    const entry: PendingEntry = {
      code: newCode(randomBytes, (code) => state.pending.some((other) => other.code === code)),
      channel,
      senderId,
      chatId,
      displayName: name === "" ? undefined : name,
      expiresAt: isoTime(expiresMs),
      createdMs,
      expiresMs,
    };
    await save({ ...state, pending: [...state.pending, entry] });
    return toPending(entry);
  }

  /** Takes a code out, which can be used no more. */
  function use(text: string, change: (state: PairingState, entry: PendingEntry) => PairingState) {
    return alone(async () => {
      const code = parseCode(text);
      const state = await load();
      const entry = state.pending.find((other) => code !== undefined && isSameCode(other.code, code));
      if (entry === undefined) return undefined;
      const rest = { ...state, pending: state.pending.filter((other) => other !== entry) };
      await save(change(rest, entry));
      return toPending(entry);
    });
  }

  return {
    async request(channel, sender) {
      const id = identityOf(sender.senderId);
      if (id === undefined || sender.senderId.length > LONGEST_ID || sender.chatId.length > LONGEST_ID)
        return undefined;
      const state = await file.read();
      if (state === "damaged") return undefined;
      const seen = current(state === "missing" ? noPairing : state);
      const known = pendingOf(seen, channel, id);
      // Strangers who write often cost no lock and no write.
      if (known !== undefined || isFull(seen, channel)) return known && toPending(known);
      return alone(() => add(channel, sender, id));
    },

    async isApproved(channel, senderId) {
      const id = identityOf(senderId);
      const state = await file.read();
      if (id === undefined || state === "missing" || state === "damaged") return false;
      return state.approved.some(
        (sender) => sender.channel === channel && identityOf(sender.senderId) === id,
      );
    },

    async list() {
      const { pending, approved } = await load();
      return { pending: pending.map(toPending), approved };
    },

    approve: (code) =>
      use(code, (state, { channel, senderId }) => {
        const id = identityOf(senderId) ?? senderId;
        const isSame = (sender: ApprovedSender) =>
          sender.channel === channel && identityOf(sender.senderId) === id;
        if (state.approved.some(isSame)) return state;
        if (state.approved.length >= MOST_APPROVED) {
          throw new UserError(`Cannot let anybody else in: ${MOST_APPROVED} are let in already`, {
            hint: 'Revoke some with "nanobot pairing revoke ID"',
          });
        }
        const added = { channel, senderId: id, approvedAt: isoTime(clock.now()) };
        return { ...state, approved: [...state.approved, added] };
      }),

    deny: (code) => use(code, (state) => state),

    revoke: (senderId, channel) =>
      alone(async () => {
        const state = await load();
        const isMeant = (sender: ApprovedSender) =>
          (channel === undefined || sender.channel === channel) && isSamePerson(sender.senderId, senderId);
        const approved = state.approved.filter((sender) => !isMeant(sender));
        if (approved.length === state.approved.length) return false;
        await save({ ...state, approved });
        return true;
      }),
  };
}

function toPending({
  code,
  channel,
  senderId,
  chatId,
  displayName,
  expiresAt,
}: PendingEntry): PendingPairing {
  return { code, channel, senderId, chatId, displayName, expiresAt };
}
