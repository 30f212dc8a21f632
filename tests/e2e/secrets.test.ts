/** No key of the machine reaches a command, the model, a session or the log. */

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { endToEnd, inTerminal, modelAt, newHome, run, startModel } from "./harness.ts";

endToEnd();

const SECRETS = {
  OPENAI_API_KEY: "sk-test-1234567890abcdef",
  TELEGRAM_BOT_TOKEN: "123456789:AAE-test-token-of-a-bot-4711",
  MY_PASSWORD: "correct horse battery staple",
};
const spellings = Object.values(SECRETS).flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString("base64").replace(/=+$/, "").slice(0, -1),
]);

function expectNoSecret(text: string): void {
  for (const secret of spellings) expect(text).not.toContain(secret);
}

function allFilesBelow(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

describe("nanobot with secrets in its environment", () => {
  test("keeps them from a command of the model, the session and the log", async () => {
    const commands = ["env", "cat /proc/$$/environ", "printenv OPENAI_API_KEY; env | base64"];
    const toolCalls = commands.map((command) => ({ name: "exec", arguments: { command } }));
    const server = await startModel([{ toolCalls }, { text: "done" }], { apiKey: SECRETS.OPENAI_API_KEY });
    const home = newHome({
      providers: { openai: { apiBase: server.url } },
      agents: { defaults: { provider: "openai", model: "some-model" } },
    });
    const args = ["agent", "-m", "show the environment", "--verbose"];
    const { code, stdout, stderr } = await run(args, { home, env: SECRETS });
    expect(code).toBe(0);
    // The key was there, for the one that it is for.
    expect(server.requests[1]?.headers["authorization"]).toBe(`Bearer ${SECRETS.OPENAI_API_KEY}`);
    expect(server.requests[1]?.text).toContain("PATH=");
    expectNoSecret(server.requests[1]?.text ?? "");
    expectNoSecret(stdout);
    expectNoSecret(stderr);
    expectNoSecret(allFilesBelow(home.folder));
  });

  test("keeps them from tools call", async () => {
    const args = ["tools", "call", "exec", '{"command":"env"}', "--verbose"];
    const { code, stdout, stderr } = await run(args, { home: newHome(), env: SECRETS });
    expect(stdout).toContain("PATH=");
    expectNoSecret(stdout);
    expectNoSecret(stderr);
    expect(code).toBe(0);
  });

  test("does not repeat a key that the model's server sends back", async () => {
    const message = `Incorrect API key provided: ${SECRETS.OPENAI_API_KEY}.`;
    const server = await startModel([{ status: 401, body: { error: { message, code: "invalid_api_key" } } }]);
    const home = newHome({
      providers: { openai: { apiBase: server.url } },
      agents: { defaults: { provider: "openai", model: "some-model" } },
    });
    const { code, stdout, stderr } = await run(["agent", "-m", "hello", "--verbose"], { home, env: SECRETS });
    expect(code).toBe(1);
    expectNoSecret(stdout);
    expectNoSecret(stderr);
    expectNoSecret(allFilesBelow(home.folder));
  });

  test("keeps them from what it shows, also when the model says one in pieces, and thinks it", async () => {
    const secret = SECRETS.OPENAI_API_KEY;
    const pieces = [`It is ${secret.slice(0, 7)}`, secret.slice(7, 12), `${secret.slice(12)}, and sk-t`];
    const toolCalls = [{ name: "exec", arguments: { command: `echo ${secret}` } }];
    const replies = [{ toolCalls }, { text: pieces, reasoning: pieces }];
    const server = await startModel([...replies, ...replies], { apiKey: secret });
    const home = newHome({
      providers: { openai: { apiBase: server.url } },
      agents: { defaults: { provider: "openai", model: "some-model" } },
    });
    const terminal = inTerminal(["agent", "-m", "say it", "--show-reasoning"], home, SECRETS);
    expect(await terminal.exited).toBe(0);
    expectNoSecret(terminal.shown);
    expect(terminal.shown.split("It is [masked], and sk-t")).toHaveLength(3);
    expect(terminal.shown).toContain("echo [masked]");
    const { stdout, stderr } = await run(["agent", "-m", "again", "--json"], { home, env: SECRETS });
    expectNoSecret(stdout + stderr);
    expect(JSON.parse(stdout)).toMatchObject({
      content: "It is [masked], and sk-t",
      tools: [{ name: "exec", arguments: '{"command":"echo [masked]"}' }],
    });
  });

  test("shows none in status", async () => {
    const server = await startModel([]);
    const home = newHome(modelAt(server.url));
    const { code, stdout, stderr } = await run(["status"], { home, env: SECRETS });
    expect(code).toBe(0);
    expectNoSecret(stdout + stderr);
    expect(stdout + stderr).not.toContain("key-of-the-fake");
  });

  test("lets no file tool read the configuration", async () => {
    const home = newHome(modelAt("http://127.0.0.1:9/v1"));
    for (const path of [home.configFile, "../config.json", "./../home/../config.json"]) {
      const { code, stdout } = await run(["tools", "call", "read_file", JSON.stringify({ path })], { home });
      expect(stdout).toStartWith("Error: ");
      expect(stdout).not.toContain("key-of-the-fake");
      expect(code).toBe(1);
    }
  });
});
