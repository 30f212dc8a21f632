/** Threads for work that is heavy or may go wrong: nothing of them is left when it is done. */

import type { SubagentAsks, SubagentInput, SubagentOutput } from "./subagent.ts";

export type OfficeKind = "docx" | "xlsx" | "pptx";

/**
 * What each role takes and gives. Structured clones: plain data only. Bytes may change hands instead of being
 * copied, so that whoever gave them must not look at them again.
 */
export interface WorkerJobs {
  /** A page to Markdown or plain text. */
  readonly html: {
    readonly input: {
      readonly html: string;
      readonly url: string;
      readonly mode: "markdown" | "text";
      /** Characters of text that are of use. */
      readonly maxChars: number;
    };
    readonly output: {
      readonly title: string;
      readonly text: string;
      readonly extractor: "readability" | "html";
      /** There was more. */
      readonly truncated: boolean;
    };
  };
  /** Pages of a PDF to text. */
  readonly pdf: {
    readonly input: {
      readonly bytes: Uint8Array<ArrayBuffer>;
      /** From 1, both included. */
      readonly firstPage: number;
      readonly lastPage: number;
      readonly maxChars: number;
    };
    readonly output: {
      readonly pages: readonly string[];
      readonly pageCount: number;
      readonly truncated: boolean;
    };
  };
  /** A document of an office program to text. The program finds out which kind it is. */
  readonly office: {
    readonly input: { readonly bytes: Uint8Array<ArrayBuffer>; readonly maxChars: number };
    readonly output: { readonly kind: OfficeKind; readonly text: string; readonly truncated: boolean };
  };
  /** The loop of a subagent. Its model and its tools are with whoever started it. */
  readonly subagent: {
    readonly input: SubagentInput;
    readonly output: SubagentOutput;
    readonly asks: SubagentAsks;
  };
}

export type WorkerRole = keyof WorkerJobs;

/** What a thread of a role may ask of the main thread, by kind; nothing where its job says nothing of it. */
type AsksOf<Role extends WorkerRole> = WorkerJobs[Role] extends { readonly asks: infer Asks }
  ? Asks
  : Readonly<Record<never, { readonly request: unknown; readonly reply: unknown }>>;
type RequestOf<Ask> = Ask extends { readonly request: infer Request } ? Request : never;
type ReplyOf<Ask> = Ask extends { readonly reply: infer Reply } ? Reply : never;

/** From inside a thread. Rejects with an error of the same message when the main thread's answer is one. */
export type AskHost<Role extends WorkerRole> = <Kind extends keyof AsksOf<Role> & string>(
  kind: Kind,
  request: RequestOf<AsksOf<Role>[Kind]>,
) => Promise<ReplyOf<AsksOf<Role>[Kind]>>;

/** The answers to what a thread asks. `signal` aborts when the thread is gone: nobody waits for them any more. */
export type ServeThread<Role extends WorkerRole> = {
  readonly [Kind in keyof AsksOf<Role>]: (
    request: RequestOf<AsksOf<Role>[Kind]>,
    signal: AbortSignal,
  ) => Promise<ReplyOf<AsksOf<Role>[Kind]>>;
};

/** The program of a role, in its thread. A throw becomes the job's failure, with its message. */
export type WorkerProgram<Role extends WorkerRole> = (
  input: WorkerJobs[Role]["input"],
  ...ask: WorkerJobs[Role] extends { readonly asks: unknown } ? [AskHost<Role>] : []
) => Promise<WorkerJobs[Role]["output"]>;

export type WorkerOutcome<Output> =
  | { readonly ok: true; readonly output: Output }
  /**
   * `reason` is one sentence for the model: what the document is wrong in, that it took too long, that the thread
   * died. `isEnding` is a job that did not fail: the program ends.
   */
  | { readonly ok: false; readonly reason: string; readonly isEnding?: true };

export interface WorkerOptions<Role extends WorkerRole> {
  /**
   * Left out where a job may take as long as it likes: then the thread is asked every 10 seconds whether it still
   * hears, and given up when it has not for a minute.
   */
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  /** Left out where the role asks nothing. */
  readonly serve?: ServeThread<Role> | undefined;
}

export interface Workers {
  /**
   * Runs one job in a thread of its own, which is ended after it. Two documents are read at once; what waits for its
   * turn is not counted in `timeoutMs`. Subagents wait for nobody here: whoever starts them counts them. Rejects only
   * with the signal's reason; a throw in the thread, a thread that dies, takes too much memory, is not done in time
   * or hears no more, and the end of the program are outcomes. What was served for a job has settled before it does.
   */
  run<Role extends WorkerRole>(
    role: Role,
    input: WorkerJobs[Role]["input"],
    options: WorkerOptions<Role>,
  ): Promise<WorkerOutcome<WorkerJobs[Role]["output"]>>;
  /** Ends every thread that still runs, and fails the jobs that wait. For exits. */
  endAll(): void;
}
