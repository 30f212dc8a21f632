/** What is known of a server that speaks chat completions, until it says otherwise: everything may differ. */

import type { ServerQuirks } from "../wire/server-quirks.ts";

export type Quirks = ServerQuirks;

export const noQuirks: Quirks = {
  noStreamOptions: false,
  completionTokens: "byModel",
  noTemperature: false,
  nullContent: false,
  noForcedTool: false,
  shortCallIds: false,
  noUserAfterTool: false,
  cacheMarkers: false,
  replayReasoning: false,
  thoughtSignatures: false,
  reasoningIsAnswer: false,
  thinking: "effort",
};
