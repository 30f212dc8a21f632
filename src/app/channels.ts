/** The channels of a process: each made of its block of the configuration, with what it may reach. */

import type { DeliverySettings } from "../channels/delivery/target.ts";
import { channels as registry } from "../channels/registry.ts";
import { channelNames } from "../config/schema.ts";
import type { Channel, ChannelCapabilities, ChannelContext, ChannelDefinition } from "../core/channel.ts";
import { UserError } from "../core/errors.ts";
import type { MediaStore } from "../core/media.ts";
import type { Log, Platform } from "../core/platform.ts";
import { nearest } from "../lib/nearest.ts";
import type { Secrets } from "../lib/secrets.ts";
import type { Settings } from "./settings.ts";

export interface ConfiguredChannel {
  readonly name: string;
  readonly capabilities: ChannelCapabilities;
  readonly delivery: DeliverySettings;
  readonly create: (ports: ChannelPorts) => Promise<Channel>;
  readonly admits: "senders" | "secret";
  /** As the owner wrote it. */
  readonly allowFrom: readonly (string | number)[];
  readonly pairing: boolean;
  readonly groupPolicy: "mention" | "open" | "allowlist";
  readonly groupAllowFrom: readonly (string | number)[];
  readonly warnings: readonly string[];
}

/** What a channel is given that depends on who runs it. */
type ChannelPorts = Pick<ChannelContext, "admit" | "emit" | "heard" | "report">;

export interface ChannelsOptions {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
  readonly secrets: Secrets;
  media(): Promise<MediaStore>;
}

async function definitionOf(name: string): Promise<ChannelDefinition> {
  if (!channelNames.includes(name)) {
    const meant = nearest(name, channelNames);
    throw new UserError(`There is no channel "${name}"`, {
      hint: meant === undefined ? `There are: ${channelNames.join(", ")}` : `Did you mean "${meant}"?`,
    });
  }
  // Each entry has a schema of its own, which only its own `create` has to know.
  return (await registry[name as keyof typeof registry]()).channel as unknown as ChannelDefinition;
}

export function createChannels({ platform, settings, log, secrets, media }: ChannelsOptions) {
  const { files, clock, ids, env, terminal, random } = platform;

  /** Throws a `UserError` for settings that are not fully understood. */
  async function configured(name: string): Promise<ConfiguredChannel> {
    const definition = await definitionOf(name);
    const gateway = await settings.gateway();
    const { block, settings: own, warnings } = await settings.channel(name, definition.config);
    const { workspace } = await settings.paths();
    const expand = await settings.expander();
    const listed = (ids: readonly (string | number)[] | undefined, key: string) =>
      (ids ?? []).map((id) => (typeof id === "string" ? expand(id, `channels.${name}.${key}`) : id));
    return {
      name,
      capabilities: definition.capabilities,
      delivery: {
        sendProgress: block.sendProgress ?? gateway.channels.sendProgress,
        sendToolHints: block.sendToolHints ?? gateway.channels.sendToolHints,
        showReasoning: block.showReasoning ?? gateway.channels.showReasoning,
        maxRetries: gateway.channels.sendMaxRetries,
      },
      admits: definition.admits ?? "senders",
      allowFrom: listed(block.allowFrom, "allowFrom"),
      pairing: block.pairing ?? gateway.access.pairing,
      groupPolicy: block.groupPolicy ?? "mention",
      groupAllowFrom: listed(block.groupAllowFrom, "groupAllowFrom"),
      warnings,
      create: (ports) =>
        definition.create(own, {
          ...ports,
          expand,
          addSecret: (secret) => secrets.add([secret]),
          media,
          fetch: platform.fetch,
          env,
          publicUrl: gateway.publicUrl?.replace(/\/+$/, ""),
          workspace,
          random,
          files,
          clock,
          ids,
          log,
          terminal,
        }),
    };
  }

  return { names: channelNames, configured };
}
