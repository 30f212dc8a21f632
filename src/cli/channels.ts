/** `nanobot channels`: which there are, how they are, and whether their credentials are right. */

import * as v from "valibot";
import type { ChannelStatus } from "../core/channel.ts";
import { safeJson } from "../lib/safe-json.ts";
import { oneLine } from "../lib/text.ts";
import { requireGateway } from "./ask-gateway.ts";
import { type CommandContext, defineCommand, type ExitCode, textOption } from "./command.ts";

const json = { type: "boolean", about: "print JSON" } as const;
const LONGEST_DETAIL = 200;
const LONGEST_NAME = 60;

const statuses = v.array(
  v.object({
    name: v.string(),
    state: v.picklist([
      "starting",
      "connected",
      "disconnected",
      "failed",
      "stopped",
    ] satisfies ChannelStatus["state"][]),
    detail: v.nullable(v.string()),
    heardAt: v.nullable(v.string()),
    restarts: v.number(),
  }),
);

async function list({ app, options }: CommandContext): Promise<ExitCode> {
  const channels = await app.channels();
  const { terminal } = app.platform;
  if (options["json"] === true) {
    terminal.out(`${safeJson(channels, 2)}\n`);
    return 0;
  }
  for (const { name, enabled, problem } of channels) {
    const wrong = problem === undefined ? "" : `  ✗ ${oneLine(problem, LONGEST_DETAIL)}`;
    terminal.out(`${oneLine(name, LONGEST_NAME).padEnd(12)} ${enabled ? "enabled" : "-"}${wrong}\n`);
  }
  return channels.some(({ enabled, problem }) => enabled && problem !== undefined) ? 1 : 0;
}

async function status({ app, options, signal }: CommandContext): Promise<ExitCode> {
  const found = v.parse(statuses, await requireGateway(app, "channels.status", {}, signal));
  const { terminal } = app.platform;
  if (options["json"] === true) terminal.out(`${safeJson(found, 2)}\n`);
  else if (found.length === 0) terminal.out("No channel is enabled\n");
  else
    for (const { name, state, detail, heardAt, restarts } of found) {
      const heard = heardAt === null ? "never heard from" : `last heard from ${heardAt}`;
      const times = restarts === 1 ? "once" : `${restarts} times`;
      const again = restarts > 0 ? `, started again ${times}` : "";
      const what = detail === null ? "" : `  ${oneLine(detail, LONGEST_DETAIL)}`;
      terminal.out(`${name.padEnd(12)} ${state.padEnd(12)} ${heard}${again}${what}\n`);
    }
  return found.every(({ state }) => state === "connected" || state === "starting") ? 0 : 1;
}

async function test({ app, positionals, options, signal }: CommandContext): Promise<ExitCode> {
  const [name = ""] = positionals;
  const sendTo = textOption(options, "send");
  const found = await app.testChannel(name, { sendTo }, signal);
  app.platform.terminal.out(`${oneLine(found, LONGEST_DETAIL)}\n`);
  return 0;
}

export const command = defineCommand({
  about: "List the channels, ask a running gateway how they are, or test one",
  subcommands: {
    list: { about: "List the channels, and which are enabled", options: { json }, run: list },
    status: { about: "Ask the running gateway how its channels are", options: { json }, run: status },
    test: {
      about: "Try the credentials of a channel, without starting it",
      positionals: ["NAME"],
      options: {
        send: { type: "string", value: "CHAT", about: "send a message to this chat too" },
      },
      ownerOnly: true,
      run: test,
    },
  },
});
