/** The webhook channel behind a real server. */

import { afterAll, expect, test } from "bun:test";
import type { HttpServer } from "../../../src/core/http.ts";
import { createGatewayApp } from "../../../src/gateway/app.ts";
import { runtime } from "../../../src/platform/bun.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createHttpServers } from "../../../src/platform/http.ts";
import { createFakeLog } from "../../fakes/log.ts";
import { SECRET, setUp } from "./fixture.ts";

const servers: HttpServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.stop(0))));

async function serve(hooks: Parameters<typeof setUp>[0]) {
  const setup = await setUp(hooks);
  const { routes = [] } = setup.channel;
  const app = await createGatewayApp({
    channels: [{ channel: "webhook", routes, isOpen: () => true }],
    ready: async () => [],
    trustedProxies: ["127.0.0.1"],
    maxBodyBytes: 10_000_000,
    clock: systemClock,
    log: createFakeLog(),
  });
  const http = createHttpServers({ runtime, clock: systemClock });
  const server = await http.listen({ host: "127.0.0.1", port: 0 }, app);
  servers.push(server);
  return { ...setup, url: `http://127.0.0.1:${server.port}/webhook/in` };
}

const json = (body: string, headers: Readonly<Record<string, string>> = {}) => ({
  method: "POST",
  body,
  headers: { "content-type": "application/json", authorization: `Bearer ${SECRET}`, ...headers },
});

test("an event is taken, and its answer is in the response of who waits", async () => {
  const { url, inbox, answer } = await serve({ ci: {}, other: {} });
  const waits = fetch(`${url}/ci`, json("{}", { prefer: "wait=60" }));
  while (inbox.length === 0) expect((await fetch(`${url}/none`, json("{}"))).status).toBe(401);
  expect((await fetch(`${url}/other`, json("{}"))).status).toBe(202);
  await answer(0, "done");
  const response = await waits;
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ status: "answered", content: "done" });
});

test("nobody is let in for where the request seems to come from", async () => {
  const { url, inbox } = await serve({ ci: {} });
  for (const name of ["cf-connecting-ip", "x-forwarded-for", "x-real-ip", "forwarded"]) {
    const headers = { authorization: "", [name]: "127.0.0.1" };
    expect((await fetch(`${url}/ci`, json("{}", headers))).status).toBe(401);
  }
  expect((await fetch(`${url}/ci`, { method: "POST", body: "{}" })).status).toBe(401);
  expect(inbox).toEqual([]);
});

test("bodies are bounded, and only POST is understood", async () => {
  const { url } = await serve({ ci: {} });
  expect((await fetch(`${url}/ci`, json(`"${"x".repeat(1024 * 1024)}"`))).status).toBe(413);
  expect((await fetch(`${url}/ci`)).status).toBe(405);
  expect((await fetch(`${url}/ci/`, json("{}"))).status).not.toBe(202);
});
