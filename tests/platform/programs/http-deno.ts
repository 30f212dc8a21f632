/** The HTTP of the program under Deno, end to end: `deno run -A tests/platform/programs/http-deno.ts FOLDER`. */

import assert from "node:assert/strict";
import { chmodSync, existsSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import type { SocketHandler } from "../../../src/core/http.ts";
import type { Log } from "../../../src/core/platform.ts";
import { createGatewayApp } from "../../../src/gateway/app.ts";
import { askGateway } from "../../../src/gateway/ask-gateway.ts";
import { createControl } from "../../../src/gateway/control.ts";
import { readBody } from "../../../src/lib/read-body.ts";
import { systemClock as clock } from "../../../src/platform/clock.ts";
import { runtime } from "../../../src/platform/deno.ts";
import { createHttpServers } from "../../../src/platform/http.ts";

const [folder = ""] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
chmodSync(folder, 0o700);
const http = createHttpServers({ runtime, clock });
const never = new AbortController().signal;
const log: Log = { debug() {}, info() {}, warn: console.warn, error: console.error };

const events: string[] = [];
const sockets: SocketHandler = {
  open: (socket) => socket.send("hello"),
  message: (socket, text) => socket.send(text.toUpperCase()),
  closed: () => events.push("closed"),
};
const app = await createGatewayApp({
  channels: [
    {
      channel: "hook",
      isOpen: () => true,
      routes: [
        {
          path: "",
          async fetch(request, { client }) {
            const body = await readBody(request, { maxBytes: 1000, clock, timeoutMs: 300 });
            if (!body.ok) return new Response(null, { status: body.status });
            return new Response(`${client} ${body.bytes.length}`);
          },
        },
        { path: "/fails", fetch: () => Promise.reject(new Error("on purpose")) },
        {
          path: "/ws",
          isAbsolute: true,
          fetch: async (_, info) =>
            info.upgrade(sockets, { protocol: "b", maxBytes: 10 }) ?? new Response(null, { status: 426 }),
        },
      ],
    },
  ],
  ready: async () => [],
  trustedProxies: ["127.0.0.1"],
  maxBodyBytes: 1000,
  clock,
  log,
});
const server = await http.listen({ host: "127.0.0.1", port: 0 }, app);
const url = `http://127.0.0.1:${server.port}`;

async function post(body: string | ReadableStream<Uint8Array>): Promise<string> {
  const headers = { "cf-connecting-ip": "203.0.113.9" };
  const response = await fetch(`${url}/webhook/hook`, { method: "POST", body, headers });
  return `${response.status} ${await response.text()}`;
}

const health = await fetch(`${url}/health`);
assert.deepEqual([health.status, await health.json()], [200, { status: "ok" }]);
assert.equal(health.headers.get("x-content-type-options"), "nosniff");
assert.equal(health.headers.get("server"), null);
assert.equal(await post("päper"), "200 203.0.113.9 6");
assert.equal(await post("x".repeat(1001)), "413 Content Too Large");
assert.equal(await post(new Blob(["x".repeat(1001)]).stream()), "413 ");
assert.equal(await post(new ReadableStream()), "408 ");
const failed = await fetch(`${url}/webhook/hook/fails`);
assert.deepEqual([failed.status, await failed.text()], [500, "Internal Server Error"]);
await assert.rejects(
  http.listen({ host: "127.0.0.1", port: server.port }, app),
  /something else listens there/,
);
await assert.rejects(http.listen({ host: "203.0.113.5", port: 80 }, app), /no such address/);
console.log("requests: well");

async function converse(message: string | Uint8Array<ArrayBuffer>): Promise<readonly unknown[]> {
  const client = new WebSocket(`${url.replace("http", "ws")}/ws`, ["a", "b"]);
  const heard: unknown[] = [];
  client.addEventListener("open", () => {
    heard.push(client.protocol);
    client.send(message);
  });
  return new Promise((resolve) => {
    client.addEventListener("message", ({ data }) => {
      heard.push(data);
      if (heard.length === 3) client.close();
    });
    client.addEventListener("close", ({ code }) => resolve([...heard, code]));
  });
}
assert.equal((await fetch(`${url}/ws`)).status, 426);
assert.deepEqual((await converse("grüß")).slice(0, 3), ["b", "hello", "GRÜSS"]);
assert.deepEqual((await converse("äöüäöü")).at(-1), 1009);
assert.deepEqual((await converse(new Uint8Array(3))).at(-1), 1003);
await wait(100);
assert.deepEqual(events, ["closed", "closed", "closed"]);
console.log("sockets: well");

for (const name of ["short", "l".repeat(150)]) {
  const socketFile = join(folder, name, "control.sock");
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(socketFile, "stale");
  const commands = { echo: async (args: object) => JSON.stringify(args) };
  const control = createControl({ http, socketFile, commands, clock, log });
  const controlServer = await control.start();
  assert.equal(lstatSync(socketFile).mode & 0o777, 0o600);
  const answer = await askGateway({ http, socketFile }, "echo", { a: "ä" }, never);
  assert.deepEqual(answer, { running: true, value: '{"a":"ä"}' });
  await assert.rejects(askGateway({ http, socketFile }, "other", {}, never), /does not know/);
  await assert.rejects(control.start(), /another process listens there/);
  await controlServer.stop(0);
  assert.equal(existsSync(socketFile), false);
  assert.deepEqual(await askGateway({ http, socketFile }, "echo", {}, never), { running: false });
}
console.log("control socket: well");

const open = new WebSocket(`${url.replace("http", "ws")}/ws`, "b");
await new Promise((resolve) => open.addEventListener("message", resolve));
const ended = new Promise<number>((resolve) => open.addEventListener("close", ({ code }) => resolve(code)));
await server.stop(200);
assert.equal(await ended, 1001);
await assert.rejects(fetch(`${url}/health`));
console.log("end: well");
