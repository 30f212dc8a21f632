/** Whether a text may be written to a session: what its program would run is judged like any command. */

import type { ExecSessionInfo } from "../core/exec-sessions.ts";
import type { Permit, ToolContext } from "../core/tool.ts";
import { parseCommand } from "../lib/command/parse-command.ts";
import { programName } from "../lib/command/program-name.ts";
import { wellFormed } from "../lib/text.ts";

/** No program has this name: where it turns up, the input is code. */
const MARKER = "nanobot-input-marker";
/** Programs that give a shell of their own to whoever types, here or elsewhere. */
const shellOpeners: ReadonlySet<string> = new Set(
  [
    "chroot doas docker kubectl login lxc machinectl nc ncat nsenter parallel podman runuser screen script",
    "socat ssh su sudo telnet tmux unshare",
  ].flatMap((names) => names.split(" ")),
);

/** All that was written before is judged again with it, because a command may come in pieces. */
export async function permitStdin(
  { session_id: id, chars = "" }: { session_id: string; chars?: string | undefined },
  { sessionKey, signal, ports: { execSessions, shell } }: ToolContext,
): Promise<Permit> {
  const session = execSessions.list(sessionKey).find((one) => one.id === id);
  // What is not there to be written to is told when it is tried.
  if (chars === "" || session === undefined || !session.running) return { decision: "allow" };
  const reading = await howItReads(session);
  if (reading === "data") return { decision: "allow" };
  if (session.written === undefined) {
    const reason = "more was written to this shell than can be judged; end it and start another";
    return { decision: "deny", reason };
  }
  const input = wellFormed(session.written + chars);
  const judged = reading === "code" ? withInput(session.command, input) : input;
  const permit = await shell.permit(judged, { cwd: session.cwd, signal, shell: session.shell });
  if (permit.decision !== "ask") return permit;
  return { ...permit, what: `Write to \`${session.command}\`:\n${chars}` };
}

/** `unclear` is a program that may well open a shell. */
async function howItReads({ command }: ExecSessionInfo): Promise<"data" | "code" | "unclear"> {
  const result = await parseCommand(withInput(command, MARKER));
  if (result.kind === "refused") return "unclear";
  const { commands, opaque } = result.parsed;
  const names = commands.map(programName);
  if (names.includes(MARKER) || opaque.some(({ text }) => text?.includes(MARKER))) return "code";
  return names.some((name) => name !== undefined && shellOpeners.has(name)) ? "unclear" : "data";
}

/** The command as it would be written if the input were known beforehand. */
function withInput(command: string, input: string): string {
  let end = "END_OF_INPUT";
  while (input.includes(end)) end += "_";
  return `{ ${command}\n} <<'${end}'\n${input}\n${end}\n`;
}
