/** Where Anthropic's models differ: its generations take different settings, and refuse the others. */

import type { ServerQuirks } from "../wire/server-quirks.ts";

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
  { noTemperature = false, noForcedTool = false }: Partial<ServerQuirks> = {},
): AnthropicQuirks {
  const version = VERSION.exec(model);
  const generation = version ? Number(version[1]) + Number(version[2] ?? 0) / 100 : undefined;
  const since = (first: number) => generation !== undefined && generation >= first;
  return {
    noTemperature: noTemperature || since(4.07),
    noForcedTool: noForcedTool || since(5.05),
    adaptiveOnly: since(4.07),
    budgetOnly: false,
    noEffort: false,
    thinksUnasked: generation === undefined || since(5),
    offSwitch: since(5) && !since(5.05),
    mostTokens: Number.POSITIVE_INFINITY,
  };
}
