/** What a file is by its first bytes, as far as it can be read. */

import { Buffer } from "node:buffer";
import type { Image } from "../core/model.ts";
import { asBuffer } from "../lib/bytes.ts";
import { utf16Of } from "../lib/charset.ts";
import { imageType, mediaType } from "../lib/image-type.ts";

/** Enough to tell text from anything else. */
export const PROBE_BYTES = 8 * 1024;

export type FileKind =
  | { readonly kind: "text" | "pdf" | "archive" }
  | { readonly kind: "image"; readonly mime: Image["mime"] }
  /** `problem` says what it is, and what to do if there is something. */
  | { readonly kind: "unreadable"; readonly problem: string };

/** Programs that read PDFs look so far for its beginning, since some that write or send them put something before it. */
const PDF_WITHIN = 1024;
/** Of the files of Word, Excel and PowerPoint up to 2003, and of later ones that are encrypted. */
const OLD_OFFICE = Buffer.from("d0cf11e0a1b11ae1", "hex");
const ANOTHER_WAY = "use exec with a program that reads it";
const ARCHIVE = /^PK(\x03\x04|\x05\x06)/;

/** `probe` is the beginning of the file, and all of it when it is shorter than `PROBE_BYTES`. */
export function fileKind(probe: Uint8Array, bytes: number): FileKind {
  const start = asBuffer(probe);
  const size = `${bytes} bytes`;
  if (start.toString("latin1", 0, 5) === "%PDF-") return { kind: "pdf" };
  if (utf16Of(probe) !== undefined) {
    return unreadable(`it is UTF-16 text (${size}); convert it to UTF-8 first, for example with iconv`);
  }
  // Before anything that is told by a few letters, which a text can begin with.
  if (isText(probe)) return { kind: "text" };
  const mime = imageType(probe);
  if (mime !== undefined) return { kind: "image", mime };
  if (ARCHIVE.test(start.toString("latin1", 0, 4))) return { kind: "archive" };
  if (start.subarray(0, PDF_WITHIN).includes("%PDF-")) return { kind: "pdf" };
  if (start.subarray(0, OLD_OFFICE.length).equals(OLD_OFFICE)) {
    return unreadable(
      `it is an old or an encrypted document of Word, Excel or PowerPoint (${size}); save it as docx, xlsx or pptx without a password`,
    );
  }
  const type = mediaType(probe);
  if (type !== "application/octet-stream")
    return unreadable(`it is a binary file (${type}, ${size}); ${ANOTHER_WAY}`);
  return unreadable(
    probe.includes(0)
      ? `it is a binary file (${size}); ${ANOTHER_WAY}`
      : `it is a binary file or not UTF-8 text (${size}); if it is text, convert it to UTF-8 first, for example with iconv`,
  );
}

function unreadable(problem: string): FileKind {
  return { kind: "unreadable", problem };
}

function isText(probe: Uint8Array): boolean {
  if (probe.includes(0)) return false;
  try {
    // A character may reach beyond the probe; only a shorter file ends where its bytes end.
    new TextDecoder("utf-8", { fatal: true }).decode(probe, { stream: probe.length === PROBE_BYTES });
    return true;
  } catch {
    return false; // That it does not decode is the answer.
  }
}
