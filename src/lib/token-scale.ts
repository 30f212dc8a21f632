/** How far a model's own count of tokens is from our estimate, learnt as answers come. */

import type { TokenScale } from "../core/model.ts";

/** Shorter prompts are mostly what the estimate does not see. */
const FEWEST_TOKENS = 500;
/** No tokenizer is farther from the estimate than this; a count that says so is about something else. */
const LOWEST = 0.5;
const HIGHEST = 3;
/** The part of the distance that one count moves the factor down. Up it moves at once: too long is worse than too short. */
const DOWN = 0.3;
/** What is left of a prompt that was refused as too long. */
const AFTER_REFUSAL = 0.7;
/** A prompt that comes so near to that and is taken raises it a little: a refusal may have had another reason. */
const NEAR = 0.8;
const RAISE = 1.02;

export function createTokenScale(): TokenScale {
  let factor = 1;
  let ceiling = Number.POSITIVE_INFINITY;
  return {
    fit: (tokens) => Math.floor(Math.min(tokens / factor, ceiling)),
    learn(estimated, counted) {
      if (estimated >= ceiling * NEAR) ceiling = Math.max(estimated, ceiling * RAISE);
      if (estimated < FEWEST_TOKENS || counted <= 0) return;
      const seen = Math.min(Math.max(counted / estimated, LOWEST), HIGHEST);
      factor = seen > factor ? seen : factor + (seen - factor) * DOWN;
    },
    refused(estimated) {
      ceiling = Math.min(ceiling, Math.floor(estimated * AFTER_REFUSAL));
    },
  };
}
