/** Codes that people type to answer for something: eight characters that nobody can guess or misread. */

import { Buffer } from "node:buffer";
import { timingSafeEqual } from "node:crypto";

/** From a source that cannot be foreseen. */
export type RandomBytes = (count: number) => Uint8Array;

/** 32 of them, so that five bits of a byte choose one evenly. Without I, O, 0 and 1, which look alike. */
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH = 8;

/** Also takes the digits and letters that ours have not, for codes of the original. */
const CODE = /^[A-Z0-9]{8}$/;
/** Phones make other dashes of it. */
const BETWEEN = /[\p{Pd}\s]/gu;

function draw(randomBytes: RandomBytes): string {
  return Array.from(randomBytes(LENGTH), (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join("");
}

/** One that is not `taken`. */
export function newCode(randomBytes: RandomBytes, taken: (code: string) => boolean): string {
  let code = draw(randomBytes);
  while (taken(code)) code = draw(randomBytes);
  return code;
}

/** `undefined` for what is no code. */
export function parseCode(text: string): string | undefined {
  const letters = text.replace(BETWEEN, "").replace(/[a-z]/g, (letter) => letter.toUpperCase());
  return CODE.test(letters) ? letters : undefined;
}

/** Takes as long whatever they have in common. Both are as `parseCode` gives them. */
export function isSameCode(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
