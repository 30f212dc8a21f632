/** The gateway of a process: channels, agent and HTTP over one durable bus, until it is told to end. */

import type { Target } from "../../channels/delivery/target.ts";
import type { GatewayOptions, ModelChoice } from "../../core/app.ts";
import type { AskOwner } from "../../core/approval.ts";
import type { DurableBus } from "../../core/bus.ts";
import type { Channel } from "../../core/channel.ts";
import type { InboundMessage } from "../../core/messages.ts";
import type { SessionStore } from "../../core/session.ts";
import type { Spawner } from "../../core/tasks.ts";
import type { Outbound } from "../../core/tool.ts";
import type { ToolRun } from "../../core/tool-run.ts";
import { RESTARTED } from "../../lib/phrases.ts";
import type { createAgent } from "../agent.ts";
import type { ConfiguredChannel, createChannels } from "../channels.ts";
import { createLateTasks, type TasksParts } from "../tasks.ts";
import { openAccess } from "./access.ts";
import { holding, withBus } from "./hold.ts";
import { type Door, openDoor, openServers } from "./http.ts";
import { createLateAgent } from "./late-agent.ts";
import { runParts } from "./lifecycle.ts";
import { createNotify } from "./notify.ts";
import { openAgent } from "./open-agent.ts";
import { createOtherChats } from "./other-chats.ts";
import { createRest } from "./rest.ts";
import { createSchedule, type ScheduleParts } from "./schedule.ts";
import { createTellOwner } from "./tell-owner.ts";

/** The session that all chats share, where the owner wants that. The original's name for it. */
const UNIFIED = "unified:default";

export interface GatewayParts extends TasksParts, ScheduleParts {
  readonly version: string;
  readonly agent: ReturnType<typeof createAgent>;
  readonly channels: ReturnType<typeof createChannels>;
  /** Rejects with a `UserError` for settings of tools that cannot be. The tools are loaded with the first message. */
  checkTools(): Promise<void>;
  sessions(): Promise<SessionStore>;
  /** Tools put their questions, and send their messages, by these from now on. */
  use(ports: {
    readonly ask: AskOwner;
    readonly outbound: (run: ToolRun) => Outbound;
    readonly spawner: (run: ToolRun) => Spawner | undefined;
  }): void;
}

export function runGateway(
  parts: GatewayParts,
  options: GatewayOptions,
  signal: AbortSignal,
): Promise<"ended" | "restart"> {
  return holding(parts, "start", async () => {
    const door = await openDoor({ ...parts, options });
    try {
      const model = await options.prepare();
      return await withBus(parts, (bus) => serve(parts, { bus, door, options, model }, signal));
    } finally {
      await door.stop();
    }
  });
}

interface Serving {
  readonly bus: DurableBus;
  readonly door: Door;
  readonly options: GatewayOptions;
  readonly model: ModelChoice;
}

