/** A subagent is answered by the model of the session that it works for. */

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createApp } from "../src/app.ts";
import { never } from "../src/lib/abort.ts";
import { createPlatform } from "../src/platform/index.ts";
import { startChatServer } from "./fakes/chat-server.ts";
import { tempFolder } from "./fakes/temp.ts";
import { createFakeTerminal } from "./fakes/terminal.ts";

interface Body {
  readonly model: string;
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly messages: readonly { readonly role: string }[];
}

test("a subagent uses the model that /model chose for its session, and the configured one elsewhere", async () => {
  const asked: { readonly who: string; readonly model: string }[] = [];
  const server = await startChatServer({
    script(given) {
      const body = given as unknown as Body;
      const names = (body.tools ?? []).map((tool) => tool.function.name);
      const isAgent = names.includes("spawn");
      asked.push({ who: isAgent ? "agent" : "subagent", model: body.model });
      if (!isAgent) return { text: ["It is done."] };
      return body.messages.at(-1)?.role === "tool"
        ? { text: ["Done."] }
        : { toolCalls: [{ name: "spawn", arguments: { task: "count", wait: true } }] };
    },
  });
  const home = tempFolder();
  writeFileSync(
    join(home, "config.json"),
    JSON.stringify({
      providers: { mine: { apiBase: server.url, apiKey: "key-of-the-fake" } },
      agents: { defaults: { provider: "mine", model: "small" } },
      modelPresets: { big: { model: "large", provider: "mine" } },
      tools: { exec: { sandbox: "none" } },
    }),
  );
  async function say(message: string, session: string): Promise<void> {
    const terminal = createFakeTerminal({});
    const env = { NANOBOT_HOME: home, PATH: process.env["PATH"] };
    const app = createApp({
      platform: { ...(await createPlatform()), env, terminal },
      version: "1",
      flags: { config: undefined, workspace: undefined, verbose: false },
    });
    await app.prepareWorkspace();
    const model = await app.chooseModel({});
    await app.converse({ channel: "cli", model, isModelWanted: false, config: { session, message } }, never);
    await app.flush();
    app.endThreads();
  }
  await say("/model big", "cli:chosen");
  for (const session of ["cli:chosen", "cli:other"]) await say("count", session);
  const turn = (model: string) => ["agent", "subagent", "agent"].map((who) => ({ who, model }));
  await server.close();
  expect(asked).toEqual([...turn("large"), ...turn("small")]);
});
