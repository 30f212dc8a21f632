/** The network between a program and a server on this machine, which a test can pull out and plug in again. */

import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";

/**
 * `cut` closes all connections and every new one; `silent` lets nothing through and closes nothing; `blip`
 * closes all connections once.
 */
export type Fault = "cut" | "silent" | "blip";

export interface Cable {
  /** The server's address at this end of the cable. */
  readonly url: string;
  /** How often it was pulled. */
  readonly pulls: number;
  pull(fault: Fault): void;
  /** Pulls as soon as the program has been sent `text` and nothing behind it. Happens once. */
  pullAfter(text: string, fault: Fault): void;
  plug(): void;
  close(): Promise<void>;
}

export async function startCable(serverUrl: string): Promise<Cable> {
  const { hostname, port, pathname } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let fault: Fault | undefined;
  let pulls = 0;
  let trap: { readonly text: string; readonly fault: Fault } | undefined;

  function pull(next: Fault): void {
    pulls++;
    fault = next === "blip" ? undefined : next;
    if (next !== "silent") for (const socket of sockets) socket.destroy();
  }

  function track(socket: Socket): void {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // A connection that breaks is closed, too.
    socket.on("error", () => {});
  }

  const listener = createServer((client) => {
    track(client);
    if (fault === "cut") {
      client.destroy();
      return;
    }
    const server = connect(Number(port), hostname);
    track(server);
    let sent = "";

    function deliver(bytes: Buffer): void {
      if (fault !== undefined) return;
      const before = sent.length;
      sent += bytes.toString("latin1");
      const at = trap === undefined ? -1 : sent.indexOf(trap.text);
      if (trap === undefined || at === -1) {
        client.write(bytes);
        return;
      }
      const caught = trap;
      trap = undefined;
      const rest = bytes.subarray(0, at + caught.text.length - before);
      if (caught.fault === "silent") {
        client.write(rest);
        pull("silent");
      } else {
        // What is on its way when a connection is closed can get lost.
        client.write(rest, () => pull(caught.fault));
      }
    }

    client.on("data", (bytes) => {
      if (fault === undefined) server.write(bytes);
    });
    server.on("data", deliver);
    client.on("close", () => server.destroy());
    server.on("close", () => {
      if (fault !== "silent") client.end();
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}${pathname}`,
    get pulls() {
      return pulls;
    },
    pull,
    pullAfter(text, next) {
      trap = { text, fault: next };
    },
    plug() {
      fault = undefined;
      // What was in flight has timed out at both ends by now.
      for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
