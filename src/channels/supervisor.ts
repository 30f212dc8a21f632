/** Keeps channels running: each is started, started again when it ends, and never touches another. */

import { type Channel, type ChannelRoute, type ChannelStatus, SendError } from "../core/channel.ts";
import { UserError } from "../core/errors.ts";
import type { Clock, Log } from "../core/platform.ts";
import { abortable, aborted, limitSignal, never } from "../lib/abort.ts";
import { problemOf } from "../lib/phrases.ts";

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 300_000;
/** Whoever ran this long begins with the first wait again. */
const STEADY_MS = 60_000;
/** A channel that is never made, or never ends, must not keep the others from beginning and ending. */
const CREATE_MS = 30_000;
const END_MS = 5_000;

/** What a channel says about itself, for its status. */
interface ChannelReports {
  heard(): void;
  report(state: { readonly isConnected: boolean; readonly detail?: string }): void;
}

interface SupervisedChannel {
  readonly name: string;
  /** Rejects with a `UserError` for a channel that cannot be made of its settings. */
  create(reports: ChannelReports): Promise<Channel>;
}

export interface SupervisorOptions {
  readonly channels: readonly SupervisedChannel[];
  readonly clock: Clock;
  readonly log: Log;
  /** Told when a channel can be sent to, or can no more. */
  readonly onChange: (name: string) => void;
}

interface SupervisedRoutes {
  readonly channel: string;
  readonly routes: readonly ChannelRoute[];
  isOpen(): boolean;
}

export interface Supervisor {
  /** Makes every channel; those that cannot be made have failed. Once, before `run`. */
  open(): Promise<void>;
  /** Runs them until `signal` aborts, then resolves when all have ended. Their `stop` is for `close`. */
  run(signal: AbortSignal): Promise<void>;
  /** The channel, as long as something can be sent by it. */
  get(name: string): Channel | undefined;
  status(): readonly ChannelStatus[];
  /** Every channel that could be made and takes requests; `isOpen` says whether it takes them now. */
  routes(): readonly SupervisedRoutes[];
  close(): Promise<void>;
}

interface Entry {
  readonly name: string;
  channel: Channel | undefined;
  /** Between its start and its end: what it reports later is of a time that is over. */
  isRunning: boolean;
  state: ChannelStatus["state"];
  detail: string | undefined;
  heardAt: number | undefined;
  restarts: number;
}

const NOBODY_WAITS = () => {};

/** Whether only the owner can help, so that trying again would not. */
function isFinal(error: unknown): boolean {
  return error instanceof UserError || (error instanceof SendError && error.kind === "unauthorized");
}

