/** What the agent is told of an event: that it is one, of which hook, and its content as data. */

import { isObject } from "../../lib/is-object.ts";
import { eventOfHook } from "../../lib/phrases.ts";
import { headTail } from "../../lib/text.ts";
import { fillIn, readable } from "./template.ts";

/** UTF-16 units of JSON that is shown as it came. */
const LONGEST_JSON = 20_000;

interface EventText {
  readonly name: string;
  readonly template: string | undefined;
  readonly instructions: string | undefined;
  /** What its sender calls this kind of event. */
  readonly kind: string | undefined;
  readonly json: unknown;
}

export function describeEvent({ name, template, instructions, kind, json }: EventText): string {
  const content = template === undefined ? rendered(json) : fillIn(template, json);
  const parts = [eventOfHook(name, kind), fenced(content), ...(instructions ? [instructions] : [])];
  return parts.join("\n\n");
}

/** Indented where that is short enough to be read. */
function rendered(json: unknown): string {
  if (isObject(json) && typeof json["text"] === "string" && Object.keys(json).length === 1) {
    return readable(bounded(json["text"]));
  }
  const short = JSON.stringify(json);
  // Indentation can make deep JSON a hundred times as long, so what is long already gets none.
  return readable(bounded(short.length > LONGEST_JSON ? short : JSON.stringify(json, undefined, 2)));
}

function bounded(text: string): string {
  return headTail(text, LONGEST_JSON, (cut) => `\n[… ${cut} characters left out …]\n`);
}

/** Longer than any run of the same marks inside, so that nothing in there ends it. */
function fenced(content: string): string {
  const longest = (content.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${content}\n${fence}`;
}
