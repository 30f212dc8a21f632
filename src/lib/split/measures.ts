/** The length of a text as platforms count it. */

import { Buffer } from "node:buffer";

export type Measure = (text: string) => number;

function countCodePoints(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length - 1; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(at + 1);
    if (next < 0xdc00 || next > 0xdfff) continue;
    pairs++;
    at++;
  }
  return text.length - pairs;
}

export const measures: Readonly<Record<"utf16" | "codepoints" | "bytes", Measure>> = {
  utf16: (text) => text.length,
  codepoints: countCodePoints,
  bytes: (text) => Buffer.byteLength(text),
};

/** Made when it is needed: its tables cost a megabyte, and a gateway may be idle for days. */
let segmenter: Intl.Segmenter | undefined;

function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

/**
 * How much of the beginning of `text` fits `room`: whole graphemes, or whole code points when the first
 * grapheme is longer than that. At least one code point, so that whoever cuts goes on.
 */
export function fittingHead(text: string, room: number, measure: Measure): number {
  if (measure(text) <= room) return text.length;
  let fits = 0;
  let tooLong = Math.min(text.length, Math.max(0, room) * 2 + 1);
  if (measure(text.slice(0, tooLong)) <= room) tooLong = text.length;
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (measure(text.slice(0, middle)) <= room) fits = middle;
    else tooLong = middle;
  }
  let boundary = 0;
  for (const { index } of graphemesOf(text.slice(0, fits + 2))) {
    if (index > fits) break;
    boundary = index;
  }
  if (boundary > 0) return boundary;
  if (fits > 0 && (text.codePointAt(fits - 1) ?? 0) > 0xffff) fits--;
  return Math.max(fits, (text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1);
}
