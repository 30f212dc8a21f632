/** Loaded before every test: folders of its own, no network beyond loopback, and no failure unseen. */

import { afterAll } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const own = mkdtempSync(join(tmpdir(), "nanobot-tests-"));
const home = join(own, "home");
const temporary = join(own, "tmp");
for (const folder of [home, temporary]) mkdirSync(folder);
process.env["HOME"] = home;
process.env["NANOBOT_HOME"] = join(home, ".nanobot");
process.env["TMPDIR"] = temporary;

// What a developer has set must not decide how a test ends.
for (const name of Object.keys(process.env)) {
  if (/(KEY|TOKEN|SECRET|PASSWORD)$|^NANOBOT_.*__|_PROXY$/i.test(name)) delete process.env[name];
}

const realFetch = globalThis.fetch;
const loopback = new Set(["127.0.0.1", "localhost", "[::1]"]);
globalThis.fetch = Object.assign(
  (input: string | URL | Request, init?: RequestInit) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (!loopback.has(url.hostname)) throw new Error(`A test asked for ${url.origin}`);
    return realFetch(input, init);
  },
  { preconnect: realFetch.preconnect },
);

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => {
  unhandled.push(reason);
});

afterAll(() => {
  rmSync(own, { recursive: true, force: true });
  if (unhandled.length > 0) throw new AggregateError(unhandled, "A test left a rejection unhandled");
});
