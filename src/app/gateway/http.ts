/** Where a gateway listens: the public address for platforms, and a socket file for this machine's owner. */

import type { Supervisor } from "../../channels/supervisor.ts";
import type { GatewayOptions } from "../../core/app.ts";
import type { DurableBus } from "../../core/bus.ts";
import type { Log, Platform } from "../../core/platform.ts";
import type { Outbound } from "../../core/tool.ts";
import type { ToolRun } from "../../core/toolbox.ts";
import { join } from "../../lib/path.ts";
import type { Settings } from "../settings.ts";
import { controlCommands } from "./control.ts";

/** Less than this, and what is taken in may soon not be kept any more. */
const LOW_DISK_BYTES = 32 * 1024 * 1024;
/** For requests that are being answered when the end has begun. */
const GRACE_MS = 2_000;

export interface ServersParts {
  readonly version: string;
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
  readonly bus: DurableBus;
  readonly supervisor: Supervisor;
  readonly outbound: (run: ToolRun) => Outbound;
  readonly options: Pick<GatewayOptions, "host" | "port">;
}

export interface Servers {
  /** `http://127.0.0.1:18790` */
  readonly address: string;
  stop(): Promise<void>;
}

export async function openServers(parts: ServersParts): Promise<Servers> {
  const { version, platform, settings, log, bus, supervisor, outbound, options } = parts;
  const { http, clock, pid } = platform;
  const [{ createGatewayApp }, { createControl }] = await Promise.all([
    import("../../gateway/app.ts"),
    import("../../gateway/control.ts"),
  ]);
  const { trustedProxies, maxBodyBytes, ...gateway } = await settings.gateway();
  const { workspace } = await settings.paths();
  const app = await createGatewayApp({
    channels: supervisor.routes(),
    ready: () => readiness(parts, workspace),
    trustedProxies,
    maxBodyBytes,
    clock,
    log,
  });
  const { host = gateway.host, port = gateway.port } = options;
  const server = await http.listen({ host, port }, app);
  const address = `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`;
  try {
    const control = createControl({
      http,
      socketFile: join(workspace, ".nanobot", "control.sock"),
      commands: controlCommands({
        version,
        pid,
        address,
        startedAt: new Date(clock.now()).toISOString(),
        bus,
        channels: supervisor.status,
        outbound,
      }),
      clock,
      log,
    });
    const controlServer = await control.start();
    return {
      address,
      async stop() {
        await Promise.all([server.stop(GRACE_MS), controlServer.stop(0)]);
      },
    };
  } catch (error) {
    await server.stop(0);
    throw error;
  }
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
