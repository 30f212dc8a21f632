/** What is said over the control socket. Both ends may be of different versions of this program. */

import { UserError } from "../core/errors.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import { isObject } from "../lib/is-object.ts";
import { parseJson } from "../lib/parse-json.ts";

/** Raised when an old end would misunderstand a new one. A command that is new only makes it unknown there. */
const CONTROL_VERSION = 1;

/** A `UserError` on its way. */
export interface ControlError {
  readonly message: string;
  readonly hint?: string | undefined;
  readonly exitCode?: 1 | 2;
  readonly isRefusal?: boolean;
}

type ControlAnswer =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: ControlError };

const OTHER_VERSION = {
  hint: 'Start the gateway again, so that it is of the same version as this "nanobot"',
  exitCode: 1,
} as const;

export function writeRequest(args: JsonObject): string {
  return JSON.stringify({ v: CONTROL_VERSION, args });
}

/** Throws a `UserError` for whoever asked. */
export function readRequest(text: string): JsonObject {
  const body = parseJson(text);
  if (!isObject(body)) throw new UserError("The request is no JSON object");
  if (body["v"] !== CONTROL_VERSION) {
    throw new UserError(
      `The gateway speaks version ${CONTROL_VERSION} of its control protocol, and was asked in ${versionIn(body)}`,
      OTHER_VERSION,
    );
  }
  const { args } = body;
  if (!isObject(args)) throw new UserError('"args" is no JSON object');
  // Nothing but JSON can come out of a parser.
  return args as JsonObject;
}

export function writeAnswer(answer: ControlAnswer): string {
  if (answer.ok) return JSON.stringify({ v: CONTROL_VERSION, ...answer });
  // An `Error` has no fields of its own for JSON.
  const { message, hint, exitCode, isRefusal } = answer.error;
  return JSON.stringify({ v: CONTROL_VERSION, ok: false, error: { message, hint, exitCode, isRefusal } });
}

/** The value, or throws the error of the other side. */
export function readAnswer(text: string): JsonValue {
  const body = parseJson(text);
  if (!isObject(body) || body["v"] !== CONTROL_VERSION) {
    const spoken = isObject(body) ? versionIn(body) : "something else";
    throw new UserError(
      `The gateway that runs speaks ${spoken}, and not version ${CONTROL_VERSION} of the control protocol`,
      OTHER_VERSION,
    );
  }
  if (body["ok"] === true) return (body["value"] ?? null) as JsonValue;
  throw errorIn(body["error"]);
}

function versionIn({ v }: { readonly v?: unknown }): string {
  return typeof v === "number" ? `version ${v}` : "no version";
}

function errorIn(error: unknown): UserError {
  if (!isObject(error) || typeof error["message"] !== "string") {
    return new UserError("The gateway failed, and did not say at what", {
      hint: "Its log says why",
      exitCode: 1,
    });
  }
  const { message, hint, exitCode, isRefusal } = error;
  return new UserError(message, {
    ...(typeof hint === "string" ? { hint } : {}),
    exitCode: exitCode === 1 ? 1 : 2,
    isRefusal: isRefusal === true,
  });
}
