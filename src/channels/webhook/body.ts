/** The body of an event, as JSON: whatever else it was sent as. */

import { isObject } from "../../lib/is-object.ts";
import { parseJson } from "../../lib/parse-json.ts";

/** Nobody means deeper JSON, and whoever walks through it may run out of stack. */
const DEEPEST = 64;
const MOST_FIELDS = 1_000;

/** `undefined` for what is no text, no JSON, or too deep. */
export function parseBody(body: Uint8Array, contentType: string | null): unknown {
  const text = decode(body);
  if (text === undefined) return undefined;
  const json = read(text, (contentType ?? "").split(";")[0]?.trim().toLowerCase() ?? "");
  return isShallow(json, DEEPEST) ? json : undefined;
}

function decode(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    // It says only that the bytes are no UTF-8, which is what `undefined` says.
    return undefined;
  }
}

function read(text: string, mediaType: string): unknown {
  const json = parseJson(text);
  if (mediaType === "application/x-www-form-urlencoded" && !isStructure(json)) return fromForm(text);
  if (mediaType === "text/plain" && !isStructure(json)) return { text };
  return json;
}

function isStructure(json: unknown): boolean {
  return typeof json === "object" && json !== null;
}

/** GitHub and Slack put their JSON into a field of that name. */
function fromForm(text: string): unknown {
  const form = new URLSearchParams(text);
  const payload = parseJson(form.get("payload") ?? "");
  return isStructure(payload) ? payload : Object.fromEntries([...form].slice(0, MOST_FIELDS));
}

function isShallow(value: unknown, levels: number): boolean {
  if (!isStructure(value)) return true;
  if (levels === 0) return false;
  const parts = isObject(value) ? Object.values(value) : Array.isArray(value) ? value : [];
  return parts.every((part) => isShallow(part, levels - 1));
}
