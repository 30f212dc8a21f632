/** What an element's own `style` says, as a browser understands it: the last valid value of each property. */

import { fontSize, pixels } from "./css-length.ts";
import { parseColour } from "./text-colour.ts";

/** Values by property, in lower case. */
export type InlineStyle = ReadonlyMap<string, string>;

const NO_STYLE: InlineStyle = new Map();
/** Of one value. Only pictures within the style itself are longer, and how they begin is enough. */
const LONGEST_VALUE = 1_000;

/** What the element around it has. */
export const INHERITS = /^(?:inherit|unset|revert|revert-layer)$/;

/** `css` without entities. */
export function parseInlineStyle(css: string): InlineStyle {
  if (css === "") return NO_STYLE;
  const style = new Map<string, string>();
  const important = new Set<string>();
  for (const declaration of plain(css).split(";")) {
    const [property, value, isImportant] = read(declaration);
    if (!isValid(property, value) || (!isImportant && important.has(property))) continue;
    if (isImportant) important.add(property);
    style.set(property, value);
  }
  return style;
}

/** Comments and escapes are for those who want to be overlooked. */
function plain(css: string): string {
  return css
    .replace(/\/\*.*?(?:\*\/|$)/gs, "")
    .replace(/\\([0-9a-f]{1,6})\s?/gi, (_, hex: string) => codePoint(Number.parseInt(hex, 16)))
    .replaceAll("\\", "")
    .replace(/\s+/g, " ")
    .toLowerCase();
}

function codePoint(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : "";
}

/** Of all that `font` says only the size counts. */
function read(declaration: string): [property: string, value: string, isImportant: boolean] {
  const colon = declaration.indexOf(":");
  const property = declaration.slice(0, Math.max(0, colon)).trim();
  const stated = declaration.slice(colon + 1).trim();
  const whole = stated.replace(/ ?! ?important$/, "");
  const value = whole
    .slice(0, LONGEST_VALUE)
    .replace(/calc\(([^()]*)\)/g, "$1")
    .trim();
  const isImportant = whole !== stated;
  return property === "font" ? ["font-size", sizeIn(value), isImportant] : [property, value, isImportant];
}

/** A font's weight is a number as well, but has no unit; its size is never the last word. */
function sizeIn(font: string): string {
  if (INHERITS.test(font)) return font;
  const sizes = font.split(/[ /]/).slice(0, -1).filter(isFontSize);
  return sizes.find((size) => /[a-z%]$/.test(size) || Number(size) === 0) ?? "";
}

const oneOf = (words: string) => {
  const known = new Set(words.split(" "));
  return (value: string) => known.has(value);
};
const isFontSize = (value: string) => fontSize(value, 1) !== undefined;
const isColour = (value: string) => value === "currentcolor" || parseColour(value) !== undefined;
const isWord = oneOf("auto none normal max-content min-content fit-content stretch");
// Of a sum any part will do.
const isMeasure = (value: string) =>
  value.split(" ").some((part) => pixels(part) !== undefined || isWord(part));
/** What these come to is known only where the page is laid out. */
const OPEN = /(?<![a-z-])(?:var|env|attr|if|min|max|clamp|calc|color-mix|light-dark)\(/;

const DISPLAY =
  /^(?:none|contents|inline|block|flex|grid|table|ruby|math|flow|list-item|-(?:webkit|moz|ms)-(?:inline-)?(?:box|flex|flexbox|grid))(?![a-z])/;

/** What the properties can be that this is about. */
const FORMS: Readonly<Record<string, (value: string) => boolean>> = {
  display: (value) => DISPLAY.test(value),
  visibility: oneOf("visible hidden collapse"),
  position: oneOf("static relative absolute fixed sticky -webkit-sticky"),
  opacity: (value) => pixels(value) !== undefined && /[\d.%]$/.test(value),
  color: isColour,
  "background-color": isColour,
  "-webkit-text-fill-color": isColour,
  "font-size": isFontSize,
  ...Object.fromEntries(
    "left right top bottom width height max-width max-height text-indent letter-spacing margin-left margin-top"
      .split(" ")
      .map((property) => [property, isMeasure]),
  ),
};

/** Browsers pass over a value that the property cannot have: what was said before it goes on to count. */
function isValid(property: string, value: string): boolean {
  if (property === "" || value === "") return false;
  if (value === "initial" || INHERITS.test(value) || OPEN.test(value)) return true;
  return !Object.hasOwn(FORMS, property) || (FORMS[property]?.(value) ?? true);
}
