/** The control socket: what other processes of the same user may ask of the gateway that runs. */

import { UserError } from "../core/errors.ts";
import type { HttpHandler, HttpServer, HttpServers } from "../core/http.ts";
import type { JsonObject, JsonValue } from "../core/json.ts";
import type { Clock, Log } from "../core/platform.ts";
import { nearest } from "../lib/nearest.ts";
import { readBody } from "../lib/read-body.ts";
import { type ControlError, readRequest, writeAnswer } from "./control-protocol.ts";

/** What its `UserError` says is told to whoever asked; any other error is logged. */
export type ControlCommand = (args: JsonObject, signal: AbortSignal) => Promise<JsonValue>;

export interface ControlOptions {
  readonly http: Pick<HttpServers, "listen">;
  readonly socketFile: string;
  readonly commands: Readonly<Record<string, ControlCommand>>;
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
}

export interface Control {
  /** Rejects with a `UserError` when another process listens there. */
  start(): Promise<HttpServer>;
}

const MAX_BODY_BYTES = 1024 * 1024;

export function createControl({ http, socketFile, ...options }: ControlOptions): Control {
  return { start: () => http.listen({ socketFile }, createControlHandler(options)) };
}

/** A function that never rejects. */
function createControlHandler({
  commands,
  clock,
  log,
}: Pick<ControlOptions, "commands" | "clock" | "log">): HttpHandler {
  function find(name: string): ControlCommand | undefined {
    return Object.hasOwn(commands, name) ? commands[name] : undefined;
  }

  return async (request) => {
    const name = new URL(request.url).pathname.slice(1);
    if (request.method !== "POST") return refused(405, { message: "Commands are asked for by POST" });
    const body = await readBody(request, { maxBytes: MAX_BODY_BYTES, clock });
    if (!body.ok) return refused(body.status, { message: `The gateway did not take it: ${body.reason}` });
    try {
      const args = readRequest(new TextDecoder().decode(body.bytes));
      const command = find(name);
      if (command === undefined) return refused(404, unknown(name, Object.keys(commands)));
      return respond(200, writeAnswer({ ok: true, value: await command(args, request.signal) }));
    } catch (error) {
      if (error instanceof UserError) return refused(422, error);
      log.error("A command of another process failed", { command: name, error });
      return refused(500, {
        message: `The gateway failed at "${name}"`,
        hint: "Its log says why",
        exitCode: 1,
      });
    }
  };
}

function unknown(name: string, known: readonly string[]): ControlError {
  const meant = nearest(name, known);
  const all = `It knows ${known.toSorted().join(", ")}; start it again if it is older than this "nanobot"`;
  return {
    message: `The gateway that runs does not know ${JSON.stringify(name)}`,
    hint: meant === undefined ? all : `Did you mean "${meant}"?`,
    exitCode: 1,
  };
}

function refused(status: number, error: ControlError): Response {
  return respond(status, writeAnswer({ ok: false, error }));
}

function respond(status: number, body: string): Response {
  return new Response(body, { status, headers: { "content-type": "application/json" } });
}
