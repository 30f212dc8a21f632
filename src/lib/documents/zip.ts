/** The members of a ZIP archive, inflated piece by piece and never beyond what the archive admits to. */

import type { Buffer } from "node:buffer";
import type { Inflate } from "fflate";
import { UserError } from "../../core/errors.ts";
import { asBuffer } from "../bytes.ts";

const MOST_MEMBERS = 10_000;
/** Of all members together, inflated; and of all that is read, since one member can be asked for again and again. */
const MOST_BYTES = 256 * 1024 * 1024;
/** Deflate makes at most a thousand times as much of it, which still fits into memory. */
const PIECE_BYTES = 4 * 1024;

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const LONGEST_COMMENT = 0xffff;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL_SIGNATURE = 0x04034b50;
const LOCAL_BYTES = 30;
/** Stands in the place of a number that is in the extra field, as one of 64 bits. */
const ELSEWHERE = 0xffffffff;
const LARGE_FIELD = 1;
const ENCRYPTED = 1;
const STORED = 0;
const DEFLATED = 8;

interface Member {
  readonly method: number;
  readonly isEncrypted: boolean;
  /** In the archive. */
  readonly packedBytes: number;
  /** Inflated: as the archive says. */
  readonly bytes: number;
  readonly headerAt: number;
}

export interface Archive {
  has(name: string): boolean;
  /** Nothing when there is no such member. Ends in a `UserError` where the member is not what the archive says. */
  read(name: string): Generator<Uint8Array>;
}

function damaged(how: string, cause?: unknown): UserError {
  return new UserError(`it is damaged (${how})`, { cause });
}

function findEnd(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_BYTES - LONGEST_COMMENT);
  for (let at = bytes.length - END_BYTES; at >= first; at--) {
    if (bytes.readUInt32LE(at) === END_SIGNATURE) return at;
  }
  throw damaged("its table of contents is missing");
}

/** The numbers of 64 bits that stand for those that did not fit, in the order of those. */
function largeNumbers(extra: Buffer): () => number {
  for (let at = 0; at + 4 <= extra.length; ) {
    const length = extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === LARGE_FIELD) {
      let next = at + 4;
      return () => {
        next += 8;
        return Number(extra.readBigUInt64LE(next - 8));
      };
    }
    at += 4 + length;
  }
  throw damaged("a size in it is missing");
}

function readEntry(bytes: Buffer, at: number): { name: string; member: Member; end: number } {
  if (bytes.readUInt32LE(at) !== ENTRY_SIGNATURE) throw damaged("its table of contents is broken");
  const nameEnd = at + ENTRY_BYTES + bytes.readUInt16LE(at + 28);
  const extraEnd = nameEnd + bytes.readUInt16LE(at + 30);
  const numbers = [24, 20, 42].map((offset) => bytes.readUInt32LE(at + offset));
  const large = numbers.includes(ELSEWHERE) ? largeNumbers(bytes.subarray(nameEnd, extraEnd)) : undefined;
  const [size = 0, packedBytes = 0, headerAt = 0] = numbers.map((number) =>
    number === ELSEWHERE && large !== undefined ? large() : number,
  );
  return {
    name: bytes.toString("utf8", at + ENTRY_BYTES, nameEnd),
    member: {
      method: bytes.readUInt16LE(at + 10),
      isEncrypted: (bytes.readUInt16LE(at + 8) & ENCRYPTED) !== 0,
      packedBytes,
      bytes: size,
      headerAt,
    },
    end: extraEnd + bytes.readUInt16LE(at + 32),
  };
}

function readMembers(bytes: Buffer): ReadonlyMap<string, Member> {
  const end = findEnd(bytes);
  const count = bytes.readUInt16LE(end + 10);
  if (count > MOST_MEMBERS) {
    throw new UserError(`it has ${count} files in it, and the most is ${MOST_MEMBERS}`);
  }
  const members = new Map<string, Member>();
  let total = 0;
  let at = bytes.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    const entry = readEntry(bytes, at);
    total += entry.member.bytes;
    members.set(entry.name, entry.member);
    at = entry.end;
  }
  if (total > MOST_BYTES) {
    throw new UserError(`unpacked it has ${total} bytes, and the most is ${MOST_BYTES}`);
  }
  return members;
}

function packedBytesOf(bytes: Buffer, { headerAt, packedBytes }: Member): Uint8Array {
  if (bytes.readUInt32LE(headerAt) !== LOCAL_SIGNATURE)
    throw damaged("a file in it is not where it should be");
  const start =
    headerAt + LOCAL_BYTES + bytes.readUInt16LE(headerAt + 26) + bytes.readUInt16LE(headerAt + 28);
  if (start + packedBytes > bytes.length) throw damaged("its end is missing");
  return bytes.subarray(start, start + packedBytes);
}

/** What reads beyond the bytes is damage, and no fault of this program. */
function orDamaged<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof UserError ? error : damaged("a part of it is missing", error);
  }
}

function* inflate(packed: Uint8Array, Stream: typeof Inflate): Generator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const stream = new Stream((piece) => void pieces.push(piece));
  for (let from = 0; from < packed.length || from === 0; from += PIECE_BYTES) {
    const end = from + PIECE_BYTES;
    try {
      stream.push(packed.subarray(from, end), end >= packed.length);
    } catch (error) {
      throw damaged("a file in it cannot be unpacked", error);
    }
    yield* pieces.splice(0);
  }
}

export async function openArchive(given: Uint8Array<ArrayBuffer>): Promise<Archive> {
  const { Inflate } = await import("fflate");
  const bytes = asBuffer(given);
  const members = orDamaged(() => readMembers(bytes));

  function unpack(member: Member): Iterable<Uint8Array> {
    if (member.isEncrypted) throw new UserError("it is encrypted; a password is needed to read it");
    const packed = orDamaged(() => packedBytesOf(bytes, member));
    if (member.method === STORED) return [packed];
    if (member.method === DEFLATED) return inflate(packed, Inflate);
    throw new UserError(`it is packed in a way that cannot be read here (method ${member.method})`);
  }

  let readable = MOST_BYTES;

  return {
    has: (name) => members.has(name),
    *read(name) {
      const member = members.get(name);
      if (member === undefined) return;
      let left = member.bytes;
      for (const piece of unpack(member)) {
        left -= piece.length;
        if (left < 0) throw damaged("a file in it is larger than it says");
        readable -= piece.length;
        if (readable < 0) throw damaged("the same files in it are meant too often");
        yield piece;
      }
    },
  };
}
