/** One listening socket that counts who waits at it: Bun's own where it can, since node:net costs megabytes before its first use. */

import type { Socket } from "node:net";

export interface LockListener {
  /** Whether somebody is connected. */
  isAwaited(): boolean;
  /** Resolves when nobody listens any more; whoever was connected has heard of it. */
  close(): Promise<void>;
}

/** Rejects with EADDRINUSE when somebody listens there. Never keeps the process alive. */
export async function listenFor(address: string): Promise<LockListener> {
  // Pipes of Windows are no socket files to it.
  return "Bun" in globalThis && !address.startsWith("\\\\")
    ? listenWithBun(address)
    : listenWithNode(address);
}

function listenWithBun(address: string): LockListener {
  const waiting = new Set<{ terminate(): void }>();
  const server = Bun.listen({
    unix: address,
    socket: {
      open: (socket) => void waiting.add(socket),
      // Nothing is ever sent here.
      data() {},
      // A waiter that gave up or was killed; nothing is owed to it.
      error() {},
      close: (socket) => void waiting.delete(socket),
    },
  });
  server.unref();
  return {
    isAwaited: () => waiting.size > 0,
    async close() {
      server.stop(true);
      for (const socket of waiting) socket.terminate();
    },
  };
}

async function listenWithNode(address: string): Promise<LockListener> {
  const { createServer } = await import("node:net");
  const waiting = new Set<Socket>();
  const server = createServer((socket) => {
    waiting.add(socket);
    // A waiter that gave up or was killed; nothing is owed to it.
    socket.on("error", () => undefined);
    socket.on("close", () => waiting.delete(socket));
    socket.unref();
    // Only what is read shows its end. Nothing is ever sent here.
    socket.resume();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, resolve);
  });
  // No descriptor left to accept a waiter with: it stays in the kernel's queue and hears of our end all the same.
  server.on("error", () => undefined);
  server.unref();
  return {
    isAwaited: () => waiting.size > 0,
    close: () =>
      new Promise((resolve) => {
        // The only error is that it was not listening any more, which is what we want.
        server.close(() => resolve());
        for (const socket of waiting) socket.destroy();
      }),
  };
}
