import { afterAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import type { HttpInfo, HttpServer, Socket, SocketHandler } from "../../src/core/http.ts";
import { runtime } from "../../src/platform/bun.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createHttpServers } from "../../src/platform/http.ts";
import { createSocketLinks } from "../../src/platform/http-listener.ts";

const http = createHttpServers({ runtime, clock: systemClock });
const servers: HttpServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.stop(0))));

type UpgradeOptions = Parameters<HttpInfo["upgrade"]>[1];

async function serve(handler: Partial<SocketHandler>, options: UpgradeOptions = { maxBytes: 1000 }) {
  const closed = Promise.withResolvers<void>();
  const whole: SocketHandler = {
    open() {},
    message() {},
    ...handler,
    closed(socket) {
      handler.closed?.(socket);
      closed.resolve();
    },
  };
  const server = await http.listen(
    { host: "127.0.0.1", port: 0 },
    async (_, info) => info.upgrade(whole, options) ?? new Response("no WebSocket", { status: 426 }),
  );
  servers.push(server);
  return { server, port: server.port, closed: closed.promise };
}

function open(port: number, protocols: string[] = []) {
  const client = new WebSocket(`ws://127.0.0.1:${port}/`, protocols);
  const messages: unknown[] = [];
  const opened = new Promise((resolve) => client.addEventListener("open", resolve));
  const heard = new Promise((resolve) =>
    client.addEventListener("message", ({ data }) => {
      messages.push(data);
      resolve(data);
    }),
  );
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    client.addEventListener("close", ({ code, reason }) => resolve({ code, reason })),
  );
  return { client, messages, opened, heard, closed };
}

describe("upgrade()", () => {
  test("carries text both ways, and tells of the end once", async () => {
    const events: string[] = [];
    const { port, closed } = await serve({
      open: () => events.push("open"),
      message(socket, text) {
        events.push(text);
        socket.send(`${text}!`);
      },
      closed: () => events.push("closed"),
    });
    const { client, opened, heard } = open(port);
    await opened;
    client.send("grüß dich 🦊");
    expect(await heard).toBe("grüß dich 🦊!");
    client.close();
    await closed;
    expect(events).toEqual(["open", "grüß dich 🦊", "closed"]);
  });

  test("names the subprotocol that was chosen, and none where none was", async () => {
    const chosen = await serve({}, { protocol: "nanobot.v1", maxBytes: 10 });
    const one = open(chosen.port, ["other", "nanobot.v1"]);
    await one.opened;
    expect(one.client.protocol).toBe("nanobot.v1");
    const none = await serve({});
    const two = open(none.port);
    await two.opened;
    expect(two.client.protocol).toBe("");
    one.client.close();
    two.client.close();
  });

  test("answers what is no WebSocket as its handler says", async () => {
    const { port } = await serve({});
    const response = await fetch(`http://127.0.0.1:${port}/`);
    expect(response.status).toBe(426);
    for (const headers of [{ upgrade: "h2c" }, { upgrade: "websocket" }]) {
      const other = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers });
      expect(other.status).toBe(426);
    }
  });

  test("closes with 1009 on a message over its own limit, counted in bytes", async () => {
    const taken: string[] = [];
    const { port } = await serve({ message: (_, text) => taken.push(text) }, { maxBytes: 6 });
    const { client, opened, closed } = open(port);
    await opened;
    client.send("äöü");
    client.send("äöü1");
    expect((await closed).code).toBe(1009);
    expect(taken).toEqual(["äöü"]);
  });

  test("closes with 1003 on bytes", async () => {
    const taken: string[] = [];
    const { port } = await serve({ message: (_, text) => taken.push(text) });
    const { client, opened, closed } = open(port);
    await opened;
    client.send(new Uint8Array([1, 2, 3]));
    client.send("after");
    expect((await closed).code).toBe(1003);
    expect(taken).toEqual([]);
  });

  test("says how much waits for a client that does not read", async () => {
    const opened = Promise.withResolvers<Socket>();
    const { port } = await serve({ open: (socket) => opened.resolve(socket) });
    const lazy = connect(port, "127.0.0.1");
    lazy.pause();
    lazy.write(
      [
        "GET / HTTP/1.1",
        "Host: a",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "",
        "",
      ].join("\r\n"),
    );
    const socket = await opened.promise;
    expect(socket.buffered).toBe(0);
    const piece = "x".repeat(1024 * 1024);
    for (let count = 0; count < 16; count++) socket.send(piece);
    expect(socket.buffered).toBeGreaterThan(piece.length);
    lazy.destroy();
  });

  test("closes as its handler says, and nothing happens on it after", async () => {
    const events: string[] = [];
    const { port, closed } = await serve({
      open(socket) {
        socket.close(4001, "no token");
        socket.send("late");
        socket.close(4002, "again");
        events.push(`buffered ${socket.buffered}`);
      },
      message: (_, text) => events.push(text),
    });
    const client = open(port);
    expect(await client.closed).toEqual({ code: 4001, reason: "no token" });
    await closed;
    expect(client.messages).toEqual([]);
    expect(events).toEqual(["buffered 0"]);
  });

  test("ends with the server, by 1001", async () => {
    const { server, port } = await serve({});
    const { opened, closed } = open(port);
    await opened;
    await server.stop(60_000);
    expect((await closed).code).toBe(1001);
  });
});

test("createSocketLinks() tells a handler of one end only, and of no message after it", () => {
  const events: string[] = [];
  const links = createSocketLinks();
  const wire = { send: () => {}, buffered: () => 5, close: (code: number) => events.push(`wire ${code}`) };
  const link = links.add(
    wire,
    {
      open: ({ buffered }) => events.push(`open ${buffered}`),
      message: (_, text) => events.push(text),
      closed: () => events.push("closed"),
    },
    10,
  );
  link.opened();
  link.message("a");
  links.closeAll();
  link.message("b");
  link.closed();
  link.closed();
  links.closeAll();
  expect(events).toEqual(["open 5", "a", "wire 1001", "closed"]);
});
