/** Where a gateway listens: the public address for platforms, and a socket file for this machine's owner. */

import type { Supervisor } from "../../channels/supervisor.ts";
import type { GatewayOptions } from "../../core/app.ts";
import type { DurableBus } from "../../core/bus.ts";
import type { HttpHandler, HttpServer } from "../../core/http.ts";
import type { Log, Platform } from "../../core/platform.ts";
import type { Tasks } from "../../core/tasks.ts";
import { answer, secured } from "../../gateway/responses.ts";
import { join } from "../../lib/path.ts";
import type { OutboundOptions } from "../outbound.ts";
import type { Settings } from "../settings.ts";
import { controlCommands } from "./control.ts";
import type { Schedule } from "./schedule.ts";

/** Less than this, and what is taken in may soon not be kept any more. */
const LOW_DISK_BYTES = 32 * 1024 * 1024;
/** For requests that are being answered when the end has begun. */
const GRACE_MS = 2_000;

interface DoorParts {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly options: Pick<GatewayOptions, "host" | "port">;
}

/** The public address, before and after there is somebody to answer. */
export interface Door {
  /** `http://127.0.0.1:18790` */
  readonly address: string;
  /** From now on requests are for `handler`. */
  answerBy(handler: HttpHandler): void;
  stop(): Promise<void>;
}

/**
 * Listens before anything else of the gateway is loaded: it says that it lives, and that all else has to come again.
 * Throws a `UserError` when the address cannot be had.
 */
export async function openDoor({ platform, settings, options }: DoorParts): Promise<Door> {
  const gateway = await settings.gateway();
  const { host = gateway.host, port = gateway.port } = options;
  let handler: HttpHandler = async (request) => {
    const isHealth = new URL(request.url).pathname === "/health";
    return secured(isHealth ? Response.json({ status: "ok" }) : answer(503, { "retry-after": "5" }));
  };
  const server = await platform.http.listen({ host, port }, (request, info) => handler(request, info));
  return {
    address: `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    answerBy(wanted) {
      handler = wanted;
    },
    stop: () => server.stop(GRACE_MS),
  };
}

export interface ServersParts extends Omit<DoorParts, "options"> {
  readonly version: string;
  readonly log: Log;
  readonly bus: DurableBus;
  readonly supervisor: Supervisor;
  readonly elsewhere: OutboundOptions["elsewhere"];
  readonly door: Door;
  readonly tasks: Tasks;
  readonly schedule: Schedule;
}

/** Lets the channels take requests, and other commands of this program ask. Resolves to what listens for those. */
export async function openServers(parts: ServersParts): Promise<HttpServer> {
  const { version, platform, settings, log, bus, supervisor, elsewhere, door, tasks, schedule } = parts;
  const { http, clock, pid } = platform;
  const [{ createGatewayApp }, { createControl }] = await Promise.all([
    import("../../gateway/app.ts"),
    import("../../gateway/control.ts"),
  ]);
  const { trustedProxies, maxBodyBytes } = await settings.gateway();
  const { workspace } = await settings.paths();
  door.answerBy(
    await createGatewayApp({
      channels: supervisor.routes(),
      ready: () => readiness(parts, workspace),
      trustedProxies,
      maxBodyBytes,
      clock,
      log,
    }),
  );
  const control = createControl({
    http,
    socketFile: join(workspace, ".nanobot", "control.sock"),
    commands: controlCommands({
      version,
      pid,
      address: door.address,
      startedAt: new Date(clock.now()).toISOString(),
      bus,
      channels: supervisor.status,
      elsewhere,
      tasks,
      schedule,
    }),
    clock,
    log,
  });
  return control.start();
}

/** What keeps the gateway from doing its work; empty when nothing does. */
async function readiness(
  { platform, bus, supervisor }: Pick<ServersParts, "platform" | "bus" | "supervisor">,
  workspace: string,
): Promise<readonly string[]> {
  const freeBytes = await platform.files.freeBytes(workspace);
  return [
    ...supervisor
      .status()
      .filter(({ state }) => state !== "connected")
      .map(({ name, state }) => `channel ${name} is ${state}`),
    ...(bus.problem() === undefined ? [] : ["the journal cannot be written"]),
    ...(freeBytes < LOW_DISK_BYTES ? ["the disk is full"] : []),
  ];
}
