/** Whether text has the colour of what is behind it, by the colours that elements name themselves. */

/** `undefined` as soon as anything but a plain colour is behind the text or in its place. */
export type Colour = readonly [red: number, green: number, blue: number, alpha: number] | string | undefined;

export const BLACK: Colour = [0, 0, 0, 1];
export const WHITE: Colour = [255, 255, 255, 1];

/** The usual ones, and all that look like paper. Others are known by their name alone. */
const named: Readonly<Record<string, string>> = {
  white: "#fff",
  snow: "#fffafa",
  ivory: "#fffff0",
  ghostwhite: "#f8f8ff",
  whitesmoke: "#f5f5f5",
  floralwhite: "#fffaf0",
  mintcream: "#f5fffa",
  azure: "#f0ffff",
  aliceblue: "#f0f8ff",
  seashell: "#fff5ee",
  black: "#000",
  transparent: "#0000",
};

/** Closer together than this in each of red, green and blue, nobody reads one on the other. */
const SAME = 20;
/** Fainter than this, nobody reads it on anything. */
const FAINT = 0.1;

/** `undefined` for what is no single colour, such as a picture, a gradient or a variable. */
export function parseColour(text: string): Colour {
  const value = Object.hasOwn(named, text) ? (named[text] ?? text) : text;
  if (value.startsWith("#")) return fromHex(value.slice(1));
  const [, kind, inner = ""] = /^(rgb|hsl)a?\(([^()]*)\)$/.exec(value) ?? [];
  const parts = inner.split(/[\s,/]+/).filter((part) => part !== "");
  if (kind === "rgb") {
    const [red = 0, green = 0, blue = 0] = parts.map((part) => amount(part, 255));
    return [red, green, blue, amount(parts[3] ?? "1", 1)];
  }
  if (kind === "hsl") {
    // Only what is nearly black or white is told apart: the rest is nobody's hiding place by accident.
    const light = amount(parts[2] ?? "50%", 1);
    const alpha = amount(parts[3] ?? "1", 1);
    if (light > 0.96) return [255, 255, 255, alpha];
    if (light < 0.04) return [0, 0, 0, alpha];
    return alpha <= FAINT ? [0, 0, 0, alpha] : value;
  }
  return /^[a-z]+$/.test(value) ? value : undefined;
}

function amount(part: string, whole: number): number {
  const number = Number.parseFloat(part);
  return part.endsWith("%") ? (number / 100) * whole : number;
}

function fromHex(digits: string): Colour {
  const long = digits.length < 5 ? digits.replace(/./g, "$&$&") : digits;
  const [red, green, blue, alpha = 255] = (long.match(/[0-9a-f]{2}/g) ?? []).map((pair) =>
    Number.parseInt(pair, 16),
  );
  if (red === undefined || green === undefined || blue === undefined) return undefined;
  return [red, green, blue, alpha / 255];
}

/** One that lets through what is behind it, as no colour at all does. */
export function isSeeThroughColour(colour: Colour): boolean {
  return typeof colour === "object" && colour[3] <= FAINT;
}

export function cannotBeRead(text: Colour, behind: Colour): boolean {
  if (isSeeThroughColour(text)) return true;
  if (text === undefined || behind === undefined) return false;
  if (typeof text === "string" || typeof behind === "string") return text === behind;
  return [0, 1, 2].every((part) => Math.abs((text[part] ?? 0) - (behind[part] ?? 0)) <= SAME);
}
