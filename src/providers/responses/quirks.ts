/** Where servers of the Responses protocol differ, as their refusals tell. */

import type { ChatRequest } from "../../core/model.ts";
import type { Refusal } from "../wire/model-failure.ts";

export interface ResponsesQuirks {
  /** It takes no `temperature`. */
  readonly noTemperature: boolean;
  /** It cannot be made to call a tool; it is asked to choose by itself. */
  readonly noForcedTool: boolean;
  /** It takes no `include`. */
  readonly noInclude: boolean;
  /** It gives no summaries of what was thought, or not to this account. */
  readonly noSummary: boolean;
  /** It takes no `max_output_tokens`. */
  readonly noLimit: boolean;
  /** It takes no `store`. */
  readonly noStore: boolean;
  /** It looks up what was thought by its id, and does not find what it never stored. */
  readonly noReasoningIds: boolean;
  /** Efforts that it refused. */
  readonly refusedEfforts: ReadonlySet<string>;
}

export const noResponsesQuirks: ResponsesQuirks = {
  noTemperature: false,
  noForcedTool: false,
  noInclude: false,
  noSummary: false,
  noLimit: false,
  noStore: false,
  noReasoningIds: false,
  refusedEfforts: new Set(),
};

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

const UNSUPPORTED = "not support|unsupported|deprecated|not allowed|not permitted|unknown|unrecognized|extra";

/** A refusal of the parameter `name`. */
function refusesParameter(name: string): RegExp {
  return new RegExp(`(${name})[^]*(${UNSUPPORTED})|(${UNSUPPORTED})[^]*(${name})`, "i");
}

/** Words that are also ordinary ones count only in quotes. */
function quoted(name: string): string {
  return `["'\`]${name}\\\\?["'\`]`;
}

const REFUSES_EFFORT = /reasoning[._]effort/i;

/** The telling ones come first: the message about ids also speaks of `store`. */
const lessons = [
  { quirk: "noReasoningIds", says: /item with id .{1,100} not found|not persisted when/i },
  { quirk: "noSummary", says: /reasoning\.summary|reasoning summar/i },
  {
    quirk: "noInclude",
    says: new RegExp(`${refusesParameter(quoted("include")).source}|encrypted content is not support`, "i"),
  },
  { quirk: "noTemperature", says: refusesParameter("temperature") },
  { quirk: "noForcedTool", says: /tool_choice/i },
  { quirk: "noLimit", says: refusesParameter("max_output_tokens") },
  { quirk: "noStore", says: refusesParameter(quoted("store")) },
] as const;

/** What a refusal (400, 404 or 422) of `request` teaches about its server, if that is new. */
export function learnFromRefusal(
  body: string,
  quirks: ResponsesQuirks,
  request: ChatRequest,
): ResponsesQuirks | undefined {
  const effort = effortFor(request, quirks);
  if (effort !== undefined && REFUSES_EFFORT.test(body)) {
    return { ...quirks, refusedEfforts: new Set([...quirks.refusedEfforts, effort]) };
  }
  const lesson = lessons.find(({ quirk, says }) => !quirks[quirk] && says.test(body));
  return lesson && { ...quirks, [lesson.quirk]: true };
}

/** Whether the server cannot read, or cannot place, the thoughts that it was given back. */
export function refusesReasoning(body: string): boolean {
  return /encrypted.content.{0,300}(could not|cannot|not support)|invalid_encrypted_content|without its required|input\[\d+\]\.(encrypted_content|summary|phase)/is.test(
    body,
  );
}

const UNKNOWN_ADDRESS =
  /(unknown|invalid|unrecognized|unexpected)( request)? (url|endpoint|path|route)\b.{0,80}(\/responses|\bpost\b)/i;
const UNSUPPORTED_API =
  /(not support(ed)?|unsupported|not available|unavailable|not enabled|does not work)[^.]{0,80}responses (api|endpoint|operation)|responses (api|endpoint|operation)[^.]{0,80}(\bnot\b|unsupported|unavailable|only)/i;
/** A refusal that names one of these comes from a server that understood the request. */
const MISSING_THING = /model|deployment|\bitem\b/i;

/** Whether a refusal means that this server, or this model, does not speak the Responses protocol at all. */
export function speaksNoResponses({ status, body }: Refusal): boolean {
  if (status === 405) return true;
  if (status === 404) return body.trimStart().startsWith("<") || !MISSING_THING.test(body);
  if (status !== undefined && status !== 400 && status !== 422) return false;
  return UNKNOWN_ADDRESS.test(body) || UNSUPPORTED_API.test(body);
}
