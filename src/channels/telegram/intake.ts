/** Takes updates and brings them to the bus: once each, in the order of their chat, albums as one message. */

import type { Message, Update, User } from "grammy/types";
import type { ChannelContext } from "../../core/channel.ts";
import type { InboundMessage } from "../../core/messages.ts";
import { abortable, limitSignal } from "../../lib/abort.ts";
import { BUTTON_TOO_OLD } from "../../lib/phrases.ts";
import { createRecent, promiseOf } from "../../lib/recent.ts";
import type { Self } from "./addressed.ts";
import { isMeant } from "./addressed.ts";
import type { AlbumShelf } from "./album-shelf.ts";
import { createAlbums } from "./albums.ts";
import { fetchAttachment } from "./attachments.ts";
import type { BotApi } from "./bot-api.ts";
import { createChatOrder } from "./chat-order.ts";
import type { Gestures } from "./gestures.ts";
import { albumKey, inboundOf, type Said, saidByPress, saidIn, updateKey } from "./inbound.ts";
import { eventOf, type UpdateEvent } from "./update.ts";

const EMIT_MS = 5_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** Messages whose files are here and that could not be put yet. */
const PREPARED = 100;
/** Updates that are known to be safe when they come again. */
const REMEMBERED = 1_000;
/** More than Telegram ever has under way. */
const MOST_IN_FLIGHT = 1_000;

export interface IntakeOptions {
  readonly self: Self;
  readonly api: BotApi;
  readonly context: ChannelContext;
  readonly gestures: Gestures;
  readonly shelf: AlbumShelf;
  /** Messages say which one an answer should quote. */
  readonly quotes: boolean;
  /** Ends all of it. */
  readonly signal: AbortSignal;
}

