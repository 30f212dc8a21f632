/** How much may be under way: room that is taken before a message is put and given back when it is done. */

import { abortable } from "../lib/abort.ts";

export interface BusLimits {
  readonly messages: number;
  readonly bytes: number;
}

export const defaultLimits: BusLimits = { messages: 10_000, bytes: 64 * 1024 * 1024 };

/** Gives the room back. Calling it again does nothing. */
export type Free = () => void;

export interface Bounds {
  /** `undefined` when there is no room, or others wait for it. */
  tryTake(share: string, bytes: number): Free | undefined;
  /** Waits for room, in the order of the calls; rejects with the signal's reason, and then nothing was taken. */
  take(share: string, bytes: number, signal: AbortSignal): Promise<Free>;
  /** Takes it whether there is room or not. */
  force(share: string, bytes: number): Free;
}

interface Share {
  messages: number;
  bytes: number;
  /** Those who wait for room, and the end of the last of them. */
  waiting: number;
  last: Promise<void>;
  /** Tells the first of them that something is done. */
  onFreed: () => void;
}

/** Each share has the whole bound for itself: who takes nothing fills only its own. */
export function createBounds(limits: BusLimits): Bounds {
  const shares = new Map<string, Share>();

  function shareOf(name: string): Share {
    const known = shares.get(name) ?? {
      messages: 0,
      bytes: 0,
      waiting: 0,
      last: Promise.resolve(),
      onFreed: () => {},
    };
    shares.set(name, known);
    return known;
  }

  // A message larger than the whole bound still passes when it is alone.
  function hasRoom(share: Share, bytes: number): boolean {
    return share.messages === 0 || (share.messages < limits.messages && share.bytes + bytes <= limits.bytes);
  }

  function add(share: Share, bytes: number): Free {
    share.messages++;
    share.bytes += bytes;
    let freed = false;
    return () => {
      if (freed) return;
      freed = true;
      share.messages--;
      share.bytes -= bytes;
      share.onFreed();
    };
  }

  async function addWhenRoom(share: Share, bytes: number, signal: AbortSignal): Promise<Free> {
    await abortable(share.last, signal);
    while (!hasRoom(share, bytes)) {
      await abortable(new Promise<void>((resolve) => (share.onFreed = resolve)), signal);
    }
    return add(share, bytes);
  }

  function tryTake(name: string, bytes: number): Free | undefined {
    const share = shareOf(name);
    return share.waiting === 0 && hasRoom(share, bytes) ? add(share, bytes) : undefined;
  }

  return {
    tryTake,
    force: (name, bytes) => add(shareOf(name), bytes),
    async take(name, bytes, signal) {
      const taken = tryTake(name, bytes);
      if (taken !== undefined) return taken;
      const share = shareOf(name);
      share.waiting++;
      const added = addWhenRoom(share, bytes, signal);
      share.last = Promise.allSettled([share.last, added]).then(() => {
        share.waiting--;
      });
      return added;
    },
  };
}
