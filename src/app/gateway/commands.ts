/** What the program can do with a gateway: be one, ask the one that runs, or work on its files when none does. */

import type { Pairing } from "../../core/access.ts";
import type { App, ChannelInfo, GatewayAnswer } from "../../core/app.ts";
import type { MediaStore } from "../../core/media.ts";
import { lazy } from "../../lib/lazy.ts";
import { join } from "../../lib/path.ts";
import { problemOf } from "../../lib/phrases.ts";
import type { GatewayParts } from "./gateway.ts";

type Commands = Pick<
  App,
  "gateway" | "startAgain" | "askGateway" | "withOutbox" | "channels" | "testChannel" | "pairing"
>;

export interface GatewayCommandsParts extends Omit<GatewayParts, "channels"> {
  media(): Promise<MediaStore>;
}

export function createGatewayCommands(parts: GatewayCommandsParts): Commands {
  const { platform, settings, log } = parts;

  const openChannels = lazy(async () => {
    const { createChannels } = await import("../channels.ts");
    return createChannels(parts);
  });

  async function describe(name: string, enabled: readonly string[]): Promise<ChannelInfo> {
    const { names, configured } = await openChannels();
    const info = { name, enabled: enabled.includes(name), exists: names.includes(name) };
    try {
      const { warnings } = await configured(name);
      return { ...info, problem: undefined, warnings };
    } catch (error) {
      // A channel nobody enabled needs no settings.
      return { ...info, problem: info.enabled ? problemOf(error) : undefined };
    }
  }

  return {
    async gateway(options, signal) {
      const { runGateway } = await import("./gateway.ts");
      for (const warning of (await settings.loaded()).warnings) log.warn(warning);
      return runGateway({ ...parts, channels: await openChannels() }, options, signal);
    },

    async askGateway(command, args, signal): Promise<GatewayAnswer> {
      const { askGateway } = await import("../../gateway/ask-gateway.ts");
      const { workspace } = await settings.paths();
      const socketFile = join(workspace, ".nanobot", "control.sock");
      return askGateway({ http: platform.http, socketFile }, command, args, signal);
    },

    async withOutbox(work) {
      const { holding, withBus } = await import("./hold.ts");
      return holding(parts, "open the outbox", () => withBus(parts, (bus) => work(bus.outbox)));
    },

    async channels() {
      const enabled = await settings.enabledChannels();
      const names = new Set([...(await openChannels()).names, ...enabled]);
      return Promise.all([...names].map((name) => describe(name, enabled)));
    },

    async testChannel(name, { sendTo }, signal) {
      const { testChannel } = await import("./test-channel.ts");
      return testChannel(
        await (await openChannels()).configured(name),
        { sendTo, ids: platform.ids },
        signal,
      );
    },

    pairing: lazy(async (): Promise<Pairing> => {
      const { openPairing } = await import("./access.ts");
      return openPairing(parts);
    }),

    async startAgain() {
      const { restartMode } = await settings.gateway();
      const { env } = platform;
      // Whoever runs services starts this one again; a process of our own beside it would be a second one. In a container
      // it would end with us.
      const isRun = env["INVOCATION_ID"] !== undefined || platform.pid === 1;
      const isService = restartMode === "exit" || (restartMode === "auto" && isRun);
      if (isService) return 75;
      await platform.startAgain();
      return 0;
    },
  };
}
