/** `nanobot heartbeat`: lets the running gateway look at the tasks of HEARTBEAT.md. */

import * as v from "valibot";
import type { BeatResult } from "../core/schedule.ts";
import { heartbeatCameTo } from "../lib/phrases.ts";
import { requireGateway } from "./ask-gateway.ts";
import { type CommandContext, defineCommand, type ExitCode } from "./command.ts";

const answer: v.GenericSchema<unknown, BeatResult> = v.variant("kind", [
  v.object({ kind: v.picklist(["no tasks", "skipped", "begun", "running already"]) }),
  v.object({ kind: v.literal("paused"), leftMs: v.number() }),
  v.object({ kind: v.literal("undecided"), problem: v.string() }),
]);

async function now({ app, signal }: CommandContext): Promise<ExitCode> {
  const result = v.parse(answer, await requireGateway(app, "heartbeat.now", {}, signal));
  const { terminal } = app.platform;
  const sentence = `${app.mask(heartbeatCameTo(result))}\n`;
  if (result.kind === "undecided") {
    terminal.err(sentence);
    return 1;
  }
  terminal.out(sentence);
  return 0;
}

export const command = defineCommand({
  about: "Let the agent look at the tasks of HEARTBEAT.md",
  subcommands: {
    now: {
      about: "Look now, and work on what is due, in the gateway that runs",
      ownerOnly: true,
      run: now,
    },
  },
});
