import { expect, test } from "bun:test";
import { openDoor } from "../../src/app/gateway/http.ts";
import type { Settings } from "../../src/app/settings.ts";
import type { HttpHandler, HttpInfo } from "../../src/core/http.ts";
import type { Platform } from "../../src/core/platform.ts";

const info: HttpInfo = { peer: "127.0.0.1", client: "127.0.0.1", upgrade: () => undefined };

async function setUp(options: { host?: string; port?: number } = {}) {
  const listening: { where: unknown; handler: HttpHandler }[] = [];
  const http = {
    async listen(where: unknown, handler: HttpHandler) {
      listening.push({ where, handler });
      return { port: 4321, stop: async () => {} };
    },
  };
  const settings = { gateway: async () => ({ host: "127.0.0.1", port: 18_790 }) };
  const door = await openDoor({
    platform: { http } as unknown as Platform,
    settings: settings as unknown as Settings,
    options,
  });
  const [first] = listening;
  if (first === undefined) throw new Error("Nobody listens");
  const ask = (path: string) => first.handler(new Request(`http://127.0.0.1${path}`), info);
  return { door, where: first.where, ask };
}

test("openDoor() says that the gateway lives, and that all else has to come again, as guarded as later", async () => {
  const { ask } = await setUp();
  const health = await ask("/health");
  expect([health.status, await health.json()]).toEqual([200, { status: "ok" }]);
  const early = await ask("/webhook/telegram");
  expect([early.status, early.headers.get("retry-after")]).toEqual([503, "5"]);
  for (const { headers } of [health, early]) {
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-store");
  }
});

test("answerBy() hands every request on", async () => {
  const { door, ask } = await setUp();
  door.answerBy(async () => new Response("later", { status: 202 }));
  expect((await ask("/health")).status).toBe(202);
});

test("openDoor() listens where it is told, and gives the address as it is written", async () => {
  const { door, where } = await setUp({ host: "::1", port: 0 });
  expect(where).toEqual({ host: "::1", port: 0 });
  expect(door.address).toBe("http://[::1]:4321");
});
