/** How long the lengths of CSS are, as far as that can be told without laying a page out. */

/** Roughly, and of what is relative to a size that is not known here, with 1000 pixels for the whole of it. */
const PIXELS: Readonly<Record<string, number>> = {
  "": 1,
  px: 1,
  pt: 1.33,
  pc: 16,
  em: 16,
  rem: 16,
  ex: 8,
  ch: 8,
  cap: 12,
  ic: 16,
  lh: 20,
  rlh: 20,
  q: 0.95,
  mm: 3.8,
  cm: 38,
  in: 96,
  "%": 10,
};
/** Parts of the window: its width, height, and the smaller or larger of them, with its bars or without. */
const WINDOW = /^[dsl]?v(?:w|h|i|b|min|max)$/;
const WINDOW_PIXELS = 10;

const LENGTH = /^([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)([a-z]*|%)$/;

/** `undefined` for what is no length. */
export function pixels(value: string | undefined): number | undefined {
  const [, number, unit = ""] = LENGTH.exec(value ?? "") ?? [];
  const factor = Object.hasOwn(PIXELS, unit) ? PIXELS[unit] : WINDOW.test(unit) ? WINDOW_PIXELS : undefined;
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}

/** What the font sizes with a name are, by their names. */
const FONT_SIZES: Readonly<Record<string, number>> = {
  "xx-small": 9,
  "x-small": 10,
  small: 13,
  medium: 16,
  large: 18,
  "x-large": 24,
  "xx-large": 32,
  "xxx-large": 48,
};
const USUAL_FONT_SIZE = 16;
const RELATIVE = /^([\d.+-]+(?:e[-+]?\d+)?)(em|ex|ch|cap|ic|%)$/;

/** In pixels, within text of the size `outer`. `undefined` for what is no font size. */
export function fontSize(value: string, outer: number): number | undefined {
  if (value === "smaller") return outer / 1.2;
  if (value === "larger") return outer * 1.2;
  if (Object.hasOwn(FONT_SIZES, value)) return FONT_SIZES[value];
  const length = pixels(value);
  if (length === undefined || length < 0) return undefined;
  const [, number, unit] = RELATIVE.exec(value) ?? [];
  if (number === undefined) return length;
  return unit === "%" ? (Number(number) / 100) * outer : (length / USUAL_FONT_SIZE) * outer;
}
