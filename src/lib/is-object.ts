/** Whether a decoded value is an object with keys, and neither a list nor null. */

export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
