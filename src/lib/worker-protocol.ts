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

/** The answer to a question of the thread, by the question's id. */
export type ReplyMessage =
  | { readonly type: "reply"; readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly type: "reply"; readonly id: number; readonly ok: false; readonly message: string };

export type ToThread = StartMessage | ReplyMessage | { readonly type: "ping" };

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

/** A question of the thread. Ids are its own, each used once. */
export interface AskMessage {
  readonly type: "ask";
  readonly id: number;
  readonly kind: string;
  readonly request: unknown;
}

/** It still hears, and has so many bytes of memory of its own. */
interface PongMessage {
  readonly type: "pong";
  readonly bytes: number;
}

export type FromThread = EndMessage | AskMessage | PongMessage;

/** Buffers that can change hands instead of being copied: only those that nothing else has a view of. */
export function transferable(input: object): ArrayBuffer[] {
  return Object.values(input)
    .filter((value) => value instanceof Uint8Array)
    .map(({ buffer, byteLength }) => ({ buffer, byteLength }))
    .filter(({ buffer, byteLength }) => buffer.byteLength === byteLength)
    .map(({ buffer }) => buffer)
    .filter((buffer) => buffer instanceof ArrayBuffer);
}
