/** A request to a server that listens in a socket file. */

import { Buffer } from "node:buffer";
import * as http from "node:http";
import { UserError } from "../core/errors.ts";
import type { HttpServers } from "../core/http.ts";
import { abortable } from "../lib/abort.ts";
import { errorCode } from "../lib/error-code.ts";
import { explained } from "../lib/file-error.ts";
import { socketPath } from "./socket-path.ts";

type Answer = { readonly status: number; readonly body: string };

/** Whoever answers is trusted no further than to be the same user. A list of thousands of messages has its room. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export const requestOverFile: HttpServers["request"] = async (socketFile, request, signal) => {
  signal.throwIfAborted();
  return explained("reach", socketFile, async () => {
    try {
      const { path, release } = socketPath(socketFile);
      try {
        return await send(path, request, signal);
      } finally {
        release();
      }
    } catch (error) {
      if (["ENOENT", "ECONNREFUSED"].includes(errorCode(error) ?? "")) return undefined;
      throw error;
    }
  });
};

async function send(
  file: string,
  { path, body }: { path: string; body: string },
  signal: AbortSignal,
): Promise<Answer> {
  const bytes = Buffer.from(body);
  const outgoing = http.request({
    socketPath: file,
    path,
    method: "POST",
    headers: { host: "localhost", "content-type": "application/json", "content-length": bytes.length },
    agent: false,
  });
  try {
    return await abortable(answerTo(outgoing, bytes), signal);
  } finally {
    outgoing.destroy();
  }
}

function answerTo(outgoing: http.ClientRequest, body: Uint8Array): Promise<Answer> {
  return new Promise((resolve, reject) => {
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      read(incoming).then((text) => resolve({ status: incoming.statusCode ?? 0, body: text }), reject);
    });
    outgoing.end(body);
  });
}

async function read(incoming: http.IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) {
      throw new UserError(`Cannot take an answer of more than ${MAX_ANSWER_BYTES} bytes`, { exitCode: 1 });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
