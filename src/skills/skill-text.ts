/** Takes a SKILL.md apart: the header between two lines of dashes, and the text behind it. */

import { decodeText } from "../lib/charset.ts";
import { stripInvisible } from "../lib/visible-characters.ts";

/** More of a file is not read. */
export const LONGEST_FILE = 256 * 1024;

/** In characters. Those that are written by hand have a few hundred. */
const LONGEST_HEADER = 32 * 1024;

export interface SkillText {
  /** `undefined` where there is none that can be read. */
  readonly header: string | undefined;
  /** Lines of the file in front of its header's first. */
  readonly linesBefore: number;
  readonly body: string;
  readonly problem: string | undefined;
}

const OPENING = /^(?:[ \t]*\n)*---[ \t]*(?:\n|$)/;
const CLOSING = /^(?:---|\.\.\.)[ \t]*$/m;

/** Any bytes. What nobody sees is taken out, because a model would read it. */
export function splitSkill(bytes: Uint8Array): SkillText {
  const text = stripInvisible(decodeText(bytes, "", { markup: false }));
  const opening = OPENING.exec(text)?.[0];
  if (opening === undefined) return withoutHeader(text, "it does not begin with a header (---)");
  const rest = text.slice(opening.length);
  const closing = CLOSING.exec(rest);
  if (closing === null) return withoutHeader(rest, "its header never ends");
  const body = rest.slice(closing.index + closing[0].length).trim();
  if (closing.index > LONGEST_HEADER) {
    return withoutHeader(body, `its header is longer than ${LONGEST_HEADER} characters`);
  }
  const linesBefore = opening.split("\n").length - 1;
  return { header: rest.slice(0, closing.index), linesBefore, body, problem: undefined };
}

function withoutHeader(body: string, problem: string): SkillText {
  return { header: undefined, linesBefore: 0, body: body.trim(), problem };
}
