/** Asks the gateway that runs, over its control socket. */

import { Buffer } from "node:buffer";
import { UserError } from "../core/errors.ts";
import type { HttpServers } from "../core/http.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import { errorCode } from "../lib/error-code.ts";
import { readAnswer, writeRequest } from "./control-protocol.ts";

export interface GatewayPlace {
  readonly http: Pick<HttpServers, "request">;
  readonly socketFile: string;
}

/** As much as the gateway takes; more it would cut off without a word. */
const MAX_BYTES = 1024 * 1024;
/** What a connection ends with when whoever answered is gone. */
const GONE = new Set(["ECONNRESET", "EPIPE"]);

/** Rejects with the `UserError` of the command, and with the signal's reason. */
export async function askGateway(
  { http, socketFile }: GatewayPlace,
  command: string,
  args: JsonObject,
  signal: AbortSignal,
): Promise<{ running: false } | { running: true; value: JsonValue }> {
  const path = `/${encodeURIComponent(command)}`;
  const body = writeRequest(args);
  if (Buffer.byteLength(body) > MAX_BYTES) {
    throw new UserError(
      `Cannot ask the gateway for "${command}": there is more to say than ${MAX_BYTES} bytes`,
    );
  }
  try {
    const answer = await http.request(socketFile, { path, body }, signal);
    return answer === undefined ? { running: false } : { running: true, value: readAnswer(answer.body) };
  } catch (error) {
    if (!GONE.has(errorCode(error) ?? "")) throw error;
    throw new UserError(`The gateway ended before it answered "${command}"`, {
      hint: "It may have done it all the same; look before you ask again",
      exitCode: 1,
      cause: error,
    });
  }
}
