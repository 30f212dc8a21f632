/** The agent behind the terminal: one channel, a bus in memory, and no other chat but through a gateway. */

import type { App, ConverseOptions } from "../core/app.ts";
import type { AskOwner } from "../core/approval.ts";
import type { Bus } from "../core/bus.ts";
import type { Channel } from "../core/channel.ts";
import type { MediaStore } from "../core/media.ts";
import type { FinalMessage } from "../core/messages.ts";
import type { Log, Platform } from "../core/platform.ts";
import type { Outbound } from "../core/tool.ts";
import type { ToolRun } from "../core/toolbox.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { createAgent } from "./agent.ts";
import type { Settings } from "./settings.ts";

export interface ConversationParts {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly agent: ReturnType<typeof createAgent>;
  readonly pairing: App["pairing"];
  readonly askGateway: App["askGateway"];
  media(): Promise<MediaStore>;
  /** Tools put their questions to it from now on; to nobody when it is `undefined`. */
  setAsker(ask: AskOwner | undefined): void;
  setOutbound(outbound: (run: ToolRun) => Outbound): void;
}

export async function converse(
  parts: ConversationParts,
  { config, model, isModelWanted, showReasoning = false }: ConverseOptions,
  signal: AbortSignal,
): Promise<FinalMessage["outcome"] | undefined> {
  const [{ createMemoryBus }, { runBehind }, { createOutbound, throughGateway }] = await Promise.all([
    import("../bus/memory.ts"),
    import("../channels/delivery/run-behind.ts"),
    import("./outbound.ts"),
  ]);
  const { settings, log, agent, setAsker } = parts;
  for (const warning of (await settings.loaded()).warnings) log.warn(warning);
  const bus = createMemoryBus();
  const channel = await openTerminal(parts, config, bus);
  setAsker(channel.ask);
  const elsewhere = throughGateway(parts.askGateway);
  parts.setOutbound(createOutbound({ bus, mask: parts.secrets.mask, elsewhere }));
  const dispatch = await agent.dispatch({
    bus,
    model,
    isModelWanted,
    showReasoning,
    isWaiting: () => false,
    waitsForFinal: () => true,
    services: { pairing: await parts.pairing() },
  });
  try {
    return await runBehind({ channel, bus, agent: dispatch.run, signal });
  } finally {
    setAsker(undefined);
  }
}

async function openTerminal(
  { platform, settings, log, secrets, media }: ConversationParts,
  config: ConverseOptions["config"],
  bus: Bus,
): Promise<Channel> {
  const [{ channel }, { parse }] = await Promise.all([
    import("../channels/cli/channel.ts"),
    import("valibot"),
  ]);
  const { files, clock, ids, env, terminal, random, fetch } = platform;
  return channel.create(parse(channel.config, config), {
    emit: (message, signal) => bus.publishInbound(message, signal),
    // Whoever sits at the terminal is the owner.
    admit: async () => true,
    heard: () => {},
    report: () => {},
    expand: (value) => value,
    addSecret: (secret) => secrets.add([secret]),
    publicUrl: undefined,
    workspace: (await settings.paths()).workspace,
    media,
    fetch,
    env,
    random,
    files,
    clock,
    ids,
    log,
    terminal,
  });
}
