/** Sessions of any length, written by the program's own store, with lines as conversations have them. */

import { join } from "node:path";
import type { InboundId } from "../../../src/core/messages.ts";
import type { Log } from "../../../src/core/platform.ts";
import type { SessionStore, StoredMessage } from "../../../src/core/session.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createFileSystem } from "../../../src/platform/files.ts";
import { createLocks } from "../../../src/platform/locks.ts";
import { createSessionStore } from "../../../src/sessions/store.ts";

/** What the store of `nanobot agent` gets without a configuration. */
const CONTEXT_TOKENS = 200_000;

/** A store that complains about a line must fail the measurement. */
const log: Log = {
  debug: () => {},
  info: () => {},
  warn: (message) => fail(message),
  error: (message) => fail(message),
};

function fail(message: string): never {
  throw new Error(`The session store complained: ${message}`);
}

export function openStore(workspace: string): SessionStore {
  return createSessionStore({
    files: createFileSystem(),
    locks: createLocks({ os: process.platform, folder: workspace }),
    clock: systemClock,
    log,
    workspace,
    legacy: { homeSessions: join(workspace, "none") },
    tokens: CONTEXT_TOKENS,
  });
}

const LINES_PER_TURN = 4;
/** The store forgets what no window needs when a session is closed. */
const TURNS_PER_OPENING = 1_000;

/** Makes the session `key` `lines` lines long, a multiple of four, not synced. */
export async function writeSession(store: SessionStore, key: string, lines: number): Promise<void> {
  const { signal } = new AbortController();
  const turns = lines / LINES_PER_TURN;
  for (let turn = 0; turn < turns; ) {
    const session = await store.open(key, { signal });
    const end = Math.min(turns, turn + TURNS_PER_OPENING);
    for (; turn < end; turn++) await session.append(turnLines(turn), { sync: false });
    await session.close();
  }
}

/** A question, a call, its result and an answer. The lengths are mixed, and the same in every run. */
function turnLines(turn: number): readonly StoredMessage[] {
  const id = `cli:direct:${turn}` as InboundId;
  const timestamp = new Date(1_790_000_000_000 + turn * 60_000).toISOString();
  const callId = `${id}/0/0`;
  const call = {
    id: callId,
    type: "function",
    function: { name: "read_file", arguments: JSON.stringify({ path: `notes/${turn}.md` }) },
  } as const;
  return [
    {
      role: "user",
      content: prose(turn, 20 + spread(turn, 300)),
      timestamp,
      turn: id,
      inbound: id,
      runtime: `[Context]\nTime: ${timestamp}\nChannel: cli`,
    },
    { role: "assistant", content: "", tool_calls: [call], timestamp, turn: id },
    {
      role: "tool",
      tool_call_id: callId,
      name: "read_file",
      content: prose(turn + 1, 100 + spread(turn, 4_000)),
      timestamp,
      turn: id,
    },
    { role: "assistant", content: prose(turn + 2, 60 + spread(turn, 1_200)), timestamp, turn: id },
  ];
}

/** One line, the same each time. */
export const lineToAppend: StoredMessage = { role: "assistant", content: prose(0, 500) };

/** A number below `limit`, small ones more often. */
function spread(seed: number, limit: number): number {
  const fraction = ((seed * 2_654_435_761) % 1_000_003) / 1_000_003;
  return Math.floor(fraction * fraction * limit);
}

function prose(seed: number, length: number): string {
  const words =
    "the meeting moved to Thursday at 10:30, see notes/café.md; 3 of 14 items are left – ask Ana 🐈 ";
  const start = (seed * 7) % 40;
  return words
    .repeat(Math.ceil((length + start) / words.length))
    .slice(start, start + length)
    .toWellFormed();
}
