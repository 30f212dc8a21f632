/** What the audit keeps of a call: bounded, masked, and the result by its digest alone. */

import { createHash } from "node:crypto";
import type { AuditDecision, AuditEntry } from "../core/audit.ts";
import type { InboundId, InboundMessage } from "../core/messages.ts";
import type { ToolCall } from "../core/model.ts";
import type { StoredToolCall } from "../core/session.ts";
import { type ToolResult, toolError } from "../core/tool.ts";
import type { ToolRun } from "../core/tool-run.ts";
import { maskLookalikes } from "../lib/mask.ts";
import { oneLine, wellFormed } from "../lib/text.ts";
import { failedBecause, INTERRUPTED } from "../lib/tool-failure.ts";

const ERROR_CHARS = 500;

export interface CallOutcome {
  readonly decision: AuditDecision;
  /** As the model gets it. */
  readonly result: ToolResult;
  readonly durationMs: number;
}

/** `mask` takes out the secrets that are known; what only looks like one goes too, since nobody needs it in a record. */
export function auditEntry(
  call: ToolCall,
  { sessionKey, turn, origin, sender }: Pick<ToolRun, "sessionKey" | "turn" | "origin" | "sender">,
  { decision, result, durationMs }: CallOutcome,
  mask: (text: string) => string,
): AuditEntry {
  const clean = (text: string) => maskLookalikes(mask(wellFormed(text)));
  const { ok, text, exitCode, external } = result;
  return {
    call: call.id,
    turn,
    session: sessionKey,
    origin,
    sender,
    tool: clean(call.name),
    arguments: clean(call.arguments),
    decision: decision.kind === "refused" ? { ...decision, why: clean(decision.why) } : decision,
    ok,
    durationMs,
    ...(ok ? {} : { error: oneLine(clean(failedBecause(text) ?? text), ERROR_CHARS) }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(external === true ? { external } : {}),
    digest: createHash("sha256").update(text).digest("hex"),
  };
}

/**
 * Of a call that had started in a process that ended, found by the turn of `message`. Who had asked for it is
 * known only where that was this same message.
 */
export function interruptedEntry(
  { id, function: { name, arguments: text } }: StoredToolCall,
  turn: InboundId | undefined,
  message: InboundMessage,
  mask: (text: string) => string,
): AuditEntry {
  const isSame = turn === message.id;
  return auditEntry(
    { id, name, arguments: text },
    {
      sessionKey: message.sessionKey,
      turn: turn ?? message.id,
      origin: message.origin,
      sender: isSame ? message.senderId : "",
    },
    { decision: { kind: "interrupted" }, result: toolError(INTERRUPTED), durationMs: 0 },
    mask,
  );
}
