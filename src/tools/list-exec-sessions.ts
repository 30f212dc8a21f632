/** The tool that lists the commands that go on. */

import * as v from "valibot";
import type { ExecSessionInfo } from "../core/exec-sessions.ts";
import { defineTool, toolOk } from "../core/tool.ts";
import { oneLine } from "../lib/text.ts";

const COMMAND_CHARS = 120;

export const listExecSessions = defineTool({
  name: "list_exec_sessions",
  section: "exec",
  description: "List the commands of this conversation that go on as sessions, with the ids for write_stdin.",
  parameters: v.strictObject({}),
  readOnly: true,

  async execute(_, { sessionKey, ports: { execSessions } }) {
    const sessions = execSessions.list(sessionKey);
    if (sessions.length === 0) return toolOk("There are no sessions");
    return toolOk(sessions.map(describe).join("\n"));
  },
});

function describe(session: ExecSessionInfo): string {
  const { id, command, cwdShown, running, elapsedMs, idleMs, remainingMs } = session;
  const facts = [
    running ? "running" : "ended, its end not told yet",
    `started ${seconds(elapsedMs)} ago`,
    `last asked for ${seconds(idleMs)} ago`,
    ...(running && remainingMs !== undefined ? [`ended in ${seconds(remainingMs)}`] : []),
    `in ${oneLine(cwdShown, 200)}`,
  ];
  return `${id}: ${oneLine(command, COMMAND_CHARS)}\n  ${facts.join(", ")}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}