export interface Intake {
  /**
   * Resolves when the update is safe with the bus or does not concern us. Rejects when it has to come again;
   * it may come while it is under way, and is taken once.
   */
  take(update: Update): Promise<void>;
  /** The same for a source that goes on only then: a part of an album is safe on disk, and delivered later. */
  takeAtOnce(update: Update): Promise<void>;
  /** Takes up what an earlier run left on disk. */
  resume(): Promise<void>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

type Written = Message & { readonly from: User };
type Part = { readonly update: Update; readonly message: Written };

export function createIntake(options: IntakeOptions): Intake {
  const { self, api, context, gestures, shelf, quotes, signal } = options;
  const { clock, log } = context;
  const order = createChatOrder();
  const albums = createAlbums(clock, ({ message }: Part) => isMeant(message, self));
  const inFlight = new Map<number, Promise<void>>();
  const safe = new Set<number>();
  const background = new Set<Promise<void>>();
  const prepared = createRecent<Promise<InboundMessage>>({ most: PREPARED });

  async function prepare(said: Said): Promise<InboundMessage> {
    const fetched = [];
    for (const attachment of said.attachments) {
      fetched.push(await fetchAttachment(attachment, { api, context }, signal));
    }
    const media = fetched.flatMap((result) => ("media" in result ? [result.media] : []));
    const notes = fetched.flatMap((result) => ("note" in result ? [result.note] : []));
    return inboundOf(said, { media, notes }, { quotes });
  }

  async function emit(message: InboundMessage): Promise<boolean> {
    const limit = limitSignal(signal, {
      clock,
      ms: EMIT_MS,
      reason: () => new Error("The queue of messages is full"),
    });
    try {
      return await context.emit(message, limit.signal);
    } finally {
      limit.release();
    }
  }

  async function deliver(said: Said): Promise<void> {
    signal.throwIfAborted();
    if (said.content === "" && said.attachments.length === 0) return;
    if (!(await abortable(context.admit(said.sender), signal))) return;
    // What was fetched for a message that cannot be put yet is not fetched again. An album may have grown since.
    const key = [said.id, said.content, ...said.attachments.map(({ fileId }) => fileId)].join("\n");
    const preparing = promiseOf(prepared, key, () => prepare(said));
    const isNew = await emit(await preparing);
    prepared.drop(key, preparing);
    if (isNew && said.messageId !== undefined) gestures.receipt(said.sender.chatId, said.messageId);
  }

  async function takePress({ press }: UpdateEvent & { kind: "press" }, id: number): Promise<void> {
    const said = saidByPress(updateKey(id), press, clock.now());
    if (said === undefined) return gestures.answerPress(press.id, BUTTON_TOO_OLD);
    await deliver(said);
    gestures.answerPress(press.id);
  }

  function takeAlbumPart(part: Part, group: string): Promise<void> {
    const { chat } = part.message;
    const key = albumKey(chat.id, group);
    return albums
      .add(key, part.update.update_id, part, (gathering) =>
        order.run(`${chat.id}`, async () => {
          const parts = await abortable(gathering, signal);
          const messages = [...parts].sort(([one], [other]) => one - other).map(([, { message }]) => message);
          const [first = part.message, ...others] = messages;
          await deliver(saidIn(key, [first, ...others], self));
        }),
      )
      .then((outcome) => (outcome === "late" ? takeStraggler(part, key) : undefined));
  }

  /** A picture that came after its album was delivered is a message of its own. */
  function takeStraggler({ update, message }: Part, key: string): Promise<void> {
    const isMeantAnyway = [...(albums.delivered(key)?.values() ?? [])].some((isMeantByIt) => isMeantByIt);
    const said = saidIn(updateKey(update.update_id), [message], self, { isMeantAnyway });
    return order.run(`${message.chat.id}`, () => deliver(said));
  }

  /** What is in no form that we know must not come again for ever. */
  function read<T>(update: Update, reading: () => T): T | undefined {
    try {
      return reading();
    } catch (error) {
      log.error("Left out an update of Telegram that could not be read", { id: update.update_id, error });
      return undefined;
    }
  }

  async function handle(update: Update): Promise<void> {
    const id = update.update_id;
    const event = read(update, () => eventOf(update, self));
    // A press answers something that runs, perhaps what the chat waits for.
    if (event?.kind === "press") return takePress(event, id);
    if (event === undefined) return;
    const { message } = event;
    const said = read(update, () => saidIn(updateKey(id), [message], self));
    if (said === undefined) return;
    const group = message.media_group_id;
    if (group !== undefined) return takeAlbumPart({ update, message }, group);
    await order.run(said.sender.chatId, () => deliver(said));
  }

  function remember(id: number): void {
    safe.add(id);
    for (const oldest of safe) {
      if (safe.size <= REMEMBERED) return;
      safe.delete(oldest);
    }
  }

  function take(update: Update): Promise<void> {
    const id = update.update_id;
    const running = inFlight.get(id);
    if (running) return running;
    if (safe.has(id)) return Promise.resolve();
    if (inFlight.size >= MOST_IN_FLIGHT) return Promise.reject(new Error("Too many updates at once"));
    const work = handle(update)
      .then(() => remember(id))
      .finally(() => inFlight.delete(id));
    inFlight.set(id, work);
    return work;
  }

  /** Delivers a part that is on disk, however long it takes, and takes it from there. */
  async function deliverKept(update: Update): Promise<void> {
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(wait * 2, LONGEST_RETRY_MS)) {
      try {
        await take(update);
        await shelf.drop([update.update_id]);
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.warn("Could not deliver an album of Telegram yet", { error });
        await clock.sleep(wait, signal).catch(() => {});
        if (signal.aborted) return;
      }
    }
  }

  function goOnWith(update: Update): void {
    const work = deliverKept(update).finally(() => background.delete(work));
    background.add(work);
  }

  return {
    take,

    async takeAtOnce(update) {
      const event = read(update, () => eventOf(update, self));
      if (event?.kind !== "message" || event.message.media_group_id === undefined) return take(update);
      if (inFlight.has(update.update_id) || safe.has(update.update_id)) return;
      if (background.size >= MOST_IN_FLIGHT) throw new Error("Too many albums at once");
      // Only one picture has the words that mean the bot. What counts here is who it is from.
      const key = albumKey(event.message.chat.id, event.message.media_group_id);
      const said = read(update, () => saidIn(key, [event.message], self, { isMeantAnyway: true }));
      if (said === undefined || !(await context.admit(said.sender))) return;
      await shelf.put(update);
      goOnWith(update);
    },

    async resume() {
      for (const update of await shelf.all()) goOnWith(update);
    },

    async idle() {
      await Promise.allSettled([...inFlight.values(), ...background]);
    },
  };
}
