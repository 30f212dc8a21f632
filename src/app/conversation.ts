/** The agent behind the terminal: one channel, a bus in memory, and no other chat but through a gateway. */

import type { MemoryBus } from "../bus/memory.ts";
import type { App, ConverseOptions } from "../core/app.ts";
import type { AskOwner } from "../core/approval.ts";
import type { Channel } from "../core/channel.ts";
import type { MediaStore } from "../core/media.ts";
import type { FinalMessage } from "../core/messages.ts";
import type { Spawner, Tasks } from "../core/tasks.ts";
import type { Outbound } from "../core/tool.ts";
import type { ToolRun } from "../core/tool-run.ts";
import { never } from "../lib/abort.ts";
import type { createAgent } from "./agent.ts";
import { putIntoMemory } from "./last-memory.ts";
import type { createMemory } from "./memory.ts";
import { createLateTasks, type TasksParts } from "./tasks.ts";

export interface ConversationParts extends TasksParts {
  readonly memory: ReturnType<typeof createMemory>;
  readonly agent: ReturnType<typeof createAgent>;
  readonly pairing: App["pairing"];
  readonly askGateway: App["askGateway"];
  media(): Promise<MediaStore>;
  /** Tools put their questions to it from now on; to nobody when it is `undefined`. */
  setAsker(ask: AskOwner | undefined): void;
  use(ports: { outbound: (run: ToolRun) => Outbound; spawner: (run: ToolRun) => Spawner | undefined }): void;
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
  const { settings, log, platform, agent, setAsker } = parts;
  for (const warning of (await settings.loaded()).warnings) log.warn(warning);
  const bus = createMemoryBus();
  const tasks = createLateTasks(parts, { model, publish: bus.publishInbound, isRecorded: false });
  const channel = await openTerminal(parts, config, { bus, tasks });
  setAsker(channel.ask);
  const elsewhere = throughGateway(parts.askGateway);
  parts.use({
    outbound: createOutbound({ bus, mask: parts.secrets.mask, elsewhere }),
    spawner: tasks.spawnerFor,
  });
  const isOneShot = config["message"] !== undefined;
  const consolidation = await parts.memory.consolidation(model, { isPatient: !isOneShot });
  const dispatch = await agent.dispatch({
    bus,
    model,
    isModelWanted,
    showReasoning,
    isWaiting: () => false,
    waitsForFinal: () => true,
    consolidation,
    services: { pairing: await parts.pairing(), memory: await parts.memory.store(), tasks },
  });
  const ended = new AbortController();
  // A chat can fall silent, and finds what those before it have left.
  const remembering = isOneShot ? undefined : consolidation.run(AbortSignal.any([signal, ended.signal]));
  try {
    const outcome = await runBehind({ channel, bus, agent: dispatch.run, signal });
    // Whoever asks once will not be here when it could be done otherwise.
    if (isOneShot) await putIntoMemory(consolidation, platform, signal);
    return outcome;
  } finally {
    setAsker(undefined);
    ended.abort();
    await Promise.all([tasks.close(), remembering]);
  }
}

/** Also what tasks say at their end, and what they begin with it. */
async function allSaid(bus: MemoryBus, tasks: Tasks): Promise<void> {
  do {
    await tasks.settled(never);
    await bus.quiet();
  } while (tasks.list().some(({ state }) => state === "queued" || state === "running"));
}

async function openTerminal(
  { platform, settings, log, secrets, media }: ConversationParts,
  config: ConverseOptions["config"],
  { bus, tasks }: { bus: MemoryBus; tasks: Tasks },
): Promise<Channel> {
  const [{ channel }, { parse }] = await Promise.all([
    import("../channels/cli/channel.ts"),
    import("valibot"),
  ]);
  const { files, clock, ids, env, terminal, random, fetch } = platform;
  return channel.create(parse(channel.config, config), {
    emit: (message, signal) => bus.publishInbound(message, signal),
    quiet: () => allSaid(bus, tasks),
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
