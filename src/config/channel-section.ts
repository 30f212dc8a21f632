/** One channel's block of the configuration, read with that channel's own schema. */

import * as v from "valibot";
import { isObject } from "../lib/is-object.ts";
import { explainIssue } from "./issues.ts";
import type { LoadedConfig } from "./load.ts";
import { type ChannelBlock, type Config, sharedChannelKeys } from "./schema.ts";
import { type AnySchema, type Path, valueAt } from "./shape.ts";
import { translate } from "./translate.ts";

/** The names of the channels that are enabled, in the order of the file. */
export function enabledChannels({ channels }: Config): readonly string[] {
  return Object.entries(channels)
    .filter(([, block]) => isObject(block) && block["enabled"] === true)
    .map(([name]) => name);
}

/** The block of a channel; an empty one where there is none. */
export function channelBlock({ channels }: Config, name: string): ChannelBlock {
  const block: unknown = Object.hasOwn(channels, name) ? channels[name] : undefined;
  // Beside the blocks lie the settings that hold for all channels, under names of their own.
  return isObject(block) ? (block as ChannelBlock) : {};
}

/**
 * The block of a channel, and what `schema` makes of its own part of it, both spellings of keys understood. Rejects with
 * a `UserError` that names key and expected type; unknown keys are only warned of.
 */
export async function readChannelSection<Schema extends AnySchema>(
  schema: Schema,
  { config, refusal }: Pick<LoadedConfig, "config" | "refusal">,
  name: string,
) {
  const at: Path = ["channels", name];
  const block = channelBlock(config, name);
  const problem = (path: Path, text: string) => refusal(path, text, valueAt(config, path));
  const own = Object.fromEntries(Object.entries(block).filter(([key]) => !sharedChannelKeys.includes(key)));
  const translation = translate(schema, own, at);
  if (translation.twice) {
    throw await problem(translation.twice, "the key is there twice, in two spellings");
  }
  const { success, output, issues } = v.safeParse(schema, translation.value);
  if (success) return { block, settings: output, warnings: translation.warnings };
  const { path, text } = explainIssue(schema, issues[0]);
  throw await problem(translation.source([...at, ...path]), text);
}
