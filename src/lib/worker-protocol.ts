/** What a thread and its host say to each other. The first message to a thread names its role. */

import type { WorkerJobs, WorkerRole } from "../core/workers.ts";

/** A job to do, to the thread. One of each role, so that the role says what the input is. */
export type StartMessage = {
  readonly [Role in WorkerRole]: {
    readonly type: "start";
    readonly role: Role;
    readonly input: WorkerJobs[Role]["input"];
  };
}[WorkerRole];

/** The end of a job, from the thread. */
export type EndMessage =
  | { readonly type: "done"; readonly output: WorkerJobs[WorkerRole]["output"] }
  /** `isExpected`: the input is at fault, and `message` says in which way. */
  | {
      readonly type: "failed";
      readonly name: string;
      readonly message: string;
      readonly isExpected: boolean;
    };

/** Buffers that can change hands instead of being copied: only those that nothing else has a view of. */
export function transferable(input: object): ArrayBuffer[] {
  return Object.values(input)
    .filter((value) => value instanceof Uint8Array)
    .map(({ buffer, byteLength }) => ({ buffer, byteLength }))
    .filter(({ buffer, byteLength }) => buffer.byteLength === byteLength)
    .map(({ buffer }) => buffer)
    .filter((buffer) => buffer instanceof ArrayBuffer);
}
