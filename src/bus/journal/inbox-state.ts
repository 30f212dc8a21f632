/** What the records of the inbox add up to: the same while it runs as when the file is read again. */

import type { InboundId, InboundMessage } from "../../core/messages.ts";
import type { Resumes } from "../resumes.ts";
import type { InboxRecord } from "./records.ts";

interface Pending {
  readonly message: InboundMessage;
  resumes: Resumes | undefined;
}

export interface InboxState {
  apply(record: InboxRecord): void;
  /** What is not done, in the order in which it was put. */
  readonly pending: ReadonlyMap<InboundId, Readonly<Pending>>;
  /** Ids of messages that are done, as far as the file has them. */
  readonly finished: ReadonlySet<InboundId>;
  /** These ids are remembered elsewhere now. */
  forget(ids: Iterable<InboundId>): void;
  /** Records that add up to this state without what is `left` out. */
  live(left?: ReadonlySet<InboundId>): Iterable<InboxRecord>;
}

export function createInboxState(): InboxState {
  const pending = new Map<InboundId, Pending>();
  const finished = new Set<InboundId>();

  return {
    pending,
    finished,
    apply(record) {
      if ("put" in record) {
        const { id } = record.put;
        if (finished.has(id) || pending.has(id)) return;
        pending.set(id, { message: record.put, resumes: undefined });
      } else if ("done" in record) {
        pending.delete(record.done);
        finished.add(record.done);
      } else if ("void" in record) {
        pending.delete(record.void);
      } else {
        const begun = pending.get(record.resume);
        if (begun !== undefined) begun.resumes = record;
      }
    },
    forget(ids) {
      for (const id of ids) finished.delete(id);
    },
    *live(left) {
      for (const done of finished) if (!left?.has(done)) yield { done };
      for (const [resume, { message, resumes }] of pending) {
        yield { put: message };
        if (resumes !== undefined) yield { resume, progress: resumes.progress, count: resumes.count };
      }
    },
  };
}
