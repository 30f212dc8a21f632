/** Which model answers, or why none does, for commands that only tell. */

import type { App } from "../core/app.ts";
import { UserError } from "../core/errors.ts";

export type ModelStatus = Awaited<ReturnType<typeof modelStatus>>;

export async function modelStatus(app: Pick<App, "chooseModel">) {
  try {
    const { name, why, offline, fallbacks, contextWindowTokens } = await app.chooseModel({});
    return { ready: true, model: name, why, offline, fallbacks, contextWindowTokens } as const;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { ready: false, problem: error.message, hint: error.hint } as const;
  }
}

/** One line. */
export function describeModel(status: ModelStatus): string {
  if (status.ready) return `${status.model} (${status.why})`;
  return `✗ ${status.problem}${status.hint ? `. ${status.hint}` : ""}`;
}
