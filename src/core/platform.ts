/** The real world as ports: everything that a test replaces with something exact. */

import type { HttpServers } from "./http.ts";

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some moment, whatever happens to the clock on the wall. */
  elapsed(): number;
  /** Rejects with the signal's reason when aborted. Any length: long waits are cut into steps. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Calls `task` once after `ms`; the returned function calls it off. */
  after(ms: number, task: () => void): () => void;
  /** What else waits in the event loop runs before this resolves; a promise alone would not let it. */
  giveWay(): Promise<void>;
}

export interface Ids {
  /** Unique and sortable by the time it was made; lower-case letters and digits. */
  next(): string;
}

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Goes to stderr with every known secret masked. Never throws and never waits. */
export interface Log {
  debug(message: string, properties?: Readonly<Record<string, unknown>>): void;
  info(message: string, properties?: Readonly<Record<string, unknown>>): void;
  warn(message: string, properties?: Readonly<Record<string, unknown>>): void;
  error(message: string, properties?: Readonly<Record<string, unknown>>): void;
}

export type FileKind = "file" | "directory" | "link" | "other";

export interface FileStat {
  readonly kind: FileKind;
  readonly bytes: number;
  readonly modifiedMs: number;
  /** The permission bits, such as 0o644. */
  readonly mode: number;
  /** Changes when a file is replaced by another of the same name. */
  readonly inode: number;
}