export function createSupervisor({ channels, clock, log, onChange }: SupervisorOptions): Supervisor {
  const entries = new Map<string, Entry>();

  function change(entry: Entry, state: Entry["state"], detail: string | undefined): void {
    entry.state = state;
    entry.detail = detail;
    onChange(entry.name);
  }

  function fail(entry: Entry, error: unknown): void {
    log.error(`Channel ${entry.name} ended: ${problemOf(error)}`, { channel: entry.name });
    change(entry, "failed", problemOf(error));
  }

  async function openOne({ name, create }: SupervisedChannel): Promise<void> {
    const entry: Entry = {
      name,
      channel: undefined,
      isRunning: false,
      state: "starting",
      detail: undefined,
      heardAt: undefined,
      restarts: 0,
    };
    entries.set(name, entry);
    const reports: ChannelReports = {
      heard() {
        entry.heardAt = clock.now();
      },
      report({ isConnected, detail }) {
        if (!entry.isRunning) return;
        change(entry, isConnected ? "connected" : "disconnected", detail);
      },
    };
    try {
      entry.channel = await made(name, () => create(reports));
    } catch (error) {
      if (!(error instanceof UserError)) log.error("Channel could not be made", { channel: name, error });
      fail(entry, error);
    }
  }

  /** Rejects when it takes too long. Whatever comes of it after that is stopped, since nobody has it. */
  async function made(name: string, create: () => Promise<Channel>): Promise<Channel> {
    const reason = () => new Error(`it could not be made within ${CREATE_MS / 1_000} s`);
    const limit = limitSignal(never, { clock, ms: CREATE_MS, reason });
    const making = create();
    try {
      return await abortable(making, limit.signal);
    } catch (error) {
      if (limit.signal.aborted) making.then((late) => stop(name, late), NOBODY_WAITS);
      throw error;
    } finally {
      limit.release();
    }
  }

  /** Resolves when it has stopped, did not stop well, or took too long. */
  async function stop(name: string, channel: Channel): Promise<void> {
    try {
      await withinEnd(channel.stop());
    } catch (error) {
      log.warn("Channel did not stop well", { channel: name, error });
    }
  }

  async function withinEnd(work: Promise<void>): Promise<void> {
    const reason = () => new Error(`it did not end within ${END_MS / 1_000} s`);
    const limit = limitSignal(never, { clock, ms: END_MS, reason });
    try {
      await abortable(work, limit.signal);
    } finally {
      limit.release();
    }
  }

  /** Why it ended. A source at its end is no reason to be silent for ever. */
  async function startOnce(entry: Entry, channel: Channel, signal: AbortSignal): Promise<unknown> {
    entry.isRunning = true;
    try {
      await channel.start(signal);
      return new Error("it came to its end");
    } catch (error) {
      return error;
    } finally {
      entry.isRunning = false;
    }
  }

  /** Resolves when the channel has ended for good, or `signal` aborted. */
  async function keepRunning(entry: Entry, channel: Channel, signal: AbortSignal): Promise<void> {
    let waitMs = FIRST_WAIT_MS;
    while (!signal.aborted) {
      const began = clock.elapsed();
      const error = await startOnce(entry, channel, signal);
      if (signal.aborted) break;
      if (isFinal(error)) return fail(entry, error);
      if (clock.elapsed() - began >= STEADY_MS) {
        waitMs = FIRST_WAIT_MS;
        entry.restarts = 0;
      }
      entry.restarts++;
      const problem = problemOf(error);
      log.warn(`Channel ${entry.name} ended and is started again`, { problem, waitMs });
      change(entry, "disconnected", problem);
      await waited(clock.sleep(waitMs, signal), signal);
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    }
    change(entry, "stopped", undefined);
  }

  return {
    async open() {
      await Promise.all(channels.map(openOne));
    },

    async run(signal) {
      const told = aborted(signal);
      const running = [...entries.values()].map(async (entry) => {
        if (entry.channel === undefined) return;
        const ended = keepRunning(entry, entry.channel, signal);
        await Promise.race([ended, told]);
        await withinEnd(ended).catch((error: unknown) => {
          log.warn("Channel did not end when it was told to", { channel: entry.name, error });
        });
      });
      // Also when every channel has ended for good: somebody may still ask why.
      await Promise.all([told, ...running]);
    },

    get(name) {
      const entry = entries.get(name);
      return entry?.state === "failed" ? undefined : entry?.channel;
    },

    status: () =>
      [...entries.values()].map(({ name, state, detail, heardAt, restarts }) => ({
        name,
        state,
        detail,
        heardAt: heardAt === undefined ? undefined : new Date(heardAt).toISOString(),
        restarts,
      })),

    routes: () =>
      [...entries.values()].flatMap((entry) => {
        const routes = entry.channel?.routes ?? [];
        const isOpen = () => entry.state !== "failed" && entry.state !== "stopped";
        return routes.length === 0 ? [] : [{ channel: entry.name, routes, isOpen }];
      }),

    async close() {
      await Promise.all(
        [...entries.values()].map(({ name, channel }) =>
          channel === undefined ? undefined : stop(name, channel),
        ),
      );
    },
  };
}

/** An abort ends the wait like its end. */
async function waited(sleep: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await sleep;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
