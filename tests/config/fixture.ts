/** A folder of its own for a test, with a configuration file in it. */

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LoadedConfig, loadConfig } from "../../src/config/load.ts";
import { UserError } from "../../src/core/errors.ts";
import type { Environment } from "../../src/core/platform.ts";
import { createFileSystem } from "../../src/platform/files.ts";

export const files = createFileSystem();

export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), "nanobot-"));
}

export interface ConfigFile {
  readonly path: string;
  readonly folder: string;
  load(options?: { env?: Environment }): Promise<LoadedConfig>;
  /** What loading is refused with, message and hint. */
  refusal(options?: { env?: Environment }): Promise<string>;
  text(): string;
}

export function makeConfig(content?: string | Uint8Array | object): ConfigFile {
  const folder = makeFolder();
  const path = join(folder, "config.json");
  if (typeof content === "string" || content instanceof Uint8Array) writeFileSync(path, content);
  else if (content !== undefined) writeFileSync(path, JSON.stringify(content, undefined, 2));
  const load: ConfigFile["load"] = ({ env = {} } = {}) => loadConfig({ files, path, env });
  return {
    path,
    folder,
    load,
    refusal: (options) => refusalOf(load(options)),
    text: () => readFileSync(path, "utf8"),
  };
}

/** The text of the `UserError` that `work` rejects with. Anything else fails the test. */
export async function refusalOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (error instanceof UserError) return [error.message, error.hint].filter(Boolean).join("\n");
    throw error;
  }
  throw new Error("It was not refused");
}

/** How a setting asks for a variable of the environment. */
export function variable(name: string): string {
  return `\${${name}}`;
}
