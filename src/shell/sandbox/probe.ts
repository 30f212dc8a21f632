/** Finds out whether bubblewrap works on this machine, by running it. */

import type { FileSystem, Processes, ProcessResult } from "../../core/platform.ts";
import { never } from "../../lib/abort.ts";
import { firstProgram } from "../../lib/first-program.ts";
import { problemOf } from "../../lib/phrases.ts";
import { type Mount, mountArguments } from "./mounts.ts";

/** The network stays shared, because package managers, git and curl are of little use without it. */
const NAMESPACES = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"];

const FIRST = [...NAMESPACES, "--die-with-parent", "--cap-drop", "ALL"];

/**
 * Root inside could change nothing that root's files do not allow anyway, but many programs behave
 * differently as root or refuse to run. Files still belong to whoever runs nanobot.
 */
const AS_NOBODY = ["--uid", "65534", "--gid", "65534"];

const PROBE = { cwd: "/", env: {}, timeoutMs: 10_000, keepBytes: 4_096 };

export type Bubblewrap =
  | {
      readonly works: true;
      readonly file: string;
      /** What comes before the mounts. */
      readonly first: readonly string[];
      /** Some containers do not let anybody mount one. */
      readonly hasProc: boolean;
    }
  | { readonly works: false; readonly why: string };

export interface ProbeOptions {
  readonly files: FileSystem;
  readonly processes: Pick<Processes, "run">;
  readonly os: string;
  /** Of the system. */
  readonly mounts: readonly Mount[];
  readonly workspace: string;
}

/** Prints the user it runs as, and whether the workspace is closed to that user. */
const SCRIPT = 'id -u; test ! -e "$1" || test -w "$1" || echo closed';

export async function probeBubblewrap({
  files,
  processes,
  os,
  mounts,
  workspace,
}: ProbeOptions): Promise<Bubblewrap> {
  if (os !== "linux") return { works: false, why: "needs Linux" };
  const file = await firstProgram(files, "bwrap");
  if (file === undefined) return { works: false, why: "not installed" };

  const hasWorkspace = (await files.stat(workspace))?.kind === "directory";
  const always = hasWorkspace ? [...mounts, { kind: "rw", path: workspace } as const] : mounts;

  const attempt = (first: readonly string[], hasProc: boolean): Promise<Attempt> => {
    const shown = hasProc ? [...always, PROC] : always;
    const args = [...first, ...mountArguments(shown), "--", "/bin/sh", "-c", SCRIPT, "sh", workspace];
    return judge(() => processes.run({ file, args, ...PROBE }, never));
  };

  const whole = await attempt(FIRST, true);
  const outcome = whole.ok ? whole : await attempt(FIRST, false);
  if (!outcome.ok) return { works: false, why: `does not work here: ${outcome.why}` };
  // Capabilities of root, which are dropped, are all that opened it.
  if (outcome.isRoot && outcome.isClosed) {
    return { works: false, why: "does not work here: the workspace belongs to another user than root" };
  }
  const asNobody = [...FIRST, ...AS_NOBODY];
  const isBetter = outcome.isRoot && (await attempt(asNobody, whole.ok)).ok;
  return { works: true, file, first: isBetter ? asNobody : FIRST, hasProc: whole.ok };
}

/** That it cannot even be started is an answer too. */
async function judge(run: () => Promise<ProcessResult>): Promise<Attempt> {
  try {
    const { exitCode, ended, stdout, stderr } = await run();
    const [user, closed] = stdout.head.split("\n");
    if (exitCode === 0) return { ok: true, isRoot: user === "0", isClosed: closed === "closed" };
    if (ended !== undefined) return { ok: false, why: `it did not end within ${PROBE.timeoutMs / 1000} s` };
    const [line = ""] = stderr.head.split("\n");
    return { ok: false, why: line.replace(/^bwrap: /, "") || `it ended with ${exitCode ?? "a signal"}` };
  } catch (error) {
    return { ok: false, why: problemOf(error) };
  }
}

type Attempt =
  | { readonly ok: true; readonly isRoot: boolean; readonly isClosed: boolean }
  | { readonly ok: false; readonly why: string };

export const PROC: Mount = { kind: "proc", path: "/proc" };
