/** What a file is by its bytes: names and declared types are only claims of whoever sent it. */

import { isUtf8 } from "node:buffer";
import type { Image } from "../core/model.ts";
import { asBuffer } from "./bytes.ts";

/** How far the patterns look. */
const HEAD = 64;

/** A signature alone is no image: what must follow it in the header is asked for too. */
const images: readonly (readonly [mime: Image["mime"], pattern: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n\x1a\n\0\0\0\rIHDR.{13}/s],
  ["image/jpeg", /^\xff\xd8\xff[\xc0-\xcf\xdb\xdd\xe0-\xef\xfe].{2}/s],
  ["image/gif", /^GIF8[79]a.{7}/s],
  ["image/webp", /^RIFF.{4}WEBPVP8[ LX].{4}/s],
];

/** The first that fits counts. */
const others: readonly (readonly [mime: string, pattern: RegExp])[] = [
  ["application/pdf", /^%PDF-/],
  ["audio/ogg", /^OggS/],
  ["audio/mpeg", /^(ID3|\xff[\xf2\xf3\xfa\xfb])/],
  ["audio/flac", /^fLaC/],
  ["audio/wav", /^RIFF.{4}WAVE/s],
  ["audio/mp4", /^.{4}ftypM4[AB] /s],
  ["image/heic", /^.{4}ftyp(hei[cx]|mif1|msf1)/s],
  ["image/avif", /^.{4}ftypavi[fs]/s],
  ["video/quicktime", /^.{4}ftypqt /s],
  ["video/mp4", /^.{4}ftyp/s],
  ["video/webm", /^\x1aE\xdf\xa3/],
  ["application/gzip", /^\x1f\x8b/],
];

const ZIP = /^PK(\x03\x04|\x05\x06)/;

/** Office files are archives, known by the one file that each of them must have. */
const archives: readonly (readonly [mime: string, member: string])[] = [
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "word/document.xml"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xl/workbook.xml"],
  ["application/vnd.openxmlformats-officedocument.presentationml.presentation", "ppt/presentation.xml"],
];

const extensions: Readonly<Record<string, string>> = {
  "image/png": ".png",
  "image/jpeg": ".jpg",
  "image/gif": ".gif",
  "image/webp": ".webp",
  "image/heic": ".heic",
  "image/avif": ".avif",
  "application/pdf": ".pdf",
  "application/zip": ".zip",
  "application/gzip": ".gz",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
  "audio/ogg": ".ogg",
  "audio/mpeg": ".mp3",
  "audio/flac": ".flac",
  "audio/wav": ".wav",
  "audio/mp4": ".m4a",
  "video/quicktime": ".mov",
  "video/mp4": ".mp4",
  "video/webm": ".webm",
  "text/plain": ".txt",
};

/** One character for each byte, so that patterns can speak of bytes. */
function headOf(bytes: Uint8Array): string {
  return asBuffer(bytes.subarray(0, HEAD)).toString("latin1");
}

/** `undefined` for whatever is none of the four kinds of image that vendors take. */
export function imageType(bytes: Uint8Array): Image["mime"] | undefined {
  const head = headOf(bytes);
  return images.find(([, pattern]) => pattern.test(head))?.[0];
}

/** The type of a whole file: `text/plain` for any text, `application/octet-stream` for what is not known. */
export function mediaType(bytes: Uint8Array): string {
  const head = headOf(bytes);
  const known = imageType(bytes) ?? others.find(([, pattern]) => pattern.test(head))?.[0];
  if (known !== undefined) return known;
  if (ZIP.test(head)) {
    return archives.find(([, member]) => asBuffer(bytes).includes(member))?.[0] ?? "application/zip";
  }
  return isUtf8(bytes) && !bytes.includes(0) ? "text/plain" : "application/octet-stream";
}

/** With its dot. */
export function extensionFor(mime: string): string {
  return Object.hasOwn(extensions, mime) ? (extensions[mime] ?? ".bin") : ".bin";
}
