/** Whether a command of the model may run: the judgement of its text, and of the addresses in it. */

import type { FileSystem } from "../core/platform.ts";
import type { Permit, ToolShell } from "../core/tool.ts";
import type { GuardedFetch } from "../core/web.ts";
import type { Judgement, Policy } from "./command/judge-command.ts";
import type { Entry, ProtectedPath } from "./command/scene.ts";
import { errorCode } from "./error-code.ts";
import { configFiles, HIDDEN, READ_ONLY } from "./own-places.ts";
import { join } from "./path.ts";
import { followLinks } from "./real-path.ts";
import { refusedText, type Sandbox } from "./sandbox/sandbox.ts";

/** Hosts that one command may name: each is looked up. */
const MOST_HOSTS = 50;

/** Of one folder in which a file name pattern is looked up. */
const MOST_ENTRIES = 20_000;

/** It has words and patterns that run other programs than the judge would see. */
const NOT_ZSH = "what zsh would make of it cannot be judged; leave shell out, or use bash or sh";

export interface CommandGuardOptions {
  readonly files: FileSystem;
  readonly web: Pick<GuardedFetch, "whyRefused">;
  readonly sandbox: Pick<Sandbox, "state" | "allowedPaths">;
  readonly policy: Policy;
  readonly allowPatterns: readonly string[];
  readonly denyPatterns: readonly string[];
  readonly restrictToWorkspace: boolean;
  /** Absolute and real. */
  readonly workspace: string;
  readonly home: string | undefined;
  readonly configFile: string;
  /** Where the results of the session's own tools lie, relative to the workspace. */
  readonly ownResults: string;
}

/** Cheap to make: one per session, because `ownResults` differs. */
export function createCommandGuard({
  files,
  web,
  sandbox,
  workspace,
  home,
  configFile,
  ownResults,
  ...rules
}: CommandGuardOptions): ToolShell["permit"] {
  /** Found anew each time: somebody may have moved `sessions/` to another disk meanwhile. */
  async function protectedPaths(): Promise<readonly ProtectedPath[]> {
    const real = (path: string) => followLinks(files, path);
    const hidden = [...(await configFiles(files, configFile)), join(workspace, HIDDEN)];
    const readable = [...READ_ONLY, ownResults].map((path) => join(workspace, path));
    return Promise.all([
      ...hidden.map(async (path) => ({ path: await real(path), allows: "nothing" as const })),
      ...readable.map(async (path) => ({ path: await real(path), allows: "reading" as const })),
    ]);
  }

  async function judge(command: string, cwd: string, isShutIn: boolean): Promise<Judgement> {
    const { judgeCommand } = await import("./command/judge-command.ts");
    return judgeCommand(command, {
      ...rules,
      workspace,
      allowedPaths: await sandbox.allowedPaths(),
      cwd,
      home: isShutIn ? workspace : home,
      protectedPaths: await protectedPaths(),
      resolve: (path) => followLinks(files, path),
      list: (folder) => entriesOf(files, folder),
    });
  }

  async function whyUnreachable(urls: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    const byHost = new Map(urls.map((url) => [URL.parse(url)?.host ?? url, url]));
    if (byHost.size > MOST_HOSTS) {
      return `it names ${byHost.size} hosts, and no more than ${MOST_HOSTS} can be checked; use several commands`;
    }
    const reasons = await Promise.all([...byHost.values()].map((url) => web.whyRefused(url, signal)));
    return reasons.find((reason) => reason !== undefined);
  }

  return async (command, { cwd, signal, shell }): Promise<Permit> => {
    const state = await sandbox.state();
    if (state.kind === "refused") return { decision: "deny", reason: refusedText(state.why) };
    if (shell === "zsh" && rules.policy !== "off") return deny(NOT_ZSH);
    const judgement = await judge(command, cwd, state.kind === "bwrap");
    if (judgement.verdict === "deny") return deny(judgement.reason);
    // Before the owner is asked, so that no answer is wasted: this is not his to allow case by case.
    const unreachable = await whyUnreachable(judgement.urls, signal);
    if (unreachable !== undefined) return deny(unreachable);
    if (judgement.verdict === "allow") return { decision: "allow" };
    return { decision: "ask", what: command, reason: judgement.reason };
  };
}

/** What is no folder, or closed to us, holds nothing that a pattern could find. */
async function entriesOf(files: FileSystem, folder: string): Promise<readonly Entry[] | undefined> {
  try {
    const { entries, more } = await files.list(folder, { limit: MOST_ENTRIES });
    return more ? undefined : entries;
  } catch (error) {
    if (["EACCES", "ENOENT", "ENOTDIR", "EPERM"].includes(errorCode(error) ?? "")) return [];
    throw error;
  }
}

function deny(why: string): Permit {
  return { decision: "deny", reason: `Cannot run the command: ${why}` };
}
