/** How a shell command is started: its shell, its short environment, and the sandbox around it. */

import { UserError } from "../core/errors.ts";
import type { FileSystem, ProcessSpec } from "../core/platform.ts";
import type { ShellChoice, ShellName } from "../core/tool.ts";
import { firstProgram } from "../lib/first-program.ts";
import { lazy } from "../lib/lazy.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { type ShellEnvironment, shortEnvironment } from "./shell-environment.ts";

/** Of each stream, of its beginning and of its end. What is too long for the model goes to a file. */
const KEEP_BYTES = 128 * 1024;

export interface CommandSpecOptions extends ShellEnvironment {
  readonly files: Pick<FileSystem, "stat">;
  readonly os: string;
  /** Omitted where commands run as they are. */
  readonly sandbox?: Pick<Sandbox, "wrap">;
}

interface CommandPlace extends ShellChoice {
  readonly cwd: string;
  /** 0 means no limit. */
  readonly timeoutSeconds: number;
  /** The session it runs for, whose earlier results it may read. */
  readonly owner: string;
}

/** What to start for a command. Rejects with a `UserError` where it cannot or must not run. */
export type CommandSpec = (command: string, place: CommandPlace) => Promise<ProcessSpec>;

export function createCommandSpec({ files, os, sandbox, ...environment }: CommandSpecOptions): CommandSpec {
  const outside = shortEnvironment(environment);

  const find = (name: ShellName) => firstProgram(files, name);
  const shells = { bash: lazy(() => find("bash")), sh: lazy(() => find("sh")), zsh: lazy(() => find("zsh")) };

  async function findShell(name: ShellName | undefined): Promise<string> {
    if (name === undefined) {
      // Small systems have no bash.
      return (await shells.bash()) ?? (await shells.sh()) ?? missing("sh");
    }
    return (await shells[name]()) ?? missing(name);
  }

  return async (command, { cwd, timeoutSeconds, owner, shell, login = false }) => {
    if (os === "win32") throw new UserError("Cannot run a command: exec is off on Windows");
    const program = {
      file: await findShell(shell),
      args: [...startFiles(shell, login), "-c", command],
    };
    const wrapped = await sandbox?.wrap(program, { cwd, owner });
    const { file, args, env } = wrapped ?? { ...program, env: {} };
    return {
      file,
      args,
      cwd,
      env: { ...outside, ...env },
      timeoutMs: timeoutSeconds * 1000,
      keepBytes: KEEP_BYTES,
    };
  };
}

/** Only zsh reads a file of the home folder (`.zshenv`) without being asked to. */
function startFiles(shell: ShellName | undefined, login: boolean): readonly string[] {
  if (login) return ["-l"];
  return shell === "zsh" ? ["-f"] : [];
}

function missing(name: ShellName): never {
  throw new UserError(`Cannot run the command: there is no ${name} on this machine`);
}
