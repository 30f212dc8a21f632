/** `pairing.json`, in the original's shape with a few more fields. */

import type { ApprovedSender, PendingPairing } from "../core/access.ts";
import { isObject } from "../lib/is-object.ts";
import { showCode } from "../lib/show-code.ts";
import { identityOf } from "./allow.ts";
import { parseCode } from "./code.ts";

/** How long a code can be used. */
export const CODE_LASTS_MS = 10 * 60_000;

export interface PendingEntry extends PendingPairing {
  /** Milliseconds since the epoch. */
  readonly createdMs: number;
  readonly expiresMs: number;
}

export interface PairingState {
  readonly pending: readonly PendingEntry[];
  readonly approved: readonly ApprovedSender[];
  /** What else the file holds, which is not ours to drop. */
  readonly rest: Readonly<Record<string, unknown>>;
}

export const noPairing: PairingState = { pending: [], approved: [], rest: {} };

function idText(value: unknown): string | undefined {
  const isId = typeof value === "string" || Number.isSafeInteger(value);
  return isId && identityOf(String(value)) !== undefined ? String(value) : undefined;
}

/** In seconds, as the original writes its times. */
function msOf(value: unknown): number | undefined {
  return typeof value === "number" && Math.abs(value) < 1e11 ? Math.round(value * 1_000) : undefined;
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function parsePending(key: string, value: unknown): PendingEntry | undefined {
  if (!isObject(value)) return undefined;
  const code = parseCode(key);
  const senderId = idText(value["sender_id"]);
  const expiresMs = msOf(value["expires_at"]);
  const { channel, name } = value;
  if (code === undefined || senderId === undefined || expiresMs === undefined) return undefined;
  if (typeof channel !== "string" || channel === "") return undefined;
  return {
    code,
    channel,
    senderId,
    // The original keeps none; its private chats mostly have the id of the person.
    chatId: idText(value["chat_id"]) ?? identityOf(senderId) ?? "",
    displayName: typeof name === "string" ? name : undefined,
    expiresAt: isoTime(expiresMs),
    createdMs: msOf(value["created_at"]) ?? expiresMs - CODE_LASTS_MS,
    expiresMs,
  };
}

/** `undefined` when it is no list of lists. Elements that name nobody are left out. */
function parseApproved(value: unknown, times: unknown): readonly ApprovedSender[] | undefined {
  const approved: ApprovedSender[] = [];
  if (!isObject(value)) return undefined;
  for (const [channel, ids] of Object.entries(value)) {
    if (!Array.isArray(ids ?? [])) return undefined;
    const since = isObject(times) && Object.hasOwn(times, channel) ? times[channel] : undefined;
    for (const id of Array.isArray(ids) ? ids : []) {
      const senderId = idText(id);
      if (senderId === undefined) continue;
      const time = isObject(since) && Object.hasOwn(since, senderId) ? since[senderId] : undefined;
      approved.push({ channel, senderId, approvedAt: typeof time === "string" ? time : undefined });
    }
  }
  return approved;
}

/** `undefined` when it is damaged. Null in the place of a map is an empty one. */
export function parsePairing(value: unknown): PairingState | undefined {
  if (value === null) return noPairing;
  if (!isObject(value)) return undefined;
  const { approved: ids, approved_at: times, pending: codes, ...rest } = value;
  const approved = parseApproved(ids ?? {}, times);
  const waiting = codes ?? {};
  if (approved === undefined || !isObject(waiting)) return undefined;
  const pending = Object.entries(waiting).flatMap(([code, entry]) => parsePending(code, entry) ?? []);
  return { pending, approved, rest };
}

/** Of entries with the same key in one object, made without a setter of its prototype. */
function grouped<Value>(
  entries: readonly (readonly [string, Value])[],
): ReadonlyMap<string, readonly Value[]> {
  const groups = new Map<string, Value[]>();
  for (const [key, value] of entries) {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

export function formatPairing({ pending, approved, rest }: PairingState): object {
  const ids = grouped(approved.map(({ channel, senderId }) => [channel, senderId] as const));
  const times = grouped(
    approved.flatMap(({ channel, senderId, approvedAt }) =>
      approvedAt === undefined ? [] : [[channel, [senderId, approvedAt] as const] as const],
    ),
  );
  const codes = pending.map((entry) => {
    const { code, channel, senderId, chatId, displayName, createdMs, expiresMs } = entry;
    const told = {
      channel,
      sender_id: senderId,
      created_at: createdMs / 1_000,
      expires_at: expiresMs / 1_000,
      chat_id: chatId,
      ...(displayName === undefined ? {} : { name: displayName }),
    };
    return [showCode(code), told] as const;
  });
  return {
    ...rest,
    approved: Object.fromEntries(ids),
    approved_at: Object.fromEntries([...times].map(([channel, all]) => [channel, Object.fromEntries(all)])),
    pending: Object.fromEntries(codes),
  };
}
