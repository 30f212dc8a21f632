/** The reasoning effort that a Responses server is asked for: the nearest to the configured one that it takes. */

import type { ChatRequest } from "../../core/model.ts";
import type { ResponsesQuirks } from "./quirks.ts";

/** What is asked for in the place of an effort that was refused; nothing stands for the model's own choice. */
const NEXT_EFFORT: Readonly<Record<string, string>> = { xhigh: "high", none: "minimal", minimal: "low" };

/** The effort as it is sent. */
export function effortFor(
  { reasoningEffort }: Pick<ChatRequest, "reasoningEffort">,
  { refusedEfforts }: ResponsesQuirks,
): string | undefined {
  if (reasoningEffort === undefined || reasoningEffort === "adaptive") return undefined;
  let effort: string | undefined = reasoningEffort === "max" ? "xhigh" : reasoningEffort;
  while (effort !== undefined && refusedEfforts.has(effort)) effort = NEXT_EFFORT[effort];
  return effort;
}
