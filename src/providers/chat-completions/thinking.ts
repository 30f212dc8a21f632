/** A reasoning effort in the words of chat-completions servers, each of which has its own. */

import type { JsonObject } from "../../core/json.ts";
import type { ThinkingStyle } from "../wire/server-quirks.ts";

/** The part of a request that asks for `effort`; nothing of it where none is configured. */
export function thinkingOptions(effort: string | undefined, model: string, style: ThinkingStyle): JsonObject {
  if (effort === undefined) return {};
  switch (style) {
    case "effort": {
      const level = levelFor(model, effort);
      return level === undefined ? {} : { reasoning_effort: level };
    }
    case "reasoning":
      return { reasoning: effort === "adaptive" ? { enabled: true } : { effort: standardLevel(effort) } };
    case "thinkingType":
      return { thinking: { type: thinks(effort) ? "enabled" : "disabled" } };
    case "enableThinking":
      return { enable_thinking: thinks(effort) };
    case "split":
      return thinks(effort) ? { reasoning_split: true } : {};
    case "none":
      return {};
  }
}

/** Where thinking can only be on or off, the least of it is off. */
function thinks(effort: string): boolean {
  return effort !== "none" && effort !== "minimal";
}

/** `max` is a level of few vendors, and `xhigh` the highest of the others. */
function standardLevel(effort: string): string {
  return effort === "max" ? "xhigh" : effort;
}

const MAGISTRAL = /magistral/i;
const MISTRAL = /(^|\/)(mistral|ministral|devstral|codestral|pixtral)/i;

function levelFor(model: string, effort: string): string | undefined {
  // Each model thinks as much as it sees fit unless it is told otherwise.
  if (effort === "adaptive") return undefined;
  // It always thinks, and refuses to be told how much.
  if (MAGISTRAL.test(model)) return undefined;
  // These two are what every model of Mistral that thinks at all takes.
  if (MISTRAL.test(model)) return thinks(effort) ? "high" : "none";
  return standardLevel(effort);
}
