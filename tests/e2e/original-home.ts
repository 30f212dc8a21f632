/** Homes of the original in a temporary place, and what became of their files. */

import { cpSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json.ts";
import type { LoggedRequest } from "../fakes/chat-server.ts";
import { tempFolder } from "../fakes/temp.ts";
import { type Home, type Outcome, run } from "./harness.ts";

export type Generation = "first" | "newer";
export const generations: readonly Generation[] = ["first", "newer"];

/** The provider that the configuration of each names. */
const providers = { first: "CUSTOM", newer: "HOME_SERVER" } as const;

/** Found by HOME alone, as the original finds its own. With `modelUrl` its model answers there. */
export function homeOf(generation: Generation, modelUrl?: string): Home {
  const user = tempFolder();
  const folder = join(user, ".nanobot");
  cpSync(join(import.meta.dir, "../fixtures/original", generation), folder, { recursive: true });
  return {
    folder,
    workspace: join(folder, "workspace"),
    configFile: join(folder, "config.json"),
    env: {
      HOME: user,
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      ...(modelUrl === undefined
        ? {}
        : { [`NANOBOT_PROVIDERS__${providers[generation]}__API_BASE`]: modelUrl }),
    },
  };
}

/** Every file below a folder with its bytes and mode. Sockets and the like are none. */
export function snapshot(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
  return new Map(
    files.map((path) => [
      path.slice(folder.length + 1),
      `${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path, "base64")}`,
    ]),
  );
}

/** The paths of those that are not as they were, or are gone. */
export function changed(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  return [...before].filter(([path, content]) => after.get(path) !== content).map(([path]) => path);
}

export function added(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  return [...after.keys()].filter((path) => !before.has(path)).sort();
}

/** What the program says. Throws unless it ends with 0. */
export async function succeed(home: Home, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr }: Outcome = await run(args, { home });
  if (code !== 0) throw new Error(`nanobot ${args.join(" ")} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}

/** What it says with `--json`. */
export async function json<T>(home: Home, ...args: readonly string[]): Promise<T> {
  return JSON.parse(await succeed(home, ...args, "--json")) as T;
}

/** The conversation in a request. */
export function messagesOf(request: LoggedRequest | undefined): readonly JsonObject[] {
  return (request?.body["messages"] ?? []) as readonly JsonObject[];
}
