/** What was found out about a model, whoever asks it and under whatever name it was chosen. */

import type { TokenScale } from "../../core/model.ts";
import type { Clock } from "../../core/platform.ts";
import { createTokenScale } from "../../lib/token-scale.ts";
import { type Breaker, createBreaker } from "./breaker.ts";
import { createImageRefusals, type ImageRefusals } from "./image-refusals.ts";

export interface Standing {
  readonly breaker: Breaker;
  readonly scale: TokenScale;
  readonly imageRefusals: ImageRefusals;
  /** The user has heard that its account is empty; unset when it answers again. */
  quotaTold: boolean;
}

export function createStanding(clock: Clock): Standing {
  return {
    breaker: createBreaker(clock),
    scale: createTokenScale(),
    imageRefusals: createImageRefusals(),
    quotaTold: false,
  };
}
