/** Whether text has the colour of what is behind it, by the colours that elements name themselves. */

import { colourNames } from "./colour-names.ts";

/** `undefined` as soon as anything but a plain colour is behind the text or in its place. */
export type Colour = readonly [red: number, green: number, blue: number, alpha: number] | string | undefined;

export const BLACK: Colour = [0, 0, 0, 1];
export const WHITE: Colour = [255, 255, 255, 1];

/** What browsers have for them unless their owner likes the dark. */
const system = new Map([
  ["canvas", WHITE],
  ["field", WHITE],
  ["window", WHITE],
  ["canvastext", BLACK],
  ["fieldtext", BLACK],
  ["windowtext", BLACK],
]);

/** Closer together than this in each of red, green and blue, nobody reads one on the other. */
const SAME = 20;
/** Fainter than this, nobody reads it on anything. */
const FAINT = 0.1;

/** `undefined` for what is no single colour, such as a picture, a gradient, a variable or a word that names none. */
export function parseColour(text: string): Colour {
  if (text === "transparent") return [0, 0, 0, 0];
  const digits = text.startsWith("#") ? text.slice(1) : colourNames.get(text);
  if (digits !== undefined) return fromHex(digits);
  const [, kind = "", inner = ""] = /^([a-z]+)\(([^()]*)\)$/.exec(text) ?? [];
  return kind === "" ? system.get(text) : fromFunction(kind, inner, text);
}

/** Of the rarer kinds only what is nearly black or white is told apart: the others are known by their spelling. */
function fromFunction(kind: string, inner: string, text: string): Colour {
  const parts = inner.split(/[\s,/]+/).filter((part) => part !== "");
  const at = (index: number, whole: number) => amount(parts[index] ?? "0", whole);
  const alpha = amount(parts[3] ?? "1", 1);
  switch (kind) {
    case "rgb":
    case "rgba":
      return [at(0, 255), at(1, 255), at(2, 255), alpha];
    case "color":
      // Its first part is a space, and all spaces agree about white and black.
      return [at(1, 1) * 255, at(2, 1) * 255, at(3, 1) * 255, amount(parts[4] ?? "1", 1)];
    case "hsl":
    case "hsla":
      return fromHue(at(0, 360), at(2, 100) / 100, shareOf(at(1, 100), at(2, 100)), alpha);
    case "hwb": {
      const [white, black] = [at(1, 100) / 100, at(2, 100) / 100];
      const reach = Math.max(0, 1 - white - black) / 2;
      return fromHue(at(0, 360), white + black > 1 ? white / (white + black) : white + reach, reach, alpha);
    }
    case "lab":
    case "lch":
      return byLightness(at(0, 100) / 100, alpha, text);
    case "oklab":
    case "oklch":
      return byLightness(at(0, 1), alpha, text);
    default:
      return undefined;
  }
}

/** How far the strongest part of a colour of this saturation is from its middle. */
function shareOf(saturation: number, lightness: number): number {
  const light = lightness / 100;
  return (saturation / 100) * Math.min(light, 1 - light);
}

function fromHue(hue: number, middle: number, reach: number, alpha: number): Colour {
  const part = (offset: number) => {
    const turn = (((offset + hue / 30) % 12) + 12) % 12;
    return (middle - reach * Math.max(-1, Math.min(turn - 3, 9 - turn, 1))) * 255;
  };
  return [part(0), part(8), part(4), alpha];
}

function byLightness(light: number, alpha: number, text: string): Colour {
  if (light > 0.96) return [255, 255, 255, alpha];
  if (light < 0.04 || alpha <= FAINT) return [0, 0, 0, alpha];
  return text;
}

function amount(part: string, whole: number): number {
  const number = Number.parseFloat(part);
  if (Number.isNaN(number)) return 0;
  return part.endsWith("%") ? (number / 100) * whole : number;
}

function fromHex(digits: string): Colour {
  if (!/^(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.test(digits)) return undefined;
  const long = digits.length < 5 ? digits.replace(/./g, "$&$&") : digits;
  const [red = 0, green = 0, blue = 0, alpha = 255] = (long.match(/../g) ?? []).map((pair) =>
    Number.parseInt(pair, 16),
  );
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
  // What is behind shows through letters that let it.
  return [0, 1, 2].every((part) => Math.abs((text[part] ?? 0) - (behind[part] ?? 0)) * text[3] <= SAME);
}
