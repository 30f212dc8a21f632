/** Runs one invocation of the program: parse, help, run, and say what went wrong. */

import type { App, GlobalFlags } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import type { Terminal } from "../core/platform.ts";
import { stripControls } from "../lib/text.ts";
import { isBelowTool } from "../lib/tool-mark.ts";
import type { ExitCode } from "./command.ts";
import { help } from "./help.ts";
import { parseInvocation } from "./parse.ts";

export interface RunOptions {
  readonly argv: readonly string[];
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  /** Called only when a command runs. */
  readonly createApp: (flags: GlobalFlags) => Promise<App>;
  /** Resolves when everything that was printed and logged is out. */
  readonly flush: () => Promise<void>;
  /** Takes known secrets out of what is printed. */
  readonly mask: (text: string) => string;
}

/** Never rejects. Results go to stdout, everything else to stderr. */
export async function runCli({
  argv,
  terminal,
  signal,
  createApp,
  flush,
  mask,
}: RunOptions): Promise<ExitCode> {
  try {
    const { words, command, flags, positionals, options, ...invocation } = await parseInvocation(argv);
    const wantsHelp = invocation.help || argv.length === 0;
    if (wantsHelp || command?.run === undefined) {
      const text = await help(words, command);
      if (wantsHelp) terminal.out(text);
      else terminal.err(text);
      return wantsHelp ? 0 : 2;
    }
    const app = await createApp(flags);
    try {
      if (command.ownerOnly === true && isBelowTool(app.platform.env)) throw notForTools(words);
      const code = await command.run({ app, positionals, options, signal });
      return signal.aborted && command.isService !== true ? 130 : code;
    } finally {
      await flush();
    }
  } catch (error) {
    if (signal.aborted && error === signal.reason) return 130;
    return report(error, (text) => terminal.err(stripControls(mask(text))));
  }
}

function notForTools(words: readonly string[]): UserError {
  return new UserError(
    `Cannot run "nanobot ${words.join(" ")}" from a command of the agent: it is for the owner`,
    {
      hint: "Run it in a terminal of your own; an agent tells its user what to run",
      isRefusal: true,
    },
  );
}

function report(error: unknown, print: (text: string) => void): ExitCode {
  if (error instanceof UserError) {
    const hint = error.hint === undefined ? "" : `\n${error.hint}`;
    print(`nanobot: ${error.message}${hint}\n`);
    return error.exitCode;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  print(`nanobot: this is a bug, please report it\n${text}\n`);
  return 1;
}
