/** Commands that go on after the call that started them: few at once, each with an owner, none for ever. */

import { UserError } from "../core/errors.ts";
import type {
  ExecSessionInfo,
  ExecSessionInput,
  ExecSessionReport,
  ExecSessionStart,
  ExecSessions,
  WaitOptions,
} from "../core/exec-sessions.ts";
import type { Clock, Ids, ProcessExit, Processes, ProcessSpec, RunningProcess } from "../core/platform.ts";
import { abortable } from "../lib/abort.ts";
import { quote } from "../lib/file-error.ts";
import { refuseFailedSandbox } from "./sandbox/failure.ts";
import { watchOutput } from "./watch-output.ts";

const MOST_RUNNING = 8;
/** Of those that have ended and whose owner was not told yet. Each keeps what it said. */
const MOST_ENDED = 16;
const IDLE_MS = 1_800_000;
/** Characters. What was written to a shell is judged as a whole, and a text that is longer is not judged. */
const MOST_WRITTEN = 65_536;

export interface ExecSessionsOptions {
  readonly processes: Pick<Processes, "start">;
  readonly clock: Pick<Clock, "elapsed" | "after">;
  readonly ids: Ids;
  /** How a command is run, with its time limit. */
  readonly spec: (start: ExecSessionStart) => Promise<ProcessSpec>;
}

interface Session {
  readonly id: string;
  readonly start: ExecSessionStart;
  /** What was started for the command: a shell, or the sandbox around it. */
  readonly file: string;
  readonly program: RunningProcess;
  hasSpoken: boolean;
  readonly startedAt: number;
  touchedAt: number;
  written: string | undefined;
  exit: ProcessExit | undefined;
  isIdle: boolean;
  cancelIdle: () => void;
}

