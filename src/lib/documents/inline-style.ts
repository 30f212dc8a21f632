/** What an element's own `style` says, as far as it bears on whether anybody can see the element. */

/** Values by property, in lower case. */
export type InlineStyle = ReadonlyMap<string, string>;

const NO_STYLE: InlineStyle = new Map();
const LONGEST = 10_000;

/** `css` without entities. */
export function parseInlineStyle(css: string): InlineStyle {
  if (css === "") return NO_STYLE;
  const style = new Map<string, string>();
  const important = new Set<string>();
  for (const declaration of plain(css.slice(0, LONGEST)).split(";")) {
    const colon = declaration.indexOf(":");
    if (colon === -1) continue;
    const property = declaration.slice(0, colon).trim();
    const stated = declaration.slice(colon + 1).trim();
    const value = stated.replace(/\s*!\s*important$/, "");
    if (value === stated && important.has(property)) continue;
    if (value !== stated) important.add(property);
    style.set(property, value.replace(/calc\(([^()]*)\)/g, "$1").trim());
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
  mm: 3.8,
  cm: 38,
  in: 96,
  "%": 10,
  vw: 10,
  vh: 10,
};

/** `undefined` for what is no length. */
export function pixels(value: string | undefined): number | undefined {
  const [, number, unit = ""] = /^([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)([a-z%]*)$/.exec(value ?? "") ?? [];
  const factor = Object.hasOwn(PIXELS, unit) ? PIXELS[unit] : undefined;
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}

/** So far away from where it would be, nobody finds it. A whole width is no more than 1000. */
const FAR = 800;
const FAR_BEYOND = 4_000;
/** Of a box in which nothing can be read. */
const NOTHING = 1;

function isFar(value: string | undefined): boolean {
  const distance = pixels(value) ?? 0;
  return distance <= -FAR || distance >= FAR_BEYOND;
}

function isNothing(value: string | undefined): boolean {
  const size = pixels(value);
  return size !== undefined && size <= NOTHING;
}

/** The style hides the element and everything in it, and nothing in it can undo that. */
export function hidesAll(style: InlineStyle): boolean {
  if (style.size === 0) return false;
  return (
    style.get("display") === "none" ||
    style.get("content-visibility") === "hidden" ||
    isSeeThrough(style) ||
    isOffScreen(style) ||
    hasNoArea(style) ||
    isClippedAway(style)
  );
}

function isSeeThrough(style: InlineStyle): boolean {
  const opacity = style.get("opacity") ?? /opacity\(([^()]*)\)/.exec(style.get("filter") ?? "")?.[1];
  if (opacity === undefined) return false;
  const amount = Number.parseFloat(opacity) / (opacity.endsWith("%") ? 100 : 1);
  return amount <= 0.05;
}

function isOffScreen(style: InlineStyle): boolean {
  const position = style.get("position") ?? "static";
  const sides = ["left", "right", "top", "bottom", "inset", "inset-inline-start", "inset-block-start"];
  if (position !== "static" && sides.some((side) => anyPart(style.get(side), isFar))) return true;
  const shifts = ["text-indent", "margin", "margin-left", "margin-top", "margin-inline-start", "translate"];
  if (shifts.some((property) => anyPart(style.get(property), isFar))) return true;
  const moves = /translate(?:x|y|3d)?\(([^()]*)\)/.exec(style.get("transform") ?? "")?.[1];
  return anyPart(moves?.replaceAll(",", " "), isFar);
}

function anyPart(value: string | undefined, test: (part: string) => boolean): boolean {
  return value?.split(/\s+/).some(test) ?? false;
}

function hasNoArea(style: InlineStyle): boolean {
  const narrow = isNothing(style.get("width")) || isNothing(style.get("max-width"));
  const low = isNothing(style.get("height")) || isNothing(style.get("max-height"));
  const cuts = /hidden|clip|scroll|auto/;
  const isCut = ["overflow", "overflow-x", "overflow-y"].some((property) =>
    cuts.test(style.get(property) ?? ""),
  );
  if (narrow && low) return true;
  if ((narrow || low) && isCut) return true;
  const scale = /scale(?:x|y|3d)?\(([^()]*)\)/.exec(style.get("transform") ?? "")?.[1] ?? style.get("scale");
  const isScaledAway = anyPart(scale?.replaceAll(",", " "), (part) => Number.parseFloat(part) === 0);
  return isScaledAway || (style.has("zoom") && Number.parseFloat(style.get("zoom") ?? "") === 0);
}

function isClippedAway(style: InlineStyle): boolean {
  const box = /^rect\(([^()]*)\)/.exec(style.get("clip") ?? "")?.[1];
  if (box?.split(/[\s,]+/).every((side) => side === "" || isNothing(side))) return true;
  const shape = style.get("clip-path") ?? "";
  const [, inset] = /^inset\(\s*([\d.]+)%/.exec(shape) ?? [];
  return (
    Number(inset) >= 50 || /^(circle|ellipse)\(\s*0|^polygon\(\s*0[a-z%]*(?:[\s,]+0[a-z%]*)*\s*\)/.test(shape)
  );
}
