/** Follows CONTRIBUTING.md to the letter in a copy of the sources, so that what it says keeps working. */

import { beforeAll, expect, test } from "bun:test";
import { appendFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { tempFolder } from "../fakes/temp.ts";

const root = resolve(import.meta.dir, "../..");
const guide = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");

/** The code block that follows the sentence naming `path`. */
function blockFor(path: string): string {
  const block = guide.slice(guide.indexOf(`\`${path}\``)).match(/```ts\n([\s\S]*?)```/)?.[1];
  if (block === undefined) throw new Error(`CONTRIBUTING.md has no code for ${path}`);
  return block;
}

/** The one line that is added to a registry. */
function lineFor(path: string): string {
  const line = blockFor(path);
  expect(line.trimEnd().split("\n")).toHaveLength(1);
  return line;
}

const copy = tempFolder();
const home = join(copy, "home");

function run(...words: string[]) {
  return Bun.spawnSync([process.execPath, join(copy, "src/main.ts"), ...words], {
    env: { ...process.env, NANOBOT_HOME: home },
  });
}

beforeAll(() => {
  for (const name of ["src", "skills", "workspace", "package.json", "tsconfig.json"]) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  mkdirSync(home);
  writeFileSync(join(copy, "src/tools/word-count.ts"), blockFor("src/tools/word-count.ts"));
  appendFileSync(join(copy, "src/tools/registry.ts"), lineFor("src/tools/registry.ts"));
  writeFileSync(join(copy, "src/channels/doorbell.ts"), blockFor("src/channels/doorbell.ts"));
  const channels = join(copy, "src/channels/registry.ts");
  const end = "} as const;";
  const lines = readFileSync(channels, "utf8");
  writeFileSync(channels, lines.replace(end, lineFor("src/channels/registry.ts") + end));
});

test("CONTRIBUTING.md shows code without an error of types", () => {
  const tsc = Bun.spawnSync([process.execPath, "x", "--bun", "tsc", "--noEmit", "-p", copy], { cwd: root });
  expect(tsc.stdout.toString()).toBe("");
}, 60_000);

test("CONTRIBUTING.md adds a tool with one file and one line", () => {
  const [, name = "", args = ""] = /scripts\/nanobot tools call (\w+) '([^']+)'/.exec(guide) ?? [];
  const called = run("tools", "call", name, args);
  expect(called.stdout.toString()).toMatch(/^\d+ words\n$/);
  expect(called.exitCode).toBe(0);
  expect(run("tools", "list").stdout.toString()).toContain("word_count");
});

test("CONTRIBUTING.md adds a channel with one file and one line", async () => {
  expect(JSON.parse(run("config", "schema").stdout.toString())).toMatchObject({
    properties: { channels: { properties: { doorbell: { required: ["secret", "answerUrl"] } } } },
  });

  const answer = Promise.withResolvers<string>();
  const door = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      answer.resolve(await request.text());
      return new Response();
    },
  });
  const secret = "a-secret-of-the-door";
  const doorbell = { enabled: true, secret, answerUrl: `http://127.0.0.1:${door.port}` };
  writeFileSync(join(home, "config.json"), JSON.stringify({ channels: { doorbell } }));
  const gateway = Bun.spawn(
    [process.execPath, join(copy, "src/main.ts"), "gateway", "--offline", "--port", "0"],
    {
      env: { ...process.env, NANOBOT_HOME: home },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  try {
    let said = "";
    let address: string | undefined;
    for await (const chunk of gateway.stderr) {
      said += new TextDecoder().decode(chunk);
      address = /listens on (http:\S+?),/.exec(said)?.[1];
      if (address !== undefined) break;
    }
    const ring = (headers: Record<string, string>) =>
      fetch(`${address}/webhook/doorbell`, { method: "POST", body: "hello", headers });
    expect((await ring({ "x-secret": "a guess" })).status).toBe(401);
    expect((await ring({ "x-secret": secret, "idempotency-key": "1" })).status).toBe(202);
    expect((await ring({ "x-secret": secret, "idempotency-key": "1" })).status).toBe(200);
    expect(await answer.promise).toContain("nanobot");
  } finally {
    gateway.kill("SIGKILL");
    await gateway.exited;
    await door.stop(true);
  }
}, 60_000);
