/** What a tool is: one declaration that the model, the validation and the type of its arguments share. */

import type * as v from "valibot";
import type { Origin } from "./messages.ts";
import type { FileSystem, Processes } from "./platform.ts";

/** Text for the model. `ok: false` means that the call did not do what it was asked to. */
export interface ToolResult {
  readonly ok: boolean;
  readonly text: string;
}

export function toolOk(text: string): ToolResult {
  return { ok: true, text };
}

/** `text` says what went wrong and what would work; the wrapper puts `Error: ` in front. */
export function toolError(text: string): ToolResult {
  return { ok: false, text };
}

/** A path that was resolved through every link and found to be allowed. Absolute. */
export type RealPath = string & { readonly __kind: "real" };

/** The files a tool may touch. Every operation takes a `RealPath`, so that none can skip the check. */
export interface ToolFiles {
  readonly system: FileSystem;
  /**
   * Where `path` (relative to the workspace, absolute, or beginning with `~/`) really is.
   * Throws a `UserError` when it lies outside what the owner allowed for that kind of access; `doing` is
   * what the refusal says could not be done, where reading and writing are not the word for it.
   */
  resolve(path: string, access: "read" | "write", doing?: string): Promise<RealPath>;
  /** The short form for the model and the user: relative to the workspace where it lies inside. */
  display(path: string): string;
}

/** Runs shell commands on behalf of the model: short environment, own process group, bounded output. */
export interface ToolShell {
  /** Seconds a command may run unless the call asks for another time. 0 means no limit. */
  readonly defaultTimeoutSeconds: number;
  run(
    command: string,
    options: { cwd: RealPath; timeoutSeconds: number; signal: AbortSignal },
  ): ReturnType<Processes["run"]>;
}

/** The services a tool reaches. A tool never imports one. */
export interface ToolPorts {
  readonly files: ToolFiles;
  readonly shell: ToolShell;
}

export interface ToolContext {
  /** Aborted by `/stop` and at shutdown. A tool settles soon after, in any way. */
  readonly signal: AbortSignal;
  readonly sessionKey: string;
  /** Absolute and real. */
  readonly workspace: string;
  readonly origin: Origin;
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
  /** Changes nothing: calls run side by side, and again after a crash. */
  readonly readOnly?: boolean;
  /** The tool bounds its own result (in characters), where the general cap would be in the way. */
  readonly resultLimit?: number;
  execute(args: v.InferOutput<Schema>, context: ToolContext): Promise<ToolResult>;
}

/** Declares a tool and infers the type of its arguments. */
export function defineTool<Schema extends ParameterSchema>(tool: Tool<Schema>): Tool<Schema> {
  return tool;
}

/** Any tool, its arguments' type forgotten: what registries hold and the wrapper calls. */
export type AnyTool = Omit<Tool, "execute"> & {
  execute(args: never, context: ToolContext): Promise<ToolResult>;
};
