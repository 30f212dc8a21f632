/** What a request asks of one of Anthropic's models. */

import type { JsonObject } from "../../core/json.ts";
import type { ChatRequest } from "../../core/model.ts";
import type { AnthropicQuirks } from "./quirks.ts";

export interface Settings {
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly thinking?:
    | { readonly type: "enabled"; readonly budget_tokens: number }
    | { readonly type: "adaptive" | "disabled" };
  readonly effort?: string;
  readonly toolChoice?: JsonObject;
}

/** Thinking counts in the limit of a reply: this much is for what is said. */
const ROOM_TO_ANSWER = 4096;
/** The protocol refuses less. */
const LEAST_BUDGET = 1024;

interface Effort {
  /** As models say it that take no budget. */
  readonly effort?: string;
  readonly budget: number;
  /** The budget is at least the configured limit. */
  readonly generous?: boolean;
}

const efforts: Readonly<Record<string, Effort>> = {
  minimal: { effort: "low", budget: 1024 },
  low: { effort: "low", budget: 1024 },
  medium: { effort: "medium", budget: 4096 },
  high: { effort: "high", budget: 8192, generous: true },
  xhigh: { effort: "xhigh", budget: 8192, generous: true },
  max: { effort: "max", budget: 8192, generous: true },
  adaptive: { budget: 8192 },
};

/** What a model that chooses by itself may take. */
const UNASKED_BUDGET = 8192;

/** `takesBudget` is false where a budget would be refused because of the messages. */
export function settingsFor(request: ChatRequest, quirks: AnthropicQuirks, takesBudget: boolean): Settings {
  const toolChoice = toolChoiceFor(request, quirks);
  const choice = toolChoice === undefined ? {} : { toolChoice };
  const forced = toolChoice?.["type"] === "tool";
  const effort = efforts[request.reasoningEffort ?? ""];
  const thoughtful = forced || effort === undefined ? undefined : thinkingFor(effort, request, quirks);
  if (thoughtful !== undefined && (takesBudget || thoughtful.thinking.type === "adaptive")) {
    return { ...thoughtful, ...choice };
  }
  // Other vendors go up to 2.
  const temperature = quirks.noTemperature
    ? undefined
    : request.temperature && Math.min(request.temperature, 1);
  const isOff = quirks.offSwitch && (forced || request.reasoningEffort === "none");
  const thinksAlone = quirks.adaptiveOnly && quirks.thinksUnasked && !isOff;
  const least = thinksAlone ? UNASKED_BUDGET + ROOM_TO_ANSWER : 0;
  return {
    maxTokens: Math.min(Math.max(request.maxTokens, least), quirks.mostTokens),
    ...(temperature === undefined ? {} : { temperature }),
    ...(isOff ? { thinking: { type: "disabled" } } : {}),
    ...choice,
  };
}

/** `undefined` for models that can be told neither way, or have no room for it. */
function thinkingFor(
  { effort, budget, generous = false }: Effort,
  { maxTokens: configured }: ChatRequest,
  { adaptiveOnly, budgetOnly, noEffort, mostTokens }: AnthropicQuirks,
) {
  const wanted = generous ? Math.max(budget, configured) : budget;
  const maxTokens = Math.min(Math.max(configured, wanted + ROOM_TO_ANSWER), mostTokens);
  if (!budgetOnly && (adaptiveOnly || effort === undefined)) {
    const told = effort === undefined || noEffort ? {} : { effort };
    return { maxTokens, thinking: { type: "adaptive" }, ...told } as const;
  }
  const budgetTokens = Math.min(wanted, maxTokens - ROOM_TO_ANSWER);
  if (adaptiveOnly || budgetTokens < LEAST_BUDGET) return undefined;
  return { maxTokens, thinking: { type: "enabled", budget_tokens: budgetTokens } } as const;
}

function toolChoiceFor({ tools, toolChoice }: ChatRequest, quirks: AnthropicQuirks): JsonObject | undefined {
  if (tools.length === 0) return undefined;
  if (toolChoice === "none") return { type: "none" };
  if (toolChoice === "auto" || quirks.noForcedTool) return { type: "auto" };
  return { type: "tool", name: toolChoice.name };
}

/** Whether the model thinks for a request with these settings. */
export function thinks({ thinking }: Settings, { thinksUnasked }: AnthropicQuirks): boolean {
  return thinking === undefined ? thinksUnasked : thinking.type !== "disabled";
}
