/** Reads decoded JSON that nobody has checked: what is not as expected counts as missing. */

import { isObject } from "../../lib/is-object.ts";

export type Fields = { readonly [key: string]: unknown };

export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

export function objectsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isObject) : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The first of the candidates that is a count. */
export function countOf(...candidates: readonly unknown[]): number | undefined {
  const found = candidates.find((value) => typeof value === "number" && Number.isFinite(value) && value >= 0);
  return typeof found === "number" ? found : undefined;
}
