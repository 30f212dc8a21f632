/** Telegram's queue of updates: handed out by polls that confirm by their offset, or pushed to a webhook. */

interface TelegramUpdate {
  readonly update_id: number;
  readonly [kind: string]: unknown;
}

interface WebhookSettings {
  readonly url: string;
  readonly secret: string | undefined;
  readonly maxConnections: number;
}

interface WebhookDelivery {
  readonly updateId: number;
  /** 0 when there was no answer. */
  readonly status: number;
}

export interface UpdatesOptions {
  readonly firstId: number;
  /** Before an update is pushed again; doubles with every failure. */
  readonly retryMs: number;
}

/** A poll that waits. */
interface Poll {
  readonly offset: number;
  readonly limit: number;
  /** Ends the poll with these updates. */
  answer(updates: readonly TelegramUpdate[]): void;
  /** Ends it with a refusal. */
  conflict(description: string): void;
  /** Resolves when its client has gone. */
  readonly gone: Promise<void>;
}

export interface Updates {
  /** Resolves to the id of the update; `undefined` when the bot does not want such. */
  add(kind: string, content: unknown, chatId: number): number | undefined;
  /** Puts updates that were confirmed before back, as if they never had been. */
  offerAgain(ids: readonly number[]): void;
  poll(poll: Poll, waitMs: number): Promise<void>;
  setWebhook(webhook: WebhookSettings | undefined, options: { drop: boolean }): void;
  allow(kinds: readonly string[] | undefined): void;
  readonly webhook: WebhookSettings | undefined;
  readonly waiting: readonly number[];
  /** The offsets of polls, in the order in which they came. */
  readonly offsets: readonly (number | undefined)[];
  /** How often a poll came while another was open. */
  readonly overlaps: number;
  /** How many updates were thrown away unread on the bot's wish. */
  readonly dropped: number;
  readonly deliveries: readonly WebhookDelivery[];
  readonly lastError: { readonly at: number; readonly message: string } | undefined;
  close(): void;
}

interface Entry {
  readonly update: TelegramUpdate;
  readonly chatId: number;
  failures: number;
  wakeAt: number;
}

/** How long a client that aborts may take to close its connection. */
const FAREWELL_MS = 200;
const LONGEST_RETRY_MS = 60_000;
const OTHER_POLL =
  "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";

export function createUpdates({ firstId, retryMs }: UpdatesOptions): Updates {
  const queue: Entry[] = [];
  const confirmed = new Map<number, Entry>();
  const offsets: (number | undefined)[] = [];
  const deliveries: WebhookDelivery[] = [];
  const busyChats = new Set<number>();
  const aborts = new Set<AbortController>();
  const timers = new Set<NodeJS.Timeout>();
  let nextId = firstId;
  let allowed: readonly string[] | undefined;
  let open: Poll | undefined;
  let webhook: WebhookSettings | undefined;
  let connections = 0;
  let overlaps = 0;
  let dropped = 0;
  let lastError: Updates["lastError"];
  let isClosed = false;

  function later(ms: number, task: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      task();
    }, ms);
    timers.add(timer);
  }

  function confirm(entry: Entry): void {
    queue.splice(queue.indexOf(entry), 1);
    confirmed.set(entry.update.update_id, entry);
  }

  function answerPoll(): void {
    const poll = open;
    if (poll === undefined) return;
    const updates = queue.slice(0, poll.limit).map(({ update }) => update);
    if (updates.length === 0) return;
    open = undefined;
    poll.answer(updates);
  }

  async function post(entry: Entry, { url, secret }: WebhookSettings): Promise<number> {
    const abort = new AbortController();
    aborts.add(abort);
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(secret === undefined ? {} : { "x-telegram-bot-api-secret-token": secret }),
        },
        body: JSON.stringify(entry.update),
        redirect: "manual",
        signal: abort.signal,
      });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 0;
    } finally {
      aborts.delete(abort);
    }
  }

  async function push(entry: Entry, target: WebhookSettings): Promise<void> {
    busyChats.add(entry.chatId);
    connections++;
    const status = await post(entry, target);
    connections--;
    busyChats.delete(entry.chatId);
    if (isClosed) return;
    deliveries.push({ updateId: entry.update.update_id, status });
    if (status >= 200 && status < 300) {
      if (queue.includes(entry)) confirm(entry);
    } else {
      const wait = Math.min(retryMs * 2 ** entry.failures++, LONGEST_RETRY_MS);
      entry.wakeAt = performance.now() + wait;
      lastError = {
        at: Date.now(),
        message: status === 0 ? "Connection refused" : `Wrong response from the webhook: ${status}`,
      };
      later(wait, pushAll);
    }
    pushAll();
  }

  /** In each chat only the first one is under way, so that order is kept there. */
  function pushAll(): void {
    if (webhook === undefined || isClosed) return;
    const seen = new Set<number>();
    for (const entry of queue) {
      if (connections >= webhook.maxConnections) return;
      if (seen.has(entry.chatId)) continue;
      seen.add(entry.chatId);
      if (busyChats.has(entry.chatId) || entry.wakeAt > performance.now()) continue;
      void push(entry, webhook);
    }
  }

  function drop(): void {
    dropped += queue.length;
    queue.length = 0;
  }

  return {
    add(kind, content, chatId) {
      if (allowed !== undefined && !allowed.includes(kind)) return undefined;
      const id = nextId++;
      queue.push({ update: { update_id: id, [kind]: content }, chatId, failures: 0, wakeAt: 0 });
      answerPoll();
      pushAll();
      return id;
    },

    offerAgain(ids) {
      for (const id of ids) {
        const entry = confirmed.get(id);
        if (entry === undefined) throw new Error(`Update ${id} was never confirmed`);
        confirmed.delete(id);
        queue.push({ ...entry, failures: 0, wakeAt: 0 });
      }
      queue.sort((one, other) => one.update.update_id - other.update.update_id);
      answerPoll();
      pushAll();
    },

    async poll(poll, waitMs) {
      offsets.push(poll.offset === 0 ? undefined : poll.offset);
      if (webhook !== undefined) {
        poll.conflict(
          "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
        );
        return;
      }
      const other = open;
      if (other !== undefined) {
        const patience = new Promise<"stays">((resolve) => later(FAREWELL_MS, () => resolve("stays")));
        if ((await Promise.race([other.gone, patience])) === "stays" && open === other) {
          overlaps++;
          open = undefined;
          other.conflict(OTHER_POLL);
        }
      }
      for (const entry of queue.filter(({ update }) => update.update_id < poll.offset)) confirm(entry);
      open = poll;
      void poll.gone.then(() => {
        if (open === poll) open = undefined;
      });
      answerPoll();
      if (open !== poll) return;
      later(waitMs, () => {
        if (open !== poll) return;
        open = undefined;
        poll.answer([]);
      });
    },

    setWebhook(settings, options) {
      if (options.drop) drop();
      webhook = settings;
      open?.conflict("Conflict: terminated by setWebhook request");
      open = undefined;
      for (const entry of queue) entry.wakeAt = 0;
      pushAll();
    },

    allow(kinds) {
      if (kinds !== undefined) allowed = kinds.length === 0 ? undefined : kinds;
    },
    get webhook() {
      return webhook;
    },
    get waiting() {
      return queue.map(({ update }) => update.update_id);
    },
    offsets,
    get overlaps() {
      return overlaps;
    },
    get dropped() {
      return dropped;
    },
    deliveries,
    get lastError() {
      return lastError;
    },
    close() {
      isClosed = true;
      for (const timer of timers) clearTimeout(timer);
      for (const abort of aborts) abort.abort();
    },
  };
}