async function serve(
  parts: GatewayParts,
  { bus, door, options, model }: Serving,
  signal: AbortSignal,
): Promise<"ended" | "restart"> {
  const { platform, settings, log, secrets } = parts;
  const { clock } = platform;
  const gateway = await settings.gateway();
  const { unifiedSession } = await settings.agent();
  const sessionOf = (channel: string, chatId: string) => (unifiedSession ? UNIFIED : `${channel}:${chatId}`);
  const startedAt = clock.now();
  const restart = new AbortController();
  let restartedBy: InboundMessage | undefined;
  const ending = AbortSignal.any([signal, restart.signal]);
  const [{ createSupervisor }, { createDelivery }, { createTyping }] = await Promise.all([
    import("../../channels/supervisor.ts"),
    import("../../channels/delivery/delivery.ts"),
    import("../../channels/delivery/typing.ts"),
  ]);

  const notify = createNotify(bus, secrets.mask);
  const configured = await configuredChannels(parts);
  const access = await openAccess({ ...parts, notify, channelOf: (name) => configured.get(name) });

  for (const channel of configured.values()) {
    for (const warning of [...channel.warnings, ...access.warningsOf(channel)]) log.warn(warning);
  }

  /** Nothing is taken in once the end has begun: the platform keeps it, and sends it again. */
  function emit(message: InboundMessage, limit: AbortSignal): Promise<boolean> {
    const own = unifiedSession && message.origin === "chat" ? { ...message, sessionKey: UNIFIED } : message;
    return bus.publishInbound(own, AbortSignal.any([limit, ending]));
  }

  const supervisor = createSupervisor({
    channels: [...configured.values()].map((channel) => ({
      name: channel.name,
      create: (reports) => channel.create({ ...reports, emit, admit: access.admissionTo(channel) }),
    })),
    clock,
    log,
    onChange: (name) => delivery.channelChanged(name),
  });
  const channelOf = (name: string) => targetOf(supervisor.get(name), configured.get(name));
  const delivery = createDelivery({
    bus,
    channelOf,
    clock,
    log,
    onUndeliverable: createTellOwner({ ...access, notify, clock, log }),
  });
  const rest = createRest(clock, platform.collectGarbage);
  const typing = createTyping({ clock, log, channelOf });

  const tasks = createLateTasks(parts, { model, publish: bus.publishInbound, isRecorded: true });
  const schedule = createSchedule(parts, {
    bus,
    model,
    tasks,
    findOwner: access.findOwner,
    isChannel: (name) => configured.has(name),
    sessionOf,
    mask: secrets.mask,
  });
  parts.background.use(async (content, id) => {
    const owner = await access.findOwner();
    if (owner === undefined) log.warn(content);
    else await notify(owner, { content, id });
  });

  await supervisor.open();
  const elsewhere = createOtherChats({
    bus,
    clock,
    mask: secrets.mask,
    channels: () => supervisor.status().map(({ name }) => name),
    mayWrite: access.mayWrite,
    sessionOf,
  });
  await parts.checkTools();
  const runAgent = createLateAgent(bus, (own) =>
    openAgent(parts, {
      bus: own,
      model,
      isModelWanted: options.isModelWanted,
      access,
      configured,
      typing,
      rest,
      tasks,
      schedule,
      elsewhere,
      startedAt,
      status: supervisor.status,
      restart(asked) {
        restartedBy = asked;
        restart.abort();
      },
    }),
  );
  const control = await openServers({ ...parts, bus, supervisor, elsewhere, door, tasks, schedule });
  try {
    options.onReady({ address: door.address, channels: [...configured.keys()], model: model.name });
    await runParts(
      {
        intake: async (limit) => {
          await Promise.all([supervisor.run(limit), schedule.run(limit)]);
        },
        agent: runAgent,
        delivery: delivery.run,
        delivered: delivery.flush,
        clock,
        log,
        drainMs: gateway.drainSeconds * 1_000,
      },
      ending,
    );
  } finally {
    rest.stop();
    // Channels first answer whoever waits at the door.
    await Promise.all([supervisor.close(), door.stop(), control.stop(0), tasks.close()]);
    await schedule.flush();
    await access.flush();
  }
  // Nobody takes it from the bus any more but the next process, with which it becomes true.
  if (restartedBy !== undefined) {
    await notify(restartedBy, { content: RESTARTED, id: `${restartedBy.id}/restarted` }).catch(
      (error: unknown) => log.warn("Nobody will be told that the restart is done", { error }),
    );
  }
  return signal.aborted ? "ended" : "restart";
}

/** Those that are enabled and exist here. Throws a `UserError` for settings that are not fully understood. */
async function configuredChannels({
  settings,
  channels,
}: Pick<GatewayParts, "settings" | "channels">): Promise<ReadonlyMap<string, ConfiguredChannel>> {
  const configured = new Map<string, ConfiguredChannel>();
  for (const name of await settings.enabledChannels()) {
    if (channels.names.includes(name)) configured.set(name, await channels.configured(name));
  }
  return configured;
}

/** A channel as delivery sees it, while it can be sent to. */
function targetOf(channel: Channel | undefined, known: ConfiguredChannel | undefined): Target | undefined {
  if (channel === undefined || known === undefined) return undefined;
  return { channel, capabilities: known.capabilities, settings: known.delivery };
}
