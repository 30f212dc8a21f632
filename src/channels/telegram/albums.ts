/** Gathers the pictures of an album, which come one by one, into one message. */

import type { Clock } from "../../core/platform.ts";

const QUIET_MS = 1_000;
const MOST_PARTS = 10;
/** Albums that are remembered so that what comes late is known to be late. */
const REMEMBERED = 1_000;
/** Albums that gather at once. */
const MOST_OPEN = 100;

/** What came of an album, by the id of its update. */
export type Parts<Part> = ReadonlyMap<number, Part>;

export interface Albums<Part, Kept> {
  /**
   * Resolves when the album was delivered: to whether this part was in it or came too late. `deliver` is
   * called at once, for the first part alone, with a promise of all of them. Rejects as it does.
   */
  add(key: string, id: number, part: Part, deliver: Deliver<Part>): Promise<"delivered" | "late">;
  /** What is kept of the parts of an album that was delivered, as far as it is remembered. */
  delivered(key: string): Parts<Kept> | undefined;
}

type Deliver<Part> = (parts: Promise<Parts<Part>>) => Promise<void>;

interface Open<Part> {
  readonly parts: Map<number, Part>;
  readonly delivery: Promise<void>;
  isClosed(): boolean;
  arm(): void;
}

/** `keep` says what is still needed of a part when its album was delivered. */
export function createAlbums<Part, Kept>(clock: Clock, keep: (part: Part) => Kept): Albums<Part, Kept> {
  const open = new Map<string, Open<Part>>();
  const done = new Map<string, Parts<Kept>>();

  function remember(key: string, parts: Parts<Part>): void {
    done.delete(key);
    done.set(key, new Map(Array.from(parts, ([id, part]) => [id, keep(part)])));
    for (const oldest of done.keys()) {
      if (done.size <= REMEMBERED) return;
      done.delete(oldest);
    }
  }

  function begin(key: string, deliver: Deliver<Part>): Open<Part> {
    const parts = new Map<number, Part>();
    const gathered = Promise.withResolvers<Parts<Part>>();
    let isClosed = false;
    let callOff = () => {};
    const close = () => {
      isClosed = true;
      callOff();
      gathered.resolve(parts);
    };
    const delivery = deliver(gathered.promise)
      .then(() => remember(key, parts))
      .finally(() => {
        callOff();
        open.delete(key);
      });
    return {
      parts,
      delivery,
      isClosed: () => isClosed,
      arm() {
        callOff();
        if (parts.size >= MOST_PARTS) close();
        else callOff = clock.after(QUIET_MS, close);
      },
    };
  }

  return {
    async add(key, id, part, deliver) {
      const before = done.get(key);
      if (before !== undefined) return before.has(id) ? "delivered" : "late";
      const known = open.get(key);
      if (known === undefined && open.size >= MOST_OPEN) {
        throw new Error(`More than ${MOST_OPEN} albums are being received at once`);
      }
      const album = known ?? begin(key, deliver);
      open.set(key, album);
      if (!album.isClosed() && !album.parts.has(id)) {
        album.parts.set(id, part);
        album.arm();
      }
      await album.delivery;
      return album.parts.has(id) ? "delivered" : "late";
    },
    delivered: (key) => done.get(key),
  };
}
