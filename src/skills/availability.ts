/** What a skill needs and this machine has not. */

import type { Clock, Environment } from "../core/platform.ts";
import type { Needs } from "./facts.ts";

/** Somebody who installs a program wants to use it soon, and a prompt is built many times a minute. */
const PROGRAMS_KNOWN_MS = 10_000;

export interface AvailabilityOptions {
  /** Of this process. Read anew each time. */
  readonly env: Environment;
  readonly os: string;
  /** Whether a command could run it. */
  readonly findProgram: (name: string) => Promise<boolean>;
  readonly clock: Pick<Clock, "elapsed">;
}

/** In words: `the program gh`. */
export type WhatIsMissing = (needs: Needs) => Promise<readonly string[]>;

/** By the names that skills use, and as people call them. */
const systems: Readonly<Record<string, { readonly os: string; readonly label: string }>> = {
  darwin: { os: "darwin", label: "macOS" },
  linux: { os: "linux", label: "Linux" },
  mac: { os: "darwin", label: "macOS" },
  macos: { os: "darwin", label: "macOS" },
  osx: { os: "darwin", label: "macOS" },
  win32: { os: "win32", label: "Windows" },
  windows: { os: "win32", label: "Windows" },
};

function systemOf(name: string): { readonly os: string; readonly label: string } {
  const key = name.toLowerCase();
  return (Object.hasOwn(systems, key) ? systems[key] : undefined) ?? { os: key, label: name };
}

export function createAvailability({ env, os, findProgram, clock }: AvailabilityOptions): WhatIsMissing {
  let programs = new Map<string, Promise<boolean>>();
  let knownSince = clock.elapsed();

  function hasProgram(name: string): Promise<boolean> {
    if (clock.elapsed() - knownSince >= PROGRAMS_KNOWN_MS) {
      programs = new Map();
      knownSince = clock.elapsed();
    }
    const found = programs.get(name) ?? findProgram(name);
    programs.set(name, found);
    return found;
  }

  async function absent(names: readonly string[]): Promise<readonly string[]> {
    const found = await Promise.all(names.map(hasProgram));
    return names.filter((_, index) => found[index] !== true);
  }

  return async (needs) => {
    const wanted = needs.os.map(systemOf);
    const isElsewhere = wanted.length > 0 && !wanted.some((system) => system.os === os);
    const alternatives = await absent(needs.anyBins);
    const hasNone = alternatives.length > 0 && alternatives.length === needs.anyBins.length;
    return [
      ...(isElsewhere ? [either(wanted.map(({ label }) => label))] : []),
      ...(await absent(needs.bins)).map((name) => `the program ${name}`),
      ...(hasNone ? [`the program ${either(alternatives)}`] : []),
      ...needs.env.filter((name) => !isSet(env, name)).map((name) => `the variable ${name}`),
    ];
  };
}

function isSet(env: Environment, name: string): boolean {
  return (Object.hasOwn(env, name) ? (env[name] ?? "") : "") !== "";
}

const either = (names: readonly string[]) => [...new Set(names)].join(" or ");
