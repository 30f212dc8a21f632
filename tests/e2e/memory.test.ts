/** Memory through the compiled program: a conversation that outgrows its window, and what is known of it then. */

import { afterEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startTelegramServer, type TelegramServer } from "../fakes/telegram-server.ts";
import { assistant, call, textOf } from "./assistant.ts";
import { eventually, killGateways, startGateway, telegramHome } from "./gateway.ts";
import { ask, endToEnd, type Home, modelAt, newHome, run, startModel } from "./harness.ts";

endToEnd();
afterEach(killGateways);

const shown = (server: TelegramServer, chat = 1) => server.sent(chat).map(({ text }) => text);
const memoryOf = (home: Home, name: string) => {
  const path = join(home.workspace, "memory", name);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
};

/** Writes down every `fact-N` that it is shown. */
function writeDown(text: string) {
  const facts = [...new Set(text.match(/fact-\d+/g) ?? [])];
  return call("save_memory", {
    history_entry: `They spoke of ${facts.join(", ")}.`,
    memory_update: `# Memory\n\n${facts
      .slice(0, 20)
      .map((fact) => `- ${fact}\n`)
      .join("")}`,
  });
}

const remembering = assistant({
  agent: ({ said }) => ({ text: [`I heard ${said}`] }),
  judges: { save_memory: ({ body }) => writeDown(textOf(body)) },
});

test("what was said before /new is remembered in the background, and found again", async () => {
  const server = await startTelegramServer({ retryMs: 50 });
  const model = await startModel(remembering);
  const home = telegramHome(server, model.url);
  await startGateway(home);
  server.say(1, "fact-1 is that the kettle is blue");
  await eventually(() => shown(server).length === 1);
  server.say(1, "/new");
  await eventually(() => memoryOf(home, "HISTORY.md").includes("They spoke of fact-1."));
  await eventually(() => memoryOf(home, "MEMORY.md").includes("- fact-1"));
  server.say(1, "/memory");
  await eventually(() => shown(server).length === 3);
  expect(shown(server)[2]).toContain("fact-1");
  server.say(1, "hello");
  await eventually(() => shown(server).length === 4);
  expect(textOf(model.requests.at(-1)?.body ?? {})).toContain("- fact-1");
  const found = await run(["memory", "search", "blue kettle"], { home });
  expect(found.stdout).toContain("telegram:1");
  const history = await run(["memory", "history"], { home });
  expect(history.stdout).toContain("They spoke of fact-1.");
  expect((await run(["memory", "show"], { home })).stdout).toContain("- fact-1");
});

test("a text of MEMORY.md that was replaced can be seen and put back", async () => {
  const model = await startModel(remembering);
  const home = newHome(modelAt(model.url));
  await ask("fact-1", home);
  await ask("/new", home);
  await eventually(() => memoryOf(home, "MEMORY.md").includes("- fact-1"));
  const kept = readdirSync(join(home.workspace, ".nanobot", "memory"));
  expect(kept).toHaveLength(1);
  const diff = await run(["memory", "diff"], { home });
  expect(diff.stdout).toContain("+- fact-1");
  const id = kept[0]?.replace(/\.md$/, "") ?? "";
  expect((await run(["memory", "restore", id], { home })).code).toBe(0);
  expect(memoryOf(home, "MEMORY.md")).not.toContain("fact-1");
});

test("a conversation that outgrows its window goes on, and what leaves the window is in the history", async () => {
  const model = await startModel(remembering);
  const home = newHome(modelAt(model.url, { contextWindowTokens: 16_000, maxTokens: 500 }));
  const filler = "The weather was discussed at some length. ".repeat(60);
  for (let turn = 0; turn < 14; turn++) {
    const { code } = await ask(`fact-${turn} ${filler}`, home);
    expect(code).toBe(0);
  }
  expect(memoryOf(home, "HISTORY.md")).toContain("fact-0");
  expect(memoryOf(home, "MEMORY.md")).toContain("- fact-0");
  expect(model.invalid).toEqual([]);
});
