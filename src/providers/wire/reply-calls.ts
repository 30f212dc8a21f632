/** The tool calls of a reply, collected piece by piece and made fit to be stored and sent back. */

import type { JsonObject } from "../../core/json.ts";
import type { ToolCall } from "../../core/model.ts";
import { jsonOf } from "../../lib/lenient-json.ts";
import { wellFormed } from "../../lib/text.ts";
import { BadReply } from "./errors.ts";
import { textOf } from "./fields.ts";

/** What has arrived of a call. Servers leave out any of it. */
export interface CollectedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly extra?: JsonObject;
}

/** Arguments are text, but some servers send the object itself. */
export function argumentsOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return textOf(value);
  const json = jsonOf(value);
  if (json === undefined) throw new BadReply("sent tool arguments that are nested too deeply");
  return json;
}

/** Each with an id of its own. Some servers send a call that is empty but for its id, which is none. */
export function finishCalls(calls: readonly CollectedCall[], newCallId: () => string): ToolCall[] {
  const taken = new Set<string>();
  const asked = calls.filter((call) => call.name !== "" || call.arguments !== "");
  return asked.map((call) => {
    const given = wellFormed(call.id);
    const id = given === "" || taken.has(given) ? newCallId() : given;
    taken.add(id);
    return {
      id,
      name: wellFormed(call.name),
      arguments: wellFormed(call.arguments) || "{}",
      ...(call.extra === undefined ? {} : { extra: call.extra }),
    };
  });
}
