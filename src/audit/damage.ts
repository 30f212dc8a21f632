/** What stands between two lines of the log and is none: left by a crash, or damaged. */

import { createHash } from "node:crypto";
import { linkHash, SEAL_BYTES, sealedHash } from "./chain.ts";
import type { Place, WrittenLine } from "./written-lines.ts";

/** Places that are remembered, in the worst case that the whole log is damaged. */
const MOST_PLACES = 1_000;

export interface Damage {
  readonly count: number;
  /** Of the first of them. */
  readonly places: readonly Place[];
  /** As the line behind it would say that it found it. */
  readonly digest: string;
  /** What the hash of its last piece may be, if that was a line whose line before had one of the hashes `before`. */
  hashes(before: readonly string[]): readonly string[];
}

export function createDamage() {
  let hash = createHash("sha256");
  let count = 0;
  let places: Place[] = [];
  let last = new Uint8Array();

  return {
    add({ file, line, bytes }: WrittenLine): void {
      if (count > 0) hash.update("\n");
      hash.update(bytes);
      if (places.length < MOST_PLACES) places.push({ file, line });
      count++;
      last = Uint8Array.from(bytes);
    },
    /** Takes all of it away. */
    clear(): Damage {
      const piece = last;
      const damage = {
        count,
        places,
        digest: hash.digest("hex"),
        hashes(before: readonly string[]) {
          const written = sealedHash(piece);
          const text = piece.subarray(0, Math.max(0, piece.length - SEAL_BYTES));
          const own = damage.count === 1 ? before.map((one) => linkHash(one, text)) : [];
          return [...(written === undefined ? [] : [written]), ...own];
        },
      };
      hash = createHash("sha256");
      count = 0;
      places = [];
      last = new Uint8Array();
      return damage;
    },
  };
}
