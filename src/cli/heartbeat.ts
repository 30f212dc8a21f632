/** `nanobot heartbeat`: lets the running gateway look at the tasks of HEARTBEAT.md. */

import type { JsonValue } from "../core/json.ts";
import type { BeatResult } from "../core/schedule.ts";
import { HEARTBEAT_CAME_TO } from "../lib/phrases.ts";
import { requireGateway } from "./ask-gateway.ts";
import { type CommandContext, defineCommand, type ExitCode } from "./command.ts";

function isBeatResult(value: JsonValue): value is BeatResult {
  return typeof value === "string" && Object.hasOwn(HEARTBEAT_CAME_TO, value);
}

async function now({ app, signal }: CommandContext): Promise<ExitCode> {
  const result = await requireGateway(app, "heartbeat.now", {}, signal);
  if (!isBeatResult(result)) throw new Error(`The gateway gave no result of a heartbeat: ${typeof result}`);
  app.platform.terminal.out(`${HEARTBEAT_CAME_TO[result]}\n`);
  return 0;
}

export const command = defineCommand({
  about: "Let the agent look at the tasks of HEARTBEAT.md",
  subcommands: {
    now: { about: "Look now, and work on what is due", ownerOnly: true, run: now },
  },
});
