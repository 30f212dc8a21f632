/** Whether a text may be written to a program that runs: what the program would run of it is judged like any command. */

import type { ExecSessionInput } from "../core/exec-sessions.ts";
import type { ToolShell } from "../core/tool.ts";

/** No program has this name: where it turns up, the input is code. */
const MARKER = "nanobot-input-marker";

/** All that was written before is judged again with it, because a command may come in pieces. */
export function createInputGuard(permit: ToolShell["permit"]): ToolShell["permitInput"] {
  return async (session, chars, signal) => {
    const { command, written, cwd, shell } = session;
    const reading = await howItReads(session);
    if (reading === "data") return { decision: "allow" };
    if (written === undefined) {
      const reason = "more was written to this shell than can be judged; end it and start another";
      return { decision: "deny", reason };
    }
    const input = written + chars;
    const judged = reading === "code" ? withInput(command, input) : input;
    const answer = await permit(judged, { cwd, signal, shell });
    if (answer.decision !== "ask") return answer;
    return { ...answer, what: `Write to \`${command}\`:\n${chars}` };
  };
}

/** `unclear` is a program that may well open a shell. */
async function howItReads({ command }: ExecSessionInput): Promise<"data" | "code" | "unclear"> {
  const [{ parseCommand }, { programName }, { opensShell }] = await Promise.all([
    import("./judge/parse-command.ts"),
    import("./judge/program-name.ts"),
    import("./judge/shell-openers.ts"),
  ]);
  const result = await parseCommand(withInput(command, MARKER));
  if (result.kind === "refused") return "unclear";
  const { commands, opaque } = result.parsed;
  const names = commands.map(programName);
  if (names.includes(MARKER) || opaque.some(({ text }) => text?.includes(MARKER))) return "code";
  return names.some((name) => name !== undefined && opensShell(name)) ? "unclear" : "data";
}

/** The command as it would be written if the input were known beforehand. */
function withInput(command: string, input: string): string {
  let end = "END_OF_INPUT";
  while (input.includes(end)) end += "_";
  return `{ ${command}\n} <<'${end}'\n${input}\n${end}\n`;
}
