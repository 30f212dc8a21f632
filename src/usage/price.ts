/** What a call to a model cost, by the provider's own word or by the prices of whoever pays. */

import type { Usage } from "../core/model.ts";
import type { ModelPrice } from "../core/usage.ts";

const MILLION = 1_000_000;

export interface PricedCall {
  readonly model: string;
  readonly provider: string;
  readonly usage: Usage;
  /** By `provider/name` or `name`. */
  readonly prices: Readonly<Record<string, ModelPrice>>;
}

/** From the most exact to the barest: `openrouter/acme/large`, `acme/large`, `large`. */
function* namesOf(provider: string, model: string): Generator<string> {
  yield `${provider}/${model}`;
  yield model;
  for (let slash = model.indexOf("/"); slash >= 0; slash = model.indexOf("/", slash + 1)) {
    yield model.slice(slash + 1);
  }
}

function priceFor({ model, provider, prices }: PricedCall): ModelPrice | undefined {
  for (const name of namesOf(provider, model)) {
    if (Object.hasOwn(prices, name)) return prices[name];
  }
  return undefined;
}

/** US dollars; `undefined` when neither the provider nor the user says. */
export function priceOf(call: PricedCall): number | undefined {
  const { input, output, cached, cost } = call.usage;
  if (cost !== undefined && Number.isFinite(cost) && cost >= 0) return cost;
  const price = priceFor(call);
  if (price === undefined) return undefined;
  const fromCache = Math.min(cached, input);
  const dollars =
    (input - fromCache) * price.input + fromCache * (price.cached ?? price.input) + output * price.output;
  return dollars / MILLION;
}
