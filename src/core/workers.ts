/** Threads for work that is heavy or may go wrong: nothing of them is left when it is done. */

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
}

export type WorkerRole = keyof WorkerJobs;

/** The program of a role, in its thread. A throw becomes the job's failure, with its message. */
export type WorkerProgram<Role extends WorkerRole> = (
  input: WorkerJobs[Role]["input"],
) => Promise<WorkerJobs[Role]["output"]>;

export type WorkerOutcome<Output> =
  | { readonly ok: true; readonly output: Output }
  /** One sentence for the model: what the document is wrong in, that it took too long, that the thread died. */
  | { readonly ok: false; readonly reason: string };

export interface Workers {
  /**
   * Runs one job in a thread of its own, which is ended after it. Two run at once; what waits for its turn is
   * not counted in `timeoutMs`. Rejects only with the signal's reason; a throw in the thread, a thread that
   * dies, takes too much memory or is not done in time, and the end of the program are outcomes.
   */
  run<Role extends WorkerRole>(
    role: Role,
    input: WorkerJobs[Role]["input"],
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<WorkerOutcome<WorkerJobs[Role]["output"]>>;
  /** Ends every thread that still runs, and fails the jobs that wait. For exits. */
  endAll(): void;
}
