/** What a request asks of one of Anthropic's models: its generations take different settings, and refuse the others. */

import type { JsonObject } from "../../core/json.ts";
import type { ChatRequest } from "../../core/model.ts";
import type { Quirks } from "../chat-completions/quirks.ts";

/** Known from the model's name, configured, or learnt from its refusals. */
export interface AnthropicQuirks {
  readonly noTemperature: boolean;
  /** It cannot be made to call a tool; it is asked to choose by itself. */
  readonly noForcedTool: boolean;
  /** It takes no budget for its thinking, but an effort. */
  readonly adaptiveOnly: boolean;
  /** It takes only a budget for its thinking. */
  readonly budgetOnly: boolean;
  readonly noEffort: boolean;
  /** It thinks when nothing is said about thinking. */
  readonly thinksUnasked: boolean;
  /** Its thinking can be switched off, and is on otherwise. */
  readonly offSwitch: boolean;
  /** The longest reply it takes as a limit. */
  readonly mostTokens: number;
}

const VERSION = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/i;

/** Saves a refusal for the models that are known; about all others the refusals teach. */
export function quirksOf(
  model: string,
  { noTemperature = false, noForcedTool = false }: Partial<Quirks> = {},
) {
  const version = VERSION.exec(model);
  const generation = version ? Number(version[1]) + Number(version[2] ?? 0) / 100 : undefined;
  const since = (first: number) => generation !== undefined && generation >= first;
  const quirks: AnthropicQuirks = {
    noTemperature: noTemperature || since(4.07),
    noForcedTool: noForcedTool || since(5.05),
    adaptiveOnly: since(4.07),
    budgetOnly: false,
    noEffort: false,
    thinksUnasked: generation === undefined || since(5),
    offSwitch: since(5) && !since(5.05),
    mostTokens: Number.POSITIVE_INFINITY,
  };
  return quirks;
}

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
  const effort = efforts[request.reasoningEffort?.toLowerCase() ?? ""];
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

/** What a refusal (400 or 422) of these settings teaches. Each lesson takes out what it is about, so this ends. */
export function learnFrom(body: string, sent: Settings): Partial<AnthropicQuirks> | undefined {
  if (sent.temperature !== undefined && /temperature/i.test(body)) return { noTemperature: true };
  if (sent.toolChoice?.["type"] === "tool" && /tool_choice/i.test(body)) return { noForcedTool: true };
  const mostTokens = Number(/max_tokens: \d+ > (\d+)/.exec(body)?.[1]);
  if (mostTokens > 0 && mostTokens < sent.maxTokens) return { mostTokens };
  const type = sent.thinking?.type;
  if (type === "disabled" && /disabled/i.test(body)) return { offSwitch: false };
  if (type === "enabled" && /adaptive|budget_tokens|thinking\.type/i.test(body))
    return { adaptiveOnly: true };
  if (sent.effort !== undefined && /effort|output_config/i.test(body)) return { noEffort: true };
  if (type === "adaptive" && /adaptive/i.test(body)) return { budgetOnly: true };
  return undefined;
}
