/** The owner's chat: the one that is configured, else the latest active private chat of somebody the owner let in. */

import type { Chat, FindOwner } from "../core/access.ts";
import type { Clock, FileSystem, Log } from "../core/platform.ts";
import { isObject } from "../lib/is-object.ts";
import { createJsonFile, refuseNewer } from "../lib/json-file.ts";
import { lazy } from "../lib/lazy.ts";
import { join } from "../lib/path.ts";

/** Chats that are remembered, for when the latest is let in no more. */
const MOST_CONTACTS = 8;
const LONGEST_FILE = 64 * 1024;
/** Of an id. With more the file would not be read again. */
const LONGEST_ID = 500;
/** So that two people who write in turns cost one write in this time. */
const DELAY_MS = 5_000;
const VERSION = 1;

/** A private chat, and who it is with. */
interface Contact extends Chat {
  readonly senderId: string;
}

export interface OwnerOptions {
  /** `gateway.owner`, as `channel:chatId`. */
  readonly configured: string | undefined;
  readonly files: FileSystem;
  readonly log: Log;
  readonly clock: Pick<Clock, "now" | "after">;
  /** Absolute and real. */
  readonly workspace: string;
  /** Whether somebody is let in still, and not only by `*`. Everybody who ever was is, when left out. */
  readonly isAdmitted?: (channel: string, senderId: string) => Promise<boolean>;
}

export interface Owner {
  readonly find: FindOwner;
  /** Somebody who is let in as themselves wrote in private. Never throws and never waits. */
  active(contact: Contact): void;
  /** Resolves when all that is known is written, or could not be. Never rejects. */
  flush(): Promise<void>;
}

/** The id of a chat may hold colons. `undefined` for what names none. */
export function parseChat(text: string): Chat | undefined {
  const colon = text.indexOf(":");
  if (colon < 1 || colon === text.length - 1) return undefined;
  return { channel: text.slice(0, colon), chatId: text.slice(colon + 1) };
}

function isSameChat(one: Chat, other: Chat): boolean {
  return one.channel === other.channel && one.chatId === other.chatId;
}

function parseContact(value: unknown): Contact | undefined {
  if (!isObject(value)) return undefined;
  const { channel, chatId, senderId } = value;
  if (typeof channel !== "string" || typeof chatId !== "string" || typeof senderId !== "string")
    return undefined;
  return { channel, chatId, senderId };
}

function parseContacts(value: unknown, path: string): readonly Contact[] | undefined {
  if (!isObject(value) || !Array.isArray(value["chats"])) return undefined;
  refuseNewer(value, { path, version: VERSION });
  return value["chats"].flatMap((chat) => parseContact(chat) ?? []);
}

/** The first of each chat. */
function latest(contacts: readonly Contact[]): readonly Contact[] {
  const isFirst = (contact: Contact, index: number) =>
    contacts.findIndex((other) => isSameChat(other, contact)) === index;
  return contacts.filter(isFirst).slice(0, MOST_CONTACTS);
}

export function createOwner({
  configured,
  files,
  log,
  clock,
  workspace,
  isAdmitted = async () => true,
}: OwnerOptions): Owner {
  const fixed = configured === undefined ? undefined : parseChat(configured);
  const path = join(workspace, ".nanobot", "owner.json");
  const parse = (value: unknown) => parseContacts(value, path);
  const file = createJsonFile({ files, log, path, parse, longest: LONGEST_FILE });
  /** Since this process began; the latest first. */
  let recent: readonly Contact[] = [];
  let written: readonly Contact[] = [];
  let callOff: (() => void) | undefined;
  let writing: Promise<void> = Promise.resolve();

  /** Those of the processes before. */
  const earlier = lazy(async (): Promise<readonly Contact[]> => {
    written = (await file.readOrBegin(clock.now())) ?? [];
    return written;
  });

  async function known(): Promise<readonly Contact[]> {
    try {
      return latest([...recent, ...(await earlier())]);
    } catch (error) {
      log.warn("Could not read whose chat was active last", { path, error });
      return recent;
    }
  }

  async function save(): Promise<void> {
    try {
      const chats = latest([...recent, ...(await earlier())]);
      const [first] = chats;
      const [before] = written;
      if (first === undefined || (before !== undefined && isSameChat(first, before))) return;
      await file.write({ v: VERSION, chats });
      written = chats;
    } catch (error) {
      log.warn("Could not record whose chat was active last", { path, error });
    }
  }

  function saveNext(): Promise<void> {
    callOff?.();
    callOff = undefined;
    writing = writing.then(save);
    return writing;
  }

  async function isOwner({ channel, senderId }: Contact): Promise<boolean> {
    try {
      return await isAdmitted(channel, senderId);
    } catch (error) {
      log.warn("Could not find out who is let in still", { channel, error });
      return false;
    }
  }

  return {
    async find() {
      if (configured !== undefined) return fixed;
      for (const contact of await known()) {
        if (await isOwner(contact)) return { channel: contact.channel, chatId: contact.chatId };
      }
      return undefined;
    },

    active({ channel, chatId, senderId }) {
      const isTooLong = chatId.length > LONGEST_ID || senderId.length > LONGEST_ID;
      if (configured !== undefined || isTooLong) return;
      const contact = { channel, chatId, senderId };
      const [before] = recent;
      if (before !== undefined && isSameChat(before, contact) && before.senderId === senderId) return;
      recent = latest([contact, ...recent]);
      callOff ??= clock.after(DELAY_MS, () => void saveNext());
    },

    flush: () => saveNext(),
  };
}
