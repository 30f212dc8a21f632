/** Who may connect. */

import { expect, test } from "bun:test";
import * as v from "valibot";
import { config as schema } from "../../../src/channels/websocket/config.ts";
import type { HttpInfo, SocketHandler } from "../../../src/core/http.ts";
import { setUp, TOKEN } from "./fixture.ts";

const bearer = { authorization: `Bearer ${TOKEN}` };
const encoded = Buffer.from(TOKEN).toString("base64url");

test.each([
  ["nothing", {}],
  ["nothing, by way of a tunnel", { "cf-connecting-ip": "203.0.113.7", "x-forwarded-for": "127.0.0.1" }],
  ["another token", { authorization: `Bearer ${TOKEN}x` }],
  ["the beginning of the token", { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
  ["the token as a password", { authorization: `Basic ${btoa(`x:${TOKEN}`)}` }],
  ["the token in a cookie", { cookie: `token=${TOKEN}` }],
  ["the token as it is as a protocol", { "sec-websocket-protocol": `nanobot.token.${TOKEN}` }],
  ["an empty protocol of a token", { "sec-websocket-protocol": "nanobot.token." }],
  ["no token beside the protocol", { "sec-websocket-protocol": "nanobot.v1" }],
  ["the encoded token under another name", { "sec-websocket-protocol": encoded }],
])("fetch() refuses %s before there is a WebSocket", async (_, headers) => {
  const { knock } = await setUp({ allowedOrigins: ["*"] });
  const { response, client } = await knock(headers);
  expect(response.status).toBe(401);
  expect(await response.json()).toEqual({ error: "unauthorized" });
  expect(client).toBeUndefined();
});

test("fetch() takes no token from the address", async () => {
  const { knock } = await setUp();
  for (const name of ["token", "access_token"]) {
    expect((await knock({}, `/ws?${name}=${TOKEN}`)).response.status).toBe(401);
  }
});

test.each([
  [bearer, undefined],
  [{ authorization: `bearer ${TOKEN}` }, undefined],
  [{ "sec-websocket-protocol": `nanobot.token.${encoded}` }, `nanobot.token.${encoded}`],
  [{ "sec-websocket-protocol": `nanobot.v1, nanobot.token.${encoded}` }, "nanobot.v1"],
  [{ "sec-websocket-protocol": `other,nanobot.token.${encoded},nanobot.v1` }, "nanobot.v1"],
  [{ ...bearer, "sec-websocket-protocol": "nanobot.v1" }, "nanobot.v1"],
  [{ ...bearer, "sec-websocket-protocol": "other" }, undefined],
])("fetch() lets in whoever knows the token: %j", async (headers, protocol) => {
  const { knock } = await setUp({ maxMessageBytes: 2_048 });
  const made = await knock(headers);
  expect(made.client).toBeDefined();
  expect(made.protocol).toBe(protocol);
  expect(made.maxBytes).toBe(2_048);
});

test.each([
  "null",
  "",
  "https://chat.example.com:443",
  "https://chat.example.com:8443",
  "https://chat.example.com/",
  "https://chat.example.com.evil.test",
  "https://evil.test/https://chat.example.com",
  "https://evilchat.example.com",
  "https://x.chat.example.com",
  "https://Chat.Example.com",
  "HTTPS://chat.example.com",
  "http://chat.example.com",
  "https://chat.example.com, https://evil.test",
  "https://chat.example.com https://evil.test",
  "http://127.0.0.1",
  "http://localhost",
  "*",
])("fetch() refuses a page of the origin %j, whatever it knows", async (origin) => {
  const { knock } = await setUp({ allowedOrigins: ["https://chat.example.com"] });
  const { response, client } = await knock({ ...bearer, origin });
  expect(response.status).toBe(403);
  expect(client).toBeUndefined();
});

test("fetch() lets in a page that is named, and every one when the owner says so", async () => {
  const origins = [
    "https://chat.example.com",
    "http://localhost:3000",
    "http://[::1]:3000",
    "tauri://localhost",
  ];
  const named = await setUp({ allowedOrigins: origins });
  for (const origin of origins) {
    expect((await named.knock({ ...bearer, origin })).client).toBeDefined();
  }
  const open = await setUp({ allowedOrigins: ["*"] });
  for (const origin of ["null", "https://anywhere.test"]) {
    expect((await open.knock({ ...bearer, origin })).client).toBeDefined();
  }
  const closed = await setUp();
  expect((await closed.knock({ ...bearer, origin: "http://127.0.0.1" })).response.status).toBe(403);
});

test("fetch() asks for a WebSocket where none is asked for", async () => {
  const { knock } = await setUp();
  const { response } = await knock({ ...bearer, upgrade: "none" });
  expect(response.status).toBe(426);
  expect(response.headers.get("upgrade")).toBe("websocket");
});

test("fetch() takes as many clients as it may, and another when one has left", async () => {
  const { knock, connect } = await setUp({ maxClients: 2 });
  const first = await connect();
  await connect();
  const { response } = await knock(bearer);
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("30");
  expect((await knock()).response.status).toBe(401);
  first.leave();
  await connect();
});

test("open() closes those that were let in before the last place was taken", async () => {
  const { channel } = await setUp({ maxClients: 1 });
  const handlers: SocketHandler[] = [];
  const upgrade: HttpInfo["upgrade"] = (handler) => {
    handlers.push(handler);
    return new Response();
  };
  const request = () => new Request("http://h/ws", { headers: bearer });
  const info = { peer: "", client: "", upgrade };
  for (let times = 0; times < 2; times++) await channel.routes?.[0]?.fetch(request(), info);
  const codes: number[] = [];
  for (const handler of handlers) {
    handler.open({ send() {}, buffered: 0, close: (code) => void codes.push(code) });
  }
  expect(codes).toEqual([1013]);
});

test.each([
  ["a short token", { token: "fifteen letters" }],
  ["a token that is null", { token: null }],
  ["an origin with a path", { token: TOKEN, allowedOrigins: ["https://a.example/"] }],
  ["an origin without a scheme", { token: TOKEN, allowedOrigins: ["a.example"] }],
  ["an origin that is null", { token: TOKEN, allowedOrigins: ["null"] }],
  ["an origin in capitals", { token: TOKEN, allowedOrigins: ["https://A.example"] }],
  ["an origin that is a pattern", { token: TOKEN, allowedOrigins: ["https://*.example.com"] }],
  ["no clients", { token: TOKEN, maxClients: 0 }],
])("config refuses %s", (_, config) => {
  const { success } = v.safeParse(schema, config);
  expect(success).toBe(false);
});

test("create() refuses to go without a token, which the original has empty from the start", async () => {
  await expect(setUp({ token: "" })).rejects.toThrow("Set channels.websocket.token to 16 characters or more");
});

const variable = (name: string) => `\${${name}}`;

test.each(["", "short", "sixteen or more, but with spaces"])(
  "create() refuses the token %j of a variable",
  async (token) => {
    const made = setUp({ token: variable("TOKEN_OF_CLIENTS") }, { env: { TOKEN_OF_CLIENTS: token } });
    await expect(made).rejects.toThrow("channels.websocket.token");
  },
);

test("create() takes the token from the environment and keeps it to itself", async () => {
  const token = "token-of-the-environment";
  const { knock, secrets } = await setUp({ token: variable("T") }, { env: { T: token } });
  expect(secrets).toEqual([token]);
  expect((await knock({ authorization: `Bearer ${token}` })).client).toBeDefined();
  expect((await knock({ authorization: `Bearer ${variable("T")}` })).response.status).toBe(401);
});
