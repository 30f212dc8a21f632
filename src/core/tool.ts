/** What a tool is: one declaration that the model, the validation and the type of its arguments share. */

import type * as v from "valibot";
import type { ExecSessionInput, ExecSessions } from "./exec-sessions.ts";
import type { MemorySearch } from "./memory.ts";
import type { Button, Media } from "./messages.ts";
import type { Image } from "./model.ts";
import type { Clock, FileStat, FileSystem, Processes, ProcessResult } from "./platform.ts";
import type { Jobs } from "./schedule.ts";
import type { Spawner } from "./tasks.ts";
import type { ToolRun } from "./tool-run.ts";
import type { GuardedFetch, PageReader, WebSearch } from "./web.ts";
import type { Workers } from "./workers.ts";

/** A chat, and the thread of it, that a tool sent a message to. */
export interface SentTo {
  readonly channel: string;
  readonly chatId: string;
  readonly thread?: string;
}

/** What a result has beside its text. */
export interface ToolResultParts {
  /** They go to the model with the text. */
  readonly images?: readonly Image[];
  /** Somebody else than the owner may have written it: a page, a search's results. Data, never instructions. */
  readonly external?: boolean;
  /** A rule forbids what was asked for, so that it was not done: the call is recorded as refused. */
  readonly refused?: boolean;
  /** Of a program that was run; `null` when it had none. */
  readonly exitCode?: number | null;
  /** The chat that a message was sent to. Not for the model. */
  readonly sentTo?: SentTo;
  /** Characters of this result's text that were asked for, where the cap would allow more. The wrapper cuts. */
  readonly limit?: number;
}

/** For the model. `ok: false` means that the call did not do what it was asked to. */
export interface ToolResult extends ToolResultParts {
  readonly ok: boolean;
  readonly text: string;
  /** The images where they are kept. The wrapper puts them there, and a tool leaves this out. */
  readonly media?: readonly Media[];
}

export function toolOk(text: string, parts: ToolResultParts = {}): ToolResult {
  return { ok: true, text, ...parts };
}

/** `text` says what went wrong and what would work; the wrapper puts `Error: ` in front. */
export function toolError(text: string, parts: ToolResultParts = {}): ToolResult {
  return { ok: false, text, ...parts };
}

/** Whether a call may run, as its tool sees it. */
export type Permit =
  | { readonly decision: "allow" }
  /** `reason` is for the model: what is wrong, and what would be allowed. */
  | { readonly decision: "deny"; readonly reason: string }
  /** The owner decides. `what` is exactly what will be done, such as the command; `reason` says why it is asked. */
  | { readonly decision: "ask"; readonly what: string; readonly reason: string };

/** A path that was resolved through every link and found to be allowed. Absolute. */
export type RealPath = string & { readonly __kind: "real" };

/**
 * What tools do with files. Every operation happens at the place that its path names: a link there, which can
 * only have come since the path was resolved, is an error (`ESTALE`), or for `remove` what is removed.
 */
export interface PinnedFiles
  extends Pick<FileSystem, "stat" | "list" | "read" | "stream" | "replace" | "makeFolder" | "remove"> {
  /** What a few entries of one folder are. Follows no link. `undefined` for what is not there. */
  linkStats(folder: string, names: readonly string[]): Promise<readonly (FileStat | undefined)[]>;
}

/** The files a tool may touch. Every operation takes a `RealPath`, so that none can skip the check. */
export interface ToolFiles {
  readonly system: PinnedFiles;
  /**
   * Where `path` (relative to the workspace, absolute, or beginning with `~/`) really is.
   * Throws a `UserError` when it lies outside what the owner allowed for that kind of access; `doing` is
   * what the refusal says could not be done, where reading and writing are not the word for it.
   */
  resolve(path: string, access: "read" | "write", doing?: string): Promise<RealPath>;
  /** The short form for the model and the user: relative to the workspace where it lies inside. */
  display(path: string): string;
}

export type ShellName = "bash" | "sh" | "zsh";

/** Which shell reads a command. */
export interface ShellChoice {
  /** The usual one when left out. A command that asks for one that is missing here is refused. */
  readonly shell?: ShellName | undefined;
  /** Reads the profile files first. */
  readonly login?: boolean | undefined;
}

/** Runs shell commands on behalf of the model: short environment, own process group, bounded output. */
export interface ToolShell {
  /** Seconds a command may run unless the call asks for another time. 0 means no limit. */
  readonly defaultTimeoutSeconds: number;
  /** Whether the owner's rules let `command` run in `cwd`. Changes nothing; rejects with the signal's reason. */
  permit(command: string, options: ShellChoice & { cwd: RealPath; signal: AbortSignal }): Promise<Permit>;
  /** The same for what is to be written to a command that goes on: some of them would run it. */
  permitInput(session: ExecSessionInput, chars: string, signal: AbortSignal): Promise<Permit>;
  /**
   * Runs it, judged or not. Rejects with a `UserError` where the shell or a demanded sandbox is missing; an
   * abort is a result that says so.
   */
  run(
    command: string,
    options: { cwd: RealPath; timeoutSeconds: number; signal: AbortSignal } & ShellChoice,
  ): ReturnType<Processes["run"]>;
}

