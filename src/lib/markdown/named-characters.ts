/** The named characters that texts written by models hold. Others stay as they are written. */

import { XML_ENTITIES } from "../entities.ts";

const names: Readonly<Record<string, string>> = {
  nbsp: "\u00a0",
  copy: "©",
  reg: "®",
  trade: "™",
  deg: "°",
  plusmn: "±",
  times: "×",
  divide: "÷",
  middot: "·",
  bull: "•",
  hellip: "…",
  ndash: "–",
  mdash: "—",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  sect: "§",
  para: "¶",
  euro: "€",
  pound: "£",
  yen: "¥",
  cent: "¢",
  larr: "←",
  uarr: "↑",
  rarr: "→",
  darr: "↓",
  harr: "↔",
  rArr: "⇒",
  ne: "≠",
  le: "≤",
  ge: "≥",
  infin: "∞",
  auml: "ä",
  ouml: "ö",
  uuml: "ü",
  Auml: "Ä",
  Ouml: "Ö",
  Uuml: "Ü",
  szlig: "ß",
  eacute: "é",
  egrave: "è",
  agrave: "à",
  ccedil: "ç",
  ntilde: "ñ",
};

/** `entity` as it is written: `&hellip;`. */
export function namedCharacter(entity: string): string | undefined {
  const name = entity.slice(1, -1);
  return XML_ENTITIES.get(entity) ?? (Object.hasOwn(names, name) ? names[name] : undefined);
}
