/** The websocket channel behind a real server, with real clients. */

import { afterAll, expect, test } from "bun:test";
import type { HttpServer } from "../../../src/core/http.ts";
import { createGatewayApp } from "../../../src/gateway/app.ts";
import { runtime } from "../../../src/platform/bun.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createHttpServers } from "../../../src/platform/http.ts";
import { createFakeLog } from "../../fakes/log.ts";
import { type Frame, setUp, TOKEN } from "./fixture.ts";

const servers: HttpServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.stop(0))));

async function serve(config: Parameters<typeof setUp>[0] = {}) {
  const setup = await setUp(config);
  const { routes = [] } = setup.channel;
  const app = await createGatewayApp({
    channels: [{ channel: "websocket", routes, isOpen: () => true }],
    ready: async () => [],
    trustedProxies: [],
    maxBodyBytes: 1_000_000,
    clock: systemClock,
    log: createFakeLog(),
  });
  const http = createHttpServers({ runtime, clock: systemClock });
  const server = await http.listen({ host: "127.0.0.1", port: 0 }, app);
  servers.push(server);
  return { ...setup, url: `ws://127.0.0.1:${server.port}/ws` };
}

function open(url: string, options: Bun.WebSocketOptions) {
  const socket = new WebSocket(url, options);
  const frames: Frame[] = [];
  let wake = () => {};
  socket.addEventListener("message", ({ data }) => {
    frames.push(JSON.parse(String(data)) as Frame);
    wake();
  });
  const closed = new Promise<number>((resolve) => {
    socket.addEventListener("close", ({ code }) => resolve(code));
  });
  return {
    socket,
    closed,
    opened: new Promise<boolean>((resolve) => {
      socket.addEventListener("open", () => resolve(true));
      socket.addEventListener("error", () => resolve(false));
    }),
    async frame(index: number): Promise<Frame> {
      for (;;) {
        const found = frames[index];
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    say: (frame: object) => socket.send(JSON.stringify(frame)),
  };
}

const authorized = { headers: { authorization: `Bearer ${TOKEN}` } };

test("a client talks, hears the answer, and comes back for what it missed", async () => {
  const { url, inbox, final, show } = await serve();
  const client = open(url, authorized);
  expect(await client.opened).toBe(true);
  client.say({ type: "hello", chat: "home" });
  expect(await client.frame(0)).toMatchObject({ type: "ready", chat: "home" });
  client.say({ type: "message", id: "m1", content: "good morning ☀" });
  expect(await client.frame(1)).toEqual({ type: "ack", id: "m1" });
  expect(inbox[0]?.content).toBe("good morning ☀");
  await show("delta", "Good", "home");
  const delta = await client.frame(2);
  client.socket.close();
  await client.closed;
  await final("Good morning", { chatId: "home" });
  const again = open(url, authorized);
  await again.opened;
  again.say({ type: "hello", chat: "home", after: delta["seq"] });
  expect(await again.frame(1)).toMatchObject({ type: "final", content: "Good morning" });
  again.socket.close();
});

test("a browser's way of sending the token works, and a wrong one does not", async () => {
  const { url } = await serve({ allowedOrigins: ["https://chat.example.com"] });
  const protocols = (token: string) => [
    "nanobot.v1",
    `nanobot.token.${Buffer.from(token).toString("base64url")}`,
  ];
  const headers = { origin: "https://chat.example.com" };
  const client = open(url, { protocols: protocols(TOKEN), headers });
  expect(await client.opened).toBe(true);
  expect(client.socket.protocol).toBe("nanobot.v1");
  client.socket.close();
  expect(await open(url, { protocols: protocols(`${TOKEN}x`), headers }).opened).toBe(false);
  expect(await open(url, { protocols: protocols(TOKEN), headers: { origin: "null" } }).opened).toBe(false);
  expect((await fetch(url.replace("ws:", "http:"), authorized)).status).toBe(426);
});

test("a frame that is too large closes the connection, and so do bytes", async () => {
  const { url, inbox } = await serve({ maxMessageBytes: 2_000 });
  const large = open(url, authorized);
  await large.opened;
  large.say({ type: "message", id: "m1", content: "x".repeat(2_000) });
  expect(await large.closed).toBe(1009);
  const binary = open(url, authorized);
  await binary.opened;
  binary.socket.send(new Uint8Array([1, 2, 3]));
  expect(await binary.closed).toBe(1003);
  expect(inbox).toEqual([]);
});

test("a client that has left makes room for another", async () => {
  const { url } = await serve({ maxClients: 1 });
  const first = open(url, authorized);
  expect(await first.opened).toBe(true);
  expect(await open(url, authorized).opened).toBe(false);
  first.socket.close();
  await first.closed;
  let isIn = false;
  while (!isIn) isIn = await open(url, authorized).opened;
});