export function createExecSessions({ processes, clock, ids, spec }: ExecSessionsOptions): ExecSessions {
  /** The oldest first. */
  const sessions = new Map<string, Session>();
  let starting = 0;

  const running = () => [...sessions.values()].filter(({ exit }) => exit === undefined);

  function find(id: string, owner: string): Session | undefined {
    const session = sessions.get(id);
    return session?.start.owner === owner ? session : undefined;
  }

  async function launch(start: ExecSessionStart): Promise<Session> {
    if (running().length + starting >= MOST_RUNNING) {
      throw new UserError(`Cannot start another session: ${MOST_RUNNING} run already`, {
        hint: "End one with write_stdin and terminate, or run the command without yield_time_ms",
      });
    }
    starting++;
    try {
      const program = await spec(start);
      return add(start, program.file, await processes.start(program));
    } finally {
      starting--;
    }
  }

  function add(start: ExecSessionStart, file: string, program: RunningProcess): Session {
    const now = clock.elapsed();
    const session: Session = {
      id: ids.next(),
      start,
      file,
      program,
      hasSpoken: false,
      startedAt: now,
      touchedAt: now,
      written: "",
      exit: undefined,
      isIdle: false,
      cancelIdle: () => {},
    };
    sessions.set(session.id, session);
    touch(session);
    program.exited.then((exit) => {
      session.exit = exit;
      forgetOldEnds();
    });
    return session;
  }

  function touch(session: Session): void {
    session.touchedAt = clock.elapsed();
    session.cancelIdle();
    session.cancelIdle = clock.after(IDLE_MS, () => onIdle(session));
  }

  /** One that runs is ended, and its end is remembered as long again. */
  function onIdle(session: Session): void {
    if (session.exit !== undefined) {
      forget(session);
      return;
    }
    session.isIdle = true;
    session.program.end("aborted");
    touch(session);
  }

  function forget(session: Session): void {
    session.cancelIdle();
    sessions.delete(session.id);
  }

  function forgetOldEnds(): void {
    const ended = [...sessions.values()].filter(({ exit }) => exit !== undefined);
    for (const session of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) forget(session);
  }

  /** Resolves when there is something to tell. */
  async function wait(session: Session, { waitMs, until, signal }: WaitOptions): Promise<boolean> {
    signal.throwIfAborted();
    const { program } = session;
    const { promise, resolve } = Promise.withResolvers<void>();
    const watch = until === undefined ? undefined : watchOutput(program, until);
    watch?.seen.then(resolve);
    program.exited.then(() => resolve());
    const cancel = clock.after(waitMs, resolve);
    try {
      await abortable(promise, signal);
    } finally {
      cancel();
      watch?.stop();
    }
    return watch?.isSeen() ?? false;
  }

  async function report(session: Session, options: WaitOptions): Promise<ExecSessionReport> {
    touch(session);
    const seen = await wait(session, options);
    const said = session.program.take();
    const output = { ...said, seen };
    const { exit } = session;
    if (exit === undefined) {
      touch(session);
      session.hasSpoken ||= said.stdout.head !== "" || said.stderr.head !== "";
      return output;
    }
    forget(session);
    if (!session.hasSpoken) refuseFailedSandbox(session.file, { ...said, exitCode: exit.exitCode });
    return { ...output, ended: { ...exit, ended: session.isIdle ? "idle" : exit.ended } };
  }

  function describe(session: Session): ExecSessionInfo {
    const { id, start } = session;
    const now = clock.elapsed();
    const elapsedMs = now - session.startedAt;
    const limitMs = start.timeoutSeconds * 1000;
    return {
      id,
      command: start.command,
      cwdShown: start.cwdShown,
      running: session.exit === undefined,
      elapsedMs,
      idleMs: now - session.touchedAt,
      remainingMs: limitMs === 0 ? undefined : Math.max(0, limitMs - elapsedMs),
    };
  }

  function inputOf({ start, written, exit }: Session): ExecSessionInput | undefined {
    const { command, cwd, shell } = start;
    return exit === undefined ? { command, cwd, shell, written } : undefined;
  }

  async function write(session: Session, text: string): Promise<void> {
    const outcome = session.exit === undefined ? await session.program.write(text) : "ended";
    if (outcome === "written") {
      const written = session.written === undefined ? undefined : session.written + text;
      session.written = written !== undefined && written.length <= MOST_WRITTEN ? written : undefined;
      return;
    }
    const problem = {
      ended: "it has ended",
      closed: "its input is closed",
      full: "it does not read what was written to it before",
    }[outcome];
    throw new UserError(`Cannot write to the session ${quote(session.id)}: ${problem}`);
  }

  async function end(session: Session): Promise<void> {
    session.program.end("aborted");
    await session.program.exited;
  }

  return {
    async start(start, options) {
      options.signal.throwIfAborted();
      const session = await launch(start);
      try {
        return { id: session.id, report: await report(session, options) };
      } catch (error) {
        forget(session);
        await end(session);
        throw error;
      }
    },
    async read(id, owner, options) {
      const session = find(id, owner);
      return session && report(session, options);
    },
    input(id, owner) {
      const session = find(id, owner);
      return session && inputOf(session);
    },
    async write(id, owner, { text = "", close = false }) {
      const session = find(id, owner);
      if (session === undefined) return false;
      touch(session);
      if (text !== "") await write(session, text);
      if (close) session.program.closeInput();
      return true;
    },
    async end(id, owner) {
      const session = find(id, owner);
      if (session === undefined) return false;
      touch(session);
      await end(session);
      return true;
    },
    list: (owner) => [...sessions.values()].filter(({ start }) => start.owner === owner).map(describe),
    async endOf(owner) {
      const owned = [...sessions.values()].filter(({ start }) => start.owner === owner);
      const wereRunning = owned.filter(({ exit }) => exit === undefined);
      for (const session of owned) forget(session);
      await Promise.all(wereRunning.map(end));
      return wereRunning.length;
    },
  };
}
