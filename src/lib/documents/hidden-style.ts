/** Whether the style of an element hides it and all that is in it. */

import { pixels } from "./css-length.ts";
import type { InlineStyle } from "./inline-style.ts";

/** So far away from where it would be, nobody finds it. A whole width is no more than 1000. */
const FAR = 800;
const FAR_BEYOND = 4_000;
const WHOLE = 1_000;
/** Of a box in which nothing can be read, in pixels. */
const NOTHING = 1;
/** What is made smaller than this part of itself cannot be read. */
const LEAST_SCALE = 0.1;
const LEAST_OPACITY = 0.05;

/** The style hides the element and everything in it, and nothing in it can undo that. */
export function hidesAll(style: InlineStyle): boolean {
  if (style.size === 0) return false;
  return (
    style.get("display") === "none" ||
    style.get("content-visibility") === "hidden" ||
    isFaint(opacityOf(style)) ||
    isOffScreen(style) ||
    isTransformedAway(style) ||
    hasNoArea(style) ||
    isClippedAway(style)
  );
}

/** What is left of it, between 0 and 1. */
export function opacityOf(style: InlineStyle): number {
  const filters = (style.get("filter") ?? "").matchAll(/(?<![a-z-])opacity\(([^()]*)\)/g);
  return [style.get("opacity") ?? "1", ...[...filters].map(([, amount = "1"]) => amount)]
    .map(amountOf)
    .reduce((all, one) => all * one);
}

export function isFaint(opacity: number): boolean {
  return opacity <= LEAST_OPACITY;
}

/** 1 for what is neither a number nor a part of a hundred. */
function amountOf(text: string): number {
  const number = Number.parseFloat(text) / (text.endsWith("%") ? 100 : 1);
  return Number.isNaN(number) ? 1 : Math.min(1, Math.max(0, number));
}

function isFar(value: string | undefined): boolean {
  const distance = pixels(value) ?? 0;
  return distance <= -FAR || distance >= FAR_BEYOND;
}

function isNothing(value: string | undefined): boolean {
  const size = pixels(value);
  return size !== undefined && size <= NOTHING;
}

function partsOf(value: string | undefined): readonly string[] {
  return value?.split(/[\s,]+/) ?? [];
}

const SIDES = ["left", "right", "top", "bottom", "inset"];
const LOGICAL_SIDES = ["inline", "block"].flatMap((axis) =>
  ["", "-start", "-end"].map((end) => `inset-${axis}${end}`),
);
const SHIFTS = [
  "text-indent",
  "letter-spacing",
  "margin",
  "margin-left",
  "margin-top",
  "margin-inline-start",
];

function isOffScreen(style: InlineStyle): boolean {
  const isAnyFar = (property: string) => partsOf(style.get(property)).some(isFar);
  if (SHIFTS.some(isAnyFar)) return true;
  return (style.get("position") ?? "static") !== "static" && [...SIDES, ...LOGICAL_SIDES].some(isAnyFar);
}

const FUNCTION = /(?<![a-z0-9])([a-z0-9]+)\(([^()]*)\)/g;

function isTransformedAway(style: InlineStyle): boolean {
  const transforms = [...(style.get("transform") ?? "").matchAll(FUNCTION)].map(
    ([, name = "", inner = ""]) => [name, partsOf(inner.trim())] as const,
  );
  for (const property of ["translate", "scale"]) transforms.push([property, partsOf(style.get(property))]);
  return transforms.some(([name, parts]) => {
    if (name.startsWith("translate")) return parts.some(isFar);
    if (name.startsWith("scale")) return parts.some(isShrunkAway);
    if (name !== "matrix") return false;
    const [a = 1, b = 0, c = 0, d = 1] = parts.map(Number);
    return Math.abs(a * d - b * c) <= LEAST_SCALE ** 2 || parts.slice(4).some(isFar);
  });
}

function isShrunkAway(part: string): boolean {
  return Math.abs(Number.parseFloat(part) / (part.endsWith("%") ? 100 : 1)) <= LEAST_SCALE;
}

function hasNoArea(style: InlineStyle): boolean {
  const isAny = (properties: readonly string[]) =>
    properties.some((property) => isNothing(style.get(property)));
  const narrow = isAny(["width", "max-width", "inline-size", "max-inline-size"]);
  const low = isAny(["height", "max-height", "block-size", "max-block-size"]);
  const isCut = ["overflow", "overflow-x", "overflow-y"].some((property) =>
    /hidden|clip|scroll|auto/.test(style.get(property) ?? ""),
  );
  if (narrow && low) return true;
  // A first line that begins where the box ends is never seen.
  if (isCut && (narrow || low || (pixels(style.get("text-indent")) ?? 0) >= WHOLE)) return true;
  return style.has("zoom") && isShrunkAway(style.get("zoom") ?? "");
}

function isClippedAway(style: InlineStyle): boolean {
  const box = /^rect\(([^()]*)\)/.exec(style.get("clip") ?? "")?.[1];
  if (box !== undefined && isEmptyBox(partsOf(box.trim()))) return true;
  const shape = style.get("clip-path") ?? style.get("-webkit-clip-path") ?? "";
  const [, kind = "", inner = ""] = /^([a-z]+)\(([^()]*)\)/.exec(shape) ?? [];
  const parts = partsOf(inner.trim());
  switch (kind) {
    case "inset":
      return isInsetAway(parts);
    case "rect":
      return isEmptyBox(parts);
    case "xywh":
      return isNothing(parts[2]) || isNothing(parts[3]);
    case "circle":
    case "ellipse":
      return isNothing(parts[0]);
    case "polygon":
      return new Set(inner.split(",").map((point) => point.trim())).size === 1;
    default:
      return false;
  }
}

/** By where its top, right, bottom and left are. */
function isEmptyBox([top, right, bottom, left]: readonly string[]): boolean {
  const isEmpty = (from: string | undefined, to: string | undefined) => {
    const size = (pixels(to) ?? Number.POSITIVE_INFINITY) - (pixels(from) ?? 0);
    return size <= NOTHING;
  };
  return isEmpty(top, bottom) || isEmpty(left, right);
}

/** By what is taken off each side, as with margins. */
function isInsetAway(parts: readonly string[]): boolean {
  const round = parts.indexOf("round");
  const [top = 0, right = top, bottom = top, left = right] = parts
    .slice(0, round === -1 ? parts.length : round)
    .map((part) => pixels(part) ?? 0);
  return top + bottom >= WHOLE || left + right >= WHOLE;
}
