/** Starts a server on an address or in a socket file, and ends it in order. */

import { lstatSync, unlinkSync } from "node:fs";
import { UserError } from "../core/errors.ts";
import type { HttpHandler, HttpServer, HttpServers } from "../core/http.ts";
import type { Clock } from "../core/platform.ts";
import { errorCode } from "../lib/error-code.ts";
import { explained, quote } from "../lib/file-error.ts";
import { createSocketLinks, type HttpListener, type Listening } from "./http-listener.ts";
import { isListening } from "./lock-sockets.ts";
import { socketPath } from "./socket-path.ts";

/** Only its owner may write to a socket file, which is what connecting needs. */
const OTHERS = 0o177;

interface ServerOptions {
  readonly where: Parameters<HttpServers["listen"]>[0];
  readonly handler: HttpHandler;
  readonly listener: HttpListener;
  readonly clock: Pick<Clock, "after">;
}

export async function startServer({ where, handler, listener, clock }: ServerOptions): Promise<HttpServer> {
  const links = createSocketLinks();
  const listening =
    "socketFile" in where
      ? await listenInFile(where.socketFile, (path) => listener({ path }, handler, links))
      : listenOn(where, () => listener(where, handler, links));
  let stopped: Promise<void> | undefined;

  async function stop(graceMs: number): Promise<void> {
    const drained = listening.drain();
    // They have no end of their own to wait for, and their clients know how to come back.
    links.closeAll();
    await new Promise<void>((resolve, reject) => {
      const callOff = clock.after(graceMs, resolve);
      drained.then(resolve, reject).finally(callOff);
    });
    await listening.end();
  }

  return {
    port: listening.port,
    stop(graceMs) {
      stopped ??= stop(graceMs);
      return stopped;
    },
  };
}

function listenOn({ host, port }: { host: string; port: number }, start: () => Listening): Listening {
  try {
    return start();
  } catch (error) {
    throw refusal(error, host, port);
  }
}

/** An error that is not about the address comes back as it was. */
function refusal(error: unknown, host: string, port: number): unknown {
  const where = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  const failure = (why: string, hint: string) =>
    new UserError(`Cannot listen on ${where}: ${why}`, { hint, exitCode: 1, cause: error });
  switch (errorCode(error)) {
    case "EADDRINUSE":
      return failure(
        "something else listens there",
        "End the other program, or set gateway.port to a port that is free",
      );
    case "EACCES":
    case "EPERM":
      return failure("the system does not permit it", "Set gateway.port to 1024 or more");
    case "EADDRNOTAVAIL":
      return failure(
        "this machine has no such address",
        "Set gateway.host to 127.0.0.1, or to an address of this machine",
      );
    default:
      return isUnknownName(error)
        ? failure("the name is not known", "Set gateway.host to an address")
        : error;
  }
}

/** Bun says that something is not there, and Deno gives that no code. */
function isUnknownName(error: unknown): boolean {
  if (errorCode(error) === "ENOENT") return true;
  return error instanceof Error && error.message.startsWith("failed to lookup address");
}

async function listenInFile(file: string, start: (path: string) => Listening): Promise<Listening> {
  return explained("listen in", file, async () => {
    const { path, release } = socketPath(file);
    try {
      const listening = await takeFile(file, path, start);
      // The file is removed by its path at the end.
      return { ...listening, end: () => listening.end().finally(release) };
    } catch (error) {
      release();
      throw error;
    }
  });
}

async function takeFile(file: string, path: string, start: (path: string) => Listening): Promise<Listening> {
  if (await isListening(path)) {
    throw new UserError(`Cannot listen in ${quote(file)}: another process listens there`, {
      hint: "End the other one first",
      exitCode: 1,
    });
  }
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) unlinkSync(path);
  // From its first moment nobody else can open it. Nothing else runs until the umask is back.
  const before = process.umask(OTHERS);
  try {
    return start(path);
  } finally {
    process.umask(before);
  }
}
