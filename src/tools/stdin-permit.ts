/** Whether a text may be written to a session. */

import type { Permit, ToolContext } from "../core/tool.ts";
import { wellFormed } from "../lib/text.ts";

export async function permitStdin(
  { session_id: id, chars = "" }: { session_id: string; chars?: string | undefined },
  { sessionKey, signal, ports: { execSessions, shell } }: ToolContext,
): Promise<Permit> {
  const session = chars === "" ? undefined : execSessions.input(id, sessionKey);
  // What is not there to be written to is told when it is tried.
  return session === undefined
    ? { decision: "allow" }
    : shell.permitInput(session, wellFormed(chars), signal);
}
