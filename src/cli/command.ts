/** What a command is: a declaration from which parsing and help follow. */

import type { App } from "../core/app.ts";

/** 0 done, 1 failed, 2 used wrongly or misconfigured, 75 to be started again, 130 interrupted. */
export type ExitCode = 0 | 1 | 2 | 75 | 130;

export interface OptionSpec {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly about: string;
  /** What stands for the value in help: `--session KEY`. */
  readonly value?: string;
  /** It can be given several times, and each counts. Otherwise the last one does. */
  readonly multiple?: true;
}

export interface CommandContext {
  readonly app: App;
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
}

export interface Command {
  /** One line, for the list of commands. */
  readonly about: string;
  /**
   * Positional arguments, as help shows them; `?` at the end marks an optional one, and `...` one that takes all words that
   * follow: `["KEY", "JSON?"]`, `["TEXT..."]`.
   */
  readonly positionals?: readonly string[];
  /** Keys are the long names in kebab-case. A boolean named `no-x` is its own option. */
  readonly options?: Readonly<Record<string, OptionSpec>>;
  /** Runs until a signal ends it, which is no interruption then. */
  readonly isService?: true;
  /** It changes who may do what, speaks for the owner or acts on the gateway: refused to commands of the agent. */
  readonly ownerOnly?: true;
  readonly subcommands?: Readonly<Record<string, Command>>;
  /** Absent on a command that only groups subcommands. Throws a `UserError` for what the user can mend. */
  readonly run?: (context: CommandContext) => Promise<ExitCode>;
}

/** What somebody gave for an option that takes a value. */
export function textOption(options: CommandContext["options"], name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** What somebody gave, in order, for an option that can be given several times. */
export function textOptions(options: CommandContext["options"], name: string): readonly string[] {
  const values = options[name];
  return Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
}

/** Declares a command. */
export function defineCommand(command: Command): Command {
  return command;
}
