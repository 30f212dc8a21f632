/** The program asks its owner: a model, a command under `ask`, a chat in a terminal, and what became of it. */

import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createApp } from "../src/app.ts";
import { createPlatform } from "../src/platform/index.ts";
import { type ChatServer, startChatServer } from "./fakes/chat-server.ts";
import { createFakeClock } from "./fakes/clock.ts";
import { tempFolder } from "./fakes/temp.ts";
import { createFakeTerminal } from "./fakes/terminal.ts";

const EXPIRES_MS = 600_000;
const PROMPT = "Run it? [y/N] ";

const servers = new Set<ChatServer>();
afterEach(async () => {
  await Promise.all([...servers].map((server) => server.close()));
  servers.clear();
});

/** A chat whose model calls for a command and then says `done`, up to the moment the owner can answer. */
async function openAtQuestion() {
  const toolCalls = [{ name: "exec", arguments: { command: "touch made" } }];
  const server = await startChatServer({ script: [{ toolCalls }, { text: "done" }] });
  servers.add(server);
  const home = tempFolder();
  const config = {
    providers: { mine: { apiBase: server.url, apiKey: "key-of-the-fake" } },
    agents: { defaults: { provider: "mine", model: "m" } },
    tools: { exec: { policy: "ask", sandbox: "none" } },
  };
  writeFileSync(join(home, "config.json"), JSON.stringify(config));
  let written = Promise.withResolvers<void>();
  const terminal = createFakeTerminal({
    tty: true,
    onWrite() {
      written.resolve();
      written = Promise.withResolvers();
    },
  });
  const clock = createFakeClock();
  const env = { NANOBOT_HOME: home, PATH: process.env["PATH"] };
  const app = createApp({
    platform: { ...(await createPlatform()), env, terminal, clock },
    version: "1",
    flags: { config: undefined, workspace: undefined, verbose: false },
  });
  await app.prepareWorkspace();
  const { workspace } = await app.paths();
  const ended = app.converse(
    {
      channel: "cli",
      model: await app.chooseModel({}),
      isModelWanted: false,
      config: { session: "cli:direct", color: false },
    },
    new AbortController().signal,
  );

  async function until(text: string): Promise<void> {
    while (!terminal.written.includes(text)) await written.promise;
  }

  await until("/exit");
  await terminal.press();
  await terminal.type("make it");
  await terminal.press("return");
  await until("↳ exec(");
  // The judgement of the command takes as long as it takes.
  while (!terminal.written.includes(PROMPT)) await clock.advance(1);

  return {
    terminal,
    clock,
    server,
    until,
    isMade: () => existsSync(join(workspace, "made")),
    async leave() {
      await until("done\n");
      await terminal.press("ctrl-d");
      await ended;
      await app.flush();
    },
    ended,
  };
}

describe("createApp() asks for a command", () => {
  test("and runs it after a yes", async () => {
    const chat = await openAtQuestion();
    expect(chat.terminal.written).toContain("│ touch made\n");
    expect(chat.isMade()).toBe(false);
    await chat.terminal.type("y");
    await chat.terminal.press("return");
    await chat.leave();
    expect(chat.isMade()).toBe(true);
    expect(chat.server.requests[1]?.text).toContain("Exit code: 0");
  });

  test("and does not run it after a no, which the model is told", async () => {
    const chat = await openAtQuestion();
    await chat.terminal.type("n");
    await chat.terminal.press("return");
    await chat.leave();
    expect(chat.isMade()).toBe(false);
    expect(chat.server.requests[1]?.text).toContain("The owner was asked and said no");
  });

  test("and does not run it when nobody answers in time, nor when a yes comes later", async () => {
    const chat = await openAtQuestion();
    await chat.clock.advance(EXPIRES_MS);
    await chat.until(`${PROMPT}(no answer)`);
    await chat.terminal.type("y");
    await chat.terminal.press("return");
    await chat.until("done\n");
    expect(chat.isMade()).toBe(false);
    expect(chat.server.requests[1]?.text).toContain("The owner was asked and did not answer in time");
    await chat.terminal.press("ctrl-c", "ctrl-c", "ctrl-c");
    await chat.ended;
  });

  test("and stops the turn on Ctrl-C", async () => {
    const chat = await openAtQuestion();
    await chat.terminal.press("ctrl-c");
    await chat.until("Stopped 1 task.");
    expect(chat.isMade()).toBe(false);
    expect(chat.server.requests).toHaveLength(1);
    await chat.terminal.press("ctrl-c", "ctrl-c");
    await chat.ended;
  });
});
