/** A call as the inside of a line: bounded when it is written, checked when it is read. */

import type { AuditDecision, AuditEntry, AuditRecord } from "../core/audit.ts";
import type { InboundId, Origin } from "../core/messages.ts";
import { isObject } from "../lib/is-object.ts";
import { parseJson } from "../lib/parse-json.ts";
import { head, wellFormed } from "../lib/text.ts";
import { sha256 } from "./chain.ts";

const LONGEST_ARGUMENTS = 16 * 1024;
/** Of names, errors and reasons. */
const LONGEST_TEXT = 500;

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const DIGEST = /^[0-9a-f]{64}$/;
const origins: ReadonlySet<unknown> = new Set<Origin>(["chat", "cron", "heartbeat", "subagent", "api"]);

function short(text: string): string {
  return wellFormed(head(text, LONGEST_TEXT));
}

/** What is left out can be recognised by its digest. */
function shortArguments(text: string): string {
  if (text.length <= LONGEST_ARGUMENTS) return wellFormed(text);
  const kept = head(text, LONGEST_ARGUMENTS);
  const whole = wellFormed(text);
  return `${wellFormed(kept)}[… ${text.length - kept.length} characters left out; SHA-256 of the whole: ${sha256(whole)}]`;
}

function shortDecision(decision: AuditDecision): AuditDecision {
  switch (decision.kind) {
    case "ran":
    case "interrupted":
      return { kind: decision.kind };
    case "approved":
      return { kind: "approved", by: short(decision.by) };
    case "refused": {
      const { why, by } = decision;
      return { kind: "refused", why: short(why), ...(by === undefined ? {} : { by: short(by) }) };
    }
  }
}

/** To the microsecond: more digits only fill the disk. */
function milliseconds(value: number): number {
  return value >= 0 && value <= Number.MAX_SAFE_INTEGER ? Math.round(value * 1_000) / 1_000 : 0;
}

/** The inside of a JSON object, without its braces. */
export function formatEntry(entry: AuditEntry, { id, time }: Pick<AuditRecord, "id" | "time">): string {
  const { durationMs, error, exitCode, external, digest } = entry;
  const line: Omit<AuditRecord, "hash" | "lost"> = {
    id,
    time,
    call: short(entry.call),
    turn: short(entry.turn) as InboundId,
    session: short(entry.session),
    origin: entry.origin,
    sender: short(entry.sender),
    tool: short(entry.tool),
    arguments: shortArguments(entry.arguments),
    decision: shortDecision(entry.decision),
    ok: entry.ok,
    durationMs: milliseconds(durationMs),
    ...(error === undefined ? {} : { error: short(error) }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(external === undefined ? {} : { external }),
    ...(digest === undefined ? {} : { digest: short(digest) }),
  };
  return JSON.stringify(line).slice(1, -1);
}

function parseDecision(value: unknown): AuditDecision | undefined {
  if (!isObject(value)) return undefined;
  const { kind, by, why } = value;
  if (kind === "ran" || kind === "interrupted") return { kind };
  if (kind === "approved") return typeof by === "string" ? { kind, by } : undefined;
  if (kind !== "refused" || typeof why !== "string") return undefined;
  if (by === undefined) return { kind, why };
  return typeof by === "string" ? { kind, why, by } : undefined;
}

const isText = (value: unknown): value is string => typeof value === "string";
const isOrigin = (value: unknown): value is Origin => origins.has(value);

/** Reads one line; `undefined` when it is damaged. */
export function parseRecord(line: string): AuditRecord | undefined {
  const value = parseJson(line);
  if (!isObject(value)) return undefined;
  const { id, time, call, turn, session, origin, sender, tool, ok, durationMs, hash } = value;
  const { arguments: text, error, exitCode, external, digest, lost } = value;
  const decision = parseDecision(value["decision"]);
  if (!isText(id) || !isText(time) || !TIME.test(time) || Number.isNaN(Date.parse(time))) return undefined;
  if (!isText(call) || !isText(turn) || !isText(session) || !isText(sender) || !isText(tool))
    return undefined;
  if (!isText(text) || !isOrigin(origin) || decision === undefined || typeof ok !== "boolean")
    return undefined;
  if (typeof durationMs !== "number" || !isText(hash) || !DIGEST.test(hash)) return undefined;
  return {
    id,
    time,
    call,
    // Nothing but its being a text makes it an id.
    turn: turn as InboundId,
    session,
    origin,
    sender,
    tool,
    arguments: text,
    decision,
    ok,
    durationMs,
    ...(isText(error) ? { error } : {}),
    ...(typeof exitCode === "number" || exitCode === null ? { exitCode } : {}),
    ...(typeof external === "boolean" ? { external } : {}),
    ...(isText(digest) ? { digest } : {}),
    hash,
    ...(typeof lost === "number" ? { lost } : {}),
  };
}
