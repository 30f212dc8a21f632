import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createApp } from "../../src/app.ts";
import { command } from "../../src/cli/tools.ts";
import { createPlatform } from "../../src/platform/index.ts";
import { variable } from "../config/fixture.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createFakeTerminal } from "../fakes/terminal.ts";

/** `nanobot tools …` with this configuration, and of the environment only what a test gives. */
async function tools(
  run: "list" | "call",
  { settings, args = [] }: { settings: object; args?: readonly string[] },
  env: Record<string, string> = {},
) {
  const home = tempFolder();
  writeFileSync(join(home, "config.json"), JSON.stringify({ tools: settings }));
  const terminal = createFakeTerminal({ tty: false });
  const platform = { ...(await createPlatform()), env: { ...env, NANOBOT_HOME: home }, terminal };
  const flags = { config: undefined, workspace: undefined, verbose: false };
  const app = createApp({ platform, flags, version: "1" });
  const code = await command.subcommands?.[run]?.run?.({
    app,
    positionals: args,
    options: {},
    signal: new AbortController().signal,
  });
  await app.flush();
  return { code, stdout: terminal.stdout };
}

/** Where nobody listens: the port of a service that went out of use. */
const NOBODY = "http://127.0.0.1:9";
const searxng = { search: { provider: "searxng", baseUrl: NOBODY } };
const args = ["web_search", '{"query": "kettles"}'];

describe("nanobot tools call web_search", () => {
  test("says what to look at when the engine cannot be reached", async () => {
    const { code, stdout } = await tools("call", {
      settings: { web: searxng, ssrfWhitelist: ["127.0.0.1"] },
      args,
    });
    expect(stdout).toStartWith(
      "Error: Cannot search the web: SearXNG could not be asked: 127.0.0.1:9 refuses connections; check the network, and tools.web.proxy if there is one\n",
    );
    expect(code).toBe(1);
  });

  test("says which setting allows a private address", async () => {
    const { code, stdout } = await tools("call", { settings: { web: searxng }, args });
    expect(stdout).toStartWith(
      `Error: Cannot search the web: SearXNG could not be asked: ${NOBODY} may not be requested`,
    );
    expect(stdout).toContain("tools.ssrfWhitelist can allow it");
    expect(code).toBe(1);
  });

  test("takes engine and address from variables", async () => {
    const web = { search: { provider: variable("ENGINE"), baseUrl: variable("ADDRESS") } };
    const settings = { web };
    const { stdout } = await tools("call", { settings, args }, { ENGINE: "searxng", ADDRESS: NOBODY });
    expect(stdout).toContain(`SearXNG could not be asked: ${NOBODY} may not be requested`);
  });
});

test("nanobot tools list has web_search, unless tools.web.enable is false", async () => {
  expect((await tools("list", { settings: {} })).stdout).toContain("\nweb_search ");
  expect((await tools("list", { settings: { web: { enable: false } } })).stdout).not.toContain("web_search");
});
