/** Sockets as signs of life: whoever listens is alive, and who connects learns of its end without asking twice. */

import type { Socket } from "node:net";
import { never } from "../lib/abort.ts";
import { errorCode } from "../lib/error-code.ts";
import { listenFor } from "./lock-listener.ts";

/** A name that this process holds against all others. */
export interface Held {
  /** Whether another process waits for it. */
  isAwaited(): boolean;
  /** Resolves when the name is free; whoever waited has heard of it. */
  release(): Promise<void>;
}

/** Exclusion between processes. Within one process nobody asks twice for a key at a time. */
export interface MachineLocks {
  take(key: string, signal: AbortSignal): Promise<Held>;
  tryTake(key: string): Promise<Held | undefined>;
}

/** Rejects with EADDRINUSE when somebody listens there. Never keeps the process alive. */
export async function listen(address: string): Promise<Held> {
  const listener = await listenFor(address);
  return { isAwaited: listener.isAwaited, release: listener.close };
}

/** Before the next try, when the system can take no more waiters. */
const BUSY_MS = 20;

type Answer = "connected" | "nobody" | "busy";

/** Waits until whoever listens at `address` is gone. Resolves to `nobody` when nobody listened at all. */
export async function waitForEnd(address: string, signal: AbortSignal): Promise<"ended" | "nobody"> {
  for (;;) {
    const answer = await knock(address, signal, () => undefined);
    if (answer !== "busy") return answer === "connected" ? "ended" : "nobody";
    await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
  }
}

/** A full queue of waiters means that there is somebody. */
export async function isListening(address: string): Promise<boolean> {
  return (await knock(address, never, (socket) => socket.destroy())) !== "nobody";
}

/** Connects, and resolves when the connection is over, whoever ended it. */
async function knock(
  address: string,
  signal: AbortSignal,
  onConnect: (socket: Socket) => void,
): Promise<Answer> {
  const { connect } = await import("node:net");
  signal.throwIfAborted();
  // Not unref'd: somebody in this process waits for the lock, and it may be all there is to do.
  const socket = connect(address);
  const onAbort = () => socket.destroy();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await new Promise((resolve, reject) => {
      let answer: Answer = "connected";
      socket.on("connect", () => onConnect(socket));
      socket.on("error", (error) => {
        const code = errorCode(error) ?? "";
        if (["ECONNREFUSED", "ENOENT"].includes(code)) answer = "nobody";
        else if (["EAGAIN", "EMFILE", "ENFILE"].includes(code)) answer = "busy";
        // A reset is an end like any other; the rest are faults of this machine.
        else if (!["ECONNRESET", "EPIPE"].includes(code)) reject(error);
      });
      socket.on("close", () => (signal.aborted ? reject(signal.reason) : resolve(answer)));
      // Only what is read shows its end. Nothing is ever sent here.
      socket.resume();
    });
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
