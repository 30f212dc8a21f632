/** The bus whose messages survive the process: two journals in the workspace, and the ids that have left them. */

import type { DurableBus } from "../../core/bus.ts";
import type { InboundId } from "../../core/messages.ts";
import type { Clock, FileSystem, Log } from "../../core/platform.ts";
import { explained } from "../../lib/file-error.ts";
import { join } from "../../lib/path.ts";
import { type BusLimits, defaultLimits } from "../bounds.ts";
import { openInbox } from "./inbox.ts";
import { createInboxState } from "./inbox-state.ts";
import { openOutbox } from "./outbox.ts";
import { createOutboxState, type OutboxState } from "./outbox-state.ts";
import { readRecords } from "./read.ts";
import { parseInboxRecord, parseOutboxRecord, parseSeenRecord } from "./records.ts";
import { openSeen, remember } from "./seen.ts";

const FOLDER_MODE = 0o700;
const COMPACT_AT = 1024 * 1024;

export interface JournalBusOptions {
  readonly files: FileSystem;
  readonly clock: Pick<Clock, "after" | "now">;
  readonly log: Log;
  /** Absolute. */
  readonly folder: string;
  readonly limits?: BusLimits;
  /** Bytes of a journal below which it is not made smaller. */
  readonly compactAt?: number;
  /** Ids that are remembered however old they are. */
  readonly fewestSeen?: number;
}

/** One process at a time. Throws a `UserError`, and has changed nothing, when a file is of a newer version. */
export async function createJournalBus({
  files,
  clock,
  log,
  folder,
  limits = defaultLimits,
  compactAt = COMPACT_AT,
  fewestSeen,
}: JournalBusOptions): Promise<DurableBus> {
  const shared = { files, clock, log, limits, compactAt };
  const path = (name: string) => join(folder, `${name}.jsonl`);
  const inboxState = createInboxState();
  const outboxState = createOutboxState();
  const times = new Map<string, number>();

  const inboxContents = await readRecords({
    files,
    path: path("inbox"),
    parse: parseInboxRecord,
    onRecord: inboxState.apply,
  });
  const outboxContents = await readRecords({
    files,
    path: path("outbox"),
    parse: parseOutboxRecord,
    onRecord: outboxState.apply,
  });
  const seenContents = await readRecords({
    files,
    path: path("seen"),
    parse: parseSeenRecord,
    onRecord: (record) => remember(times, record),
  });

  await explained("make the folder", folder, () => files.makeFolder(folder, { mode: FOLDER_MODE }));
  const seen = await openSeen({
    files,
    clock,
    log,
    path: path("seen"),
    contents: seenContents,
    times,
    ...(fewestSeen === undefined ? {} : { fewest: fewestSeen }),
  });
  const answered = answeredBy(outboxState);
  const inbox = await openInbox({
    ...shared,
    path: path("inbox"),
    contents: inboxContents,
    state: inboxState,
    seen,
    isAnswered: (id) => answered.has(id),
  });
  outboxState.forgetStreams((turn) => inbox.isPending(turn));
  const outbound = await openOutbox({
    ...shared,
    path: path("outbox"),
    contents: outboxContents,
    state: outboxState,
    inbox,
  });

  async function close(): Promise<void> {
    try {
      // First, because making it smaller takes the inbox.
      await outbound.close();
    } finally {
      await inbox.close();
    }
  }
  let closing: Promise<void> | undefined;

  return {
    publishInbound: inbox.publish,
    inbound: inbox.deliveries,
    isPending: inbox.isPending,
    publishOutbound: outbound.publish,
    outbound: outbound.deliveries,
    openStream: outbound.openStream,
    recordStream: outbound.recordStream,
    outbox: outbound.outbox,
    problem: () => inbox.problem() ?? outbound.problem(),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Inbound messages that need nothing more than their `done`. */
function answeredBy(state: OutboxState): ReadonlySet<InboundId> {
  const answered = new Set<InboundId>();
  for (const { message } of state.undelivered.values()) for (const id of message.answers) answered.add(id);
  for (const { answers } of state.delivered.values()) for (const id of answers) answered.add(id);
  return answered;
}