/** A file open for appending only. */
export interface AppendFile {
  /** Writes all of it at the end, or rejects. */
  append(bytes: Uint8Array): Promise<void>;
  /** Resolves when everything appended before the call is on disk. Calls share what one sync covers. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Files by absolute path. Rejects with the system's error (`code` is `ENOENT`, `EACCES`, …) unless the
 * method says otherwise. Modes are octal numbers and hold against the umask.
 */
export interface FileSystem {
  /** Follows links. `undefined` when there is nothing at `path`. */
  stat(path: string): Promise<FileStat | undefined>;
  /** Does not follow a link at `path` itself. */
  linkStat(path: string): Promise<FileStat | undefined>;
  realPath(path: string): Promise<string>;
  /** Where the link at `path` points, as it is written there. */
  readLink(path: string): Promise<string>;
  /** At most `limit` entries, by name; `more` says that there were others. */
  list(
    path: string,
    options: { limit: number },
  ): Promise<{ entries: readonly { name: string; kind: FileKind }[]; more: boolean }>;
  /** The bytes from `start` (0) up to `end` (the file's end), fewer if the file is shorter. */
  read(path: string, range?: { start?: number; end?: number }): Promise<Uint8Array>;
  /** The same as a stream of bounded chunks. */
  stream(path: string, options: { start?: number; signal: AbortSignal }): AsyncIterable<Uint8Array>;
  /** Replaces or makes a file so that a crash leaves the old or the new one: temp, sync, rename, sync of the folder. */
  replace(path: string, bytes: Uint8Array, options: { mode: number }): Promise<void>;
  /** Makes the file, and syncs its folder, when it is new. */
  openAppend(path: string, options: { mode: number }): Promise<AppendFile>;
  /** Makes missing parents too; `mode` holds for the ones it makes. */
  makeFolder(path: string, options: { mode: number }): Promise<void>;
  /** Both folders are synced after. */
  rename(from: string, to: string): Promise<void>;
  /** Bytes that an ordinary user can still write to the disk `path` lies on. */
  freeBytes(path: string): Promise<number>;
  /** A file, or a folder with all that is in it. Nothing at `path` is fine. */
  remove(path: string): Promise<void>;
}

export interface Lock {
  release(): Promise<void>;
}

/** Locks between processes of one machine, by name. A lock dies with the process that holds it. */
export interface Locks {
  /** Waits its turn. Rejects with the signal's reason when aborted. */
  acquire(name: string, signal: AbortSignal): Promise<Lock>;
  /** `undefined` when somebody holds it. */
  tryAcquire(name: string): Promise<Lock | undefined>;
}

export interface ProcessSpec {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** 0 means no limit. */
  readonly timeoutMs: number;
  /** Bytes kept of each stream: this many of its beginning, and as many of its end. */
  readonly keepBytes: number;
}

/** What a stream said: all of it, or its beginning and its end with `omittedBytes` between them. */
export interface CapturedOutput {
  readonly head: string;
  readonly tail: string;
  readonly omittedBytes: number;
}

export interface ProcessResult {
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why we ended it, if we did. */
  readonly ended: "timeout" | "aborted" | "flood" | undefined;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
}

export type ProcessExit = Pick<ProcessResult, "exitCode" | "signal" | "ended">;

export interface ProcessOutput {
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
}

/** A program that goes on beside us, with its input a pipe. */
export interface RunningProcess {
  /**
   * Resolves when the text is with the program or on its way; `closed` when its input is, as far as the
   * system tells, and `full` when too much would wait that it does not read. Never rejects.
   */
  write(text: string): Promise<"written" | "closed" | "full">;
  /** The program finds its input at its end. */
  closeInput(): void;
  /** Begins to end the whole group; `exited` tells when it is gone. Only the first reason counts. */
  end(reason: NonNullable<ProcessResult["ended"]>): void;
  /** What was said since the last `take`. A character whose end has not come yet is left for the next. */
  take(): ProcessOutput;
  /** The same without taking it. */
  peek(): ProcessOutput;
  /** Hears all output as it comes, in whole characters. The returned function stops that. */
  onOutput(listener: (stream: "stdout" | "stderr", text: string) => void): () => void;
  /** Resolves when the whole group is gone and all that it said can be taken. */
  readonly exited: Promise<ProcessExit>;
}

/**
 * Runs programs, each in a process group of its own. However a program ended, the whole group has been
 * killed when that is told; a process that left the group is beyond reach. Rejects only when the program
 * could not be started.
 */
export interface Processes {
  /** To its end, with stdin closed. */
  run(spec: ProcessSpec, signal: AbortSignal): Promise<ProcessResult>;
  /** Resolves when it has started. Whoever starts it ends it. `timeoutMs` counts from its start. */
  start(spec: ProcessSpec): Promise<RunningProcess>;
  /** Ends every group that still runs. For exits. */
  endAll(): void;
}

/** A key press as a person means it. `text` is what it types, if anything. */
export interface Key {
  readonly name: string;
  readonly text: string;
  readonly ctrl: boolean;
  readonly meta: boolean;
  readonly shift: boolean;
}

/** The terminal or the pipes this process was started with. */
export interface Terminal {
  readonly stdinIsTty: boolean;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  readonly columns: number;
  out(text: string): void;
  err(text: string): void;
  /** All of stdin as text, at most `maxBytes`; rejects with a `UserError` beyond, and with the signal's reason. */
  readAll(maxBytes: number, signal: AbortSignal): Promise<string>;
  /** Raw key presses until `signal` aborts or stdin ends; the terminal is put back as it was. A paste is one key named `paste`. */
  keys(signal: AbortSignal): AsyncIterable<Key>;
  /** Markdown for the eye, or plain text where there is no renderer. Control sequences in `text` are removed. */
  renderMarkdown(text: string, options: { color: boolean; columns: number }): string;
  /** Terminal cells that `text` takes. */
  width(text: string): number;
  onResize(listener: () => void): () => void;
  /** Resolves when all that was written has left the process. */
  flush(): Promise<void>;
}

/** Trees of files that travel inside the executable. */
export interface Assets {
  /** Paths below `tree`, with `/`, sorted. */
  list(tree: "skills" | "workspace"): Promise<readonly string[]>;
  read(tree: "skills" | "workspace", path: string): Promise<string>;
  /** The same for what need not be text. */
  bytes(tree: "skills" | "workspace", path: string): Promise<Uint8Array>;
}

/** The environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Everything that differs between machines and runtimes. */
export interface Platform {
  /** For people and for the prompt: `Bun 1.4.5`, `linux`, `x64`. */
  readonly runtime: string;
  readonly os: string;
  readonly arch: string;
  readonly pid: number;
  readonly env: Environment;
  readonly cwd: string;
  /** From `HOME`, else from the user database. `undefined` when neither knows. */
  readonly homeFolder: string | undefined;
  readonly timeZone: string;
  readonly clock: Clock;
  /** At least 0 and below 1. */
  readonly random: () => number;
  readonly ids: Ids;
  readonly files: FileSystem;
  readonly locks: Locks;
  readonly processes: Processes;
  readonly terminal: Terminal;
  readonly assets: Assets;
  readonly fetch: typeof fetch;
  readonly http: HttpServers;
  /** Gives memory back that is not used any more, as far as the runtime lets us. A pause of some hundredths of a second. */
  collectGarbage(): void;
  /** Starts this program once more, with the same arguments, beside the process that is about to end. */
  startAgain(): Promise<void>;
}
