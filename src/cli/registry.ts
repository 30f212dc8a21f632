/** Every command, by name. Each is loaded only when it is asked for. */

import type { Command } from "./command.ts";

type Load = () => Promise<{ readonly command: Command }>;

export const commands: Readonly<Record<string, Load>> = {
  agent: () => import("./agent.ts"),
  audit: () => import("./audit.ts"),
  channels: () => import("./channels.ts"),
  config: () => import("./config.ts"),
  cron: () => import("./cron.ts"),
  gateway: () => import("./gateway.ts"),
  heartbeat: () => import("./heartbeat.ts"),
  memory: () => import("./memory.ts"),
  onboard: () => import("./onboard.ts"),
  outbox: () => import("./outbox.ts"),
  pairing: () => import("./pairing.ts"),
  providers: () => import("./providers.ts"),
  sessions: () => import("./sessions.ts"),
  skills: () => import("./skills.ts"),
  status: () => import("./status.ts"),
  tasks: () => import("./tasks.ts"),
  tools: () => import("./tools.ts"),
  usage: () => import("./usage.ts"),
};

/** Other names for them. */
export const aliases: Readonly<Record<string, string>> = {
  chat: "agent",
  run: "gateway",
};
