/** Reads the files of the system prompt, again only when they have changed. */

import { Buffer } from "node:buffer";
import type { SystemMessage } from "../core/model.ts";
import type { Assets, FileStat, Log } from "../core/platform.ts";
import type { ToolFiles } from "../core/tool.ts";
import { isSameFile } from "../lib/same-file.ts";
import { wellFormed } from "../lib/text.ts";
import { type PromptFacts, type PromptFile, promptFiles, systemPrompt } from "./prompt.ts";

/** More of a file is not read; the prompt takes less. */
const READ_BYTES = 256 * 1024;

interface Known {
  readonly stat: FileStat;
  readonly file: PromptFile;
}

export interface PromptSourceOptions {
  /** What the agent may read: a link in the workspace must not carry a foreign file to a provider. */
  readonly files: ToolFiles;
  readonly assets: Assets;
  readonly log: Log;
  readonly facts: PromptFacts;
}

function areSame(one: readonly PromptFile[], other: readonly PromptFile[]): boolean {
  return one.length === other.length && one.every((file, index) => file === other[index]);
}

export type PromptSource = () => Promise<SystemMessage>;

/**
 * A function that gives the prompt as the workspace has it now, and the same message as long as nothing has
 * changed. A file that cannot be read is left out.
 */
export function createPromptSource({ files, assets, log, facts }: PromptSourceOptions): PromptSource {
  const known = new Map<string, Known>();
  const reported = new Set<string>();
  let last: { readonly files: readonly PromptFile[]; readonly message: SystemMessage } | undefined;
  let templates: Promise<readonly string[]> | undefined;

  async function templateOf(name: string): Promise<string | undefined> {
    templates ??= assets.list("workspace");
    return (await templates).includes(name) ? assets.read("workspace", name) : undefined;
  }

  async function read(name: string): Promise<PromptFile | undefined> {
    const { system } = files;
    const path = await files.resolve(name, "read");
    const stat = await system.stat(path);
    if (stat?.kind !== "file") return undefined;
    const before = known.get(name);
    if (before && isSameFile(before.stat, stat)) return before.file;
    const text = wellFormed(Buffer.from(await system.read(path, { end: READ_BYTES })).toString("utf8"));
    const file = { name, text, template: await templateOf(name) };
    known.set(name, { stat, file });
    return file;
  }

  return async () => {
    const found = await Promise.all(
      promptFiles.map((name) =>
        read(name).catch((error: unknown) => {
          if (!reported.has(name)) log.warn("Left a file out of the prompt", { name, error });
          reported.add(name);
          return undefined;
        }),
      ),
    );
    const present = found.filter((file) => file !== undefined);
    if (last === undefined || !areSame(last.files, present)) {
      last = { files: present, message: { role: "system", content: systemPrompt(facts, present) } };
    }
    return last.message;
  };
}
