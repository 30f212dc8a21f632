/** Asks the gateway that runs for this workspace. */

import type { App } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";

/** Throws a `UserError` when none runs. */
export async function requireGateway(
  app: App,
  command: string,
  args: JsonObject,
  signal: AbortSignal,
): Promise<JsonValue> {
  const answer = await app.askGateway(command, args, signal);
  if (answer.running) return answer.value;
  throw new UserError("No gateway runs for this workspace", {
    hint: 'Start one with "nanobot gateway"',
    exitCode: 1,
  });
}