/**
 * Runs ripgrep with these arguments and nothing else. `undefined` where the machine has none. Rejects with the
 * system's error when it cannot be started; an abort is a result.
 */
export type Ripgrep = (
  args: readonly string[],
  options: { cwd: RealPath; timeoutSeconds: number; signal: AbortSignal },
) => Promise<ProcessResult | undefined>;

/** What a session last knew of a file. */
export interface SeenFile {
  readonly modifiedMs: number;
  readonly bytes: number;
  readonly inode: number;
  /** What of it was shown, in the reader's own words. `undefined` after the session wrote it. */
  readonly shown?: string | undefined;
}

/** The files that a session has read or written. Bounded: what was not looked at for longest is forgotten. */
export interface ReadLog {
  seen(path: RealPath): SeenFile | undefined;
  /** `stat` is from before the reading, or from after the writing. */
  record(path: RealPath, stat: FileStat, shown?: string): void;
}

/** A message that a tool sends. */
export interface ToolMessageOut {
  /** The chat. The one that is being answered, named or not, gets it in the thread that it is answered in. */
  readonly channel?: string | undefined;
  readonly chatId?: string | undefined;
  readonly content: string;
  readonly media: readonly Media[];
  readonly buttons: readonly (readonly Button[])[];
}

/** Sends messages to chats, beside the answer. */
export interface Outbound {
  /**
   * Resolves when the message is safe with the bus, to where it goes. Throws a `UserError` for a chat that does not exist or that
   * the owner did not allow. `key` is the call's identity: the same call never sends twice.
   */
  send(message: ToolMessageOut, key: string): Promise<{ readonly channel: string; readonly chatId: string }>;
}

/** The services a tool reaches. A tool never imports one. */
export interface ToolPorts {
  readonly files: ToolFiles;
  readonly reads: ReadLog;
  readonly shell: ToolShell;
  readonly execSessions: ExecSessions;
  readonly web: GuardedFetch;
  readonly search: WebSearch;
  /** Where the owner wants pages to be read by it. */
  readonly pageReader?: PageReader | undefined;
  readonly workers: Workers;
  readonly outbound: Outbound;
  readonly memory: MemorySearch;
  /** Left out where nobody keeps the time, and where no subagent may begin. */
  readonly jobs?: Jobs | undefined;
  /** Whether a gateway keeps the time of the jobs now, this process or another. Left out where one surely does. */
  readonly isTimeKept?: ((signal: AbortSignal) => Promise<boolean>) | undefined;
  readonly tasks?: Spawner | undefined;
  /** Tells the owner of a loop that was stopped, once an hour for each `key`. Never throws and never waits. */
  readonly tellOwner?: ((text: string, key: string) => void) | undefined;
  readonly clock: Pick<Clock, "giveWay" | "now">;
  /** Left out where no program may run. */
  readonly ripgrep?: Ripgrep | undefined;
}

export interface ToolContext extends ToolRun {
  /** The call's own id: the same when its turn is resumed, and of no other call. */
  readonly call: string;
  /** Absolute and real. */
  readonly workspace: string;
  readonly ports: ToolPorts;
}

type ParameterSchema = v.GenericSchema<unknown, unknown>;

/**
 * `execute` receives arguments that passed `parameters`. It may throw: the wrapper turns a throw into
 * an error result, so nothing a tool does ends a turn.
 */
export interface Tool<Schema extends ParameterSchema = ParameterSchema> {
  readonly name: string;
  /** For the model: what it does, when to use it, in one or two sentences. */
  readonly description: string;
  /** A strict valibot object; each entry carries a `v.description`. */
  readonly parameters: Schema;
  /** Other names under which models know a parameter, and the one it has here. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The section of `tools` in the configuration that switches it off; omitted where nothing does. */
  readonly section?: "exec" | "file" | "web";
  /** Not for subagents. */
  readonly mainOnly?: boolean;
  /** Changes nothing: neighbouring calls run side by side, and none is synced before it runs. */
  readonly readOnly?: boolean;
  /** What the same call did before is known by its id and not done again, so that one that was cut off may be made again. */
  readonly repeatable?: boolean;
  /** The tool bounds its own result (in characters), where the general cap would be in the way. */
  readonly resultLimit?: number;
  /** It only looks something up outside: the same question is answered twice in a turn, and not a third time. */
  readonly isLookup?: boolean;
  /** Omitted when every call that fits the schema may run. Changes nothing; a throw is a refusal. */
  permit?(args: v.InferOutput<Schema>, context: ToolContext): Promise<Permit>;
  execute(args: v.InferOutput<Schema>, context: ToolContext): Promise<ToolResult>;
}

/** Declares a tool and infers the type of its arguments. */
export function defineTool<Schema extends ParameterSchema>(tool: Tool<Schema>): Tool<Schema> {
  return tool;
}

/** Any tool, its arguments' type forgotten: what registries hold and the wrapper calls. */
export type AnyTool = Omit<Tool, "execute" | "permit"> & {
  permit?(args: never, context: ToolContext): Promise<Permit>;
  execute(args: never, context: ToolContext): Promise<ToolResult>;
};
