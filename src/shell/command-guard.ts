/** Whether a command of the model may run: the judgement of its text, and of the addresses in it. */

import type { CommandPolicy } from "../core/commands.ts";
import type { FileSystem } from "../core/platform.ts";
import type { Permit, ShellChoice, ToolShell } from "../core/tool.ts";
import type { GuardedFetch } from "../core/web.ts";
import { folderEntries } from "../lib/folder-entries.ts";
import { configFiles, openPlace, ownPlaces } from "../lib/own-places.ts";
import { join } from "../lib/path.ts";
import { followLinks } from "../lib/real-path.ts";
import type { Judgement } from "./judge/judge-command.ts";
import type { ProtectedPath } from "./judge/scene.ts";
import { canWriteProfiles } from "./profile-files.ts";
import { refusedText, type Sandbox, TEMPORARY } from "./sandbox/sandbox.ts";

/** Hosts that one command may name: each is looked up. */
const MOST_HOSTS = 50;

/** Of one folder in which a file name pattern is looked up. */
const MOST_ENTRIES = 20_000;

/** It has words and patterns that run other programs than the judge would see. */
const NOT_ZSH = "what zsh would make of it cannot be judged; leave shell out, or use bash or sh";

/** What a tool wrote there would run with the next command, whatever that is. */
const NO_LOGIN =
  "its profile files lie where tools can write, and what is in them would run unjudged; leave out login (-l and -i of a shell), and write what they set into the command";

export interface CommandGuardOptions {
  readonly files: FileSystem;
  readonly web: Pick<GuardedFetch, "whyRefused">;
  readonly sandbox: Pick<Sandbox, "state" | "allowedPaths">;
  readonly policy: CommandPolicy;
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
    const { hidden, readable, readOnly, readOnlyFiles } = ownPlaces({ workspace, configFile });
    const besideOthers = new Set(readOnlyFiles.map(({ path }) => path));
    const [configs, skills, results] = await Promise.all([
      configFiles(files, configFile),
      openPlace(files, readable),
      openPlace(files, join(workspace, ownResults)),
    ]);
    return Promise.all([
      ...configs.map(async (path) => ({
        path: await real(path),
        allows: "nothing" as const,
        isConfiguration: true,
      })),
      { path: await real(hidden), allows: "nothing" as const },
      ...(skills === undefined ? [] : [{ path: skills, allows: "running" as const }]),
      ...(results === undefined ? [] : [{ path: results, allows: "reading" as const }]),
      ...readOnly.map(async (path) => ({
        path: await real(path),
        allows: "reading" as const,
        hasOthersBeside: besideOthers.has(path),
      })),
    ]);
  }

  const homeOf = (isShutIn: boolean) => (isShutIn ? workspace : home);

  async function judge(command: string, cwd: string, isShutIn: boolean): Promise<Judgement> {
    const { judgeCommand } = await import("./judge/judge-command.ts");
    return judgeCommand(command, {
      ...rules,
      workspace,
      allowedPaths: await sandbox.allowedPaths(),
      cwd,
      home: homeOf(isShutIn),
      temporaryFolder: isShutIn ? TEMPORARY : undefined,
      protectedPaths: await protectedPaths(),
      resolve: (path) => followLinks(files, path),
      async list(folder) {
        const { entries, more } = await folderEntries(files, folder, MOST_ENTRIES);
        return more ? undefined : entries;
      },
    });
  }

  async function whyNotBy({ shell, login }: ShellChoice, isShutIn: boolean): Promise<string | undefined> {
    if (rules.policy === "off") return undefined;
    if (shell === "zsh") return NOT_ZSH;
    return login === true ? whyNoProfiles(isShutIn) : undefined;
  }

  async function whyNoProfiles(isShutIn: boolean): Promise<string | undefined> {
    const writable = rules.restrictToWorkspace
      ? [workspace, ...(await sandbox.allowedPaths())]
      : "everywhere";
    return (await canWriteProfiles(files, { home: homeOf(isShutIn), writable })) ? NO_LOGIN : undefined;
  }

  async function whyUnreachable(urls: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    const byHost = new Map(urls.map((url) => [URL.parse(url)?.host ?? url, url]));
    if (byHost.size > MOST_HOSTS) {
      return `it names ${byHost.size} hosts, and no more than ${MOST_HOSTS} can be checked; use several commands`;
    }
    const reasons = await Promise.all([...byHost.values()].map((url) => web.whyRefused(url, signal)));
    return reasons.find((reason) => reason !== undefined);
  }

  return async (command, { cwd, signal, ...choice }): Promise<Permit> => {
    const state = await sandbox.state();
    if (state.kind === "refused") return { decision: "deny", reason: refusedText(state.why) };
    const isShutIn = state.kind === "bwrap";
    const unfit = await whyNotBy(choice, isShutIn);
    if (unfit !== undefined) return deny(unfit);
    const judgement = await judge(command, cwd, isShutIn);
    if (judgement.verdict === "deny") return deny(judgement.reason);
    const unread =
      judgement.readsProfiles && rules.policy !== "off" ? await whyNoProfiles(isShutIn) : undefined;
    if (unread !== undefined) return deny(unread);
    // Before the owner is asked, so that no answer is wasted: this is not his to allow case by case.
    const urls = choice.shell === "zsh" ? await writtenUrls(command) : judgement.urls;
    const unreachable = await whyUnreachable(urls, signal);
    if (unreachable !== undefined) return deny(unreachable);
    if (judgement.verdict === "allow") return { decision: "allow" };
    return { decision: "ask", what: command, reason: judgement.reason };
  };
}

/** All that stand in the text, where nobody knows what is done with them. */
async function writtenUrls(command: string): Promise<readonly string[]> {
  const { textUrls } = await import("./judge/urls.ts");
  return textUrls(command);
}

function deny(why: string): Permit {
  return { decision: "deny", reason: `Cannot run the command: ${why}` };
}
