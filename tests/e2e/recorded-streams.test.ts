/** The program before each of the recorded streams, behind the vendor's own name. */

import { expect, test } from "bun:test";
import type { ChatVendor } from "../fakes/chat-vendors.ts";
import { recorded, textOf } from "../fixtures/recorded.ts";
import { ask, endToEnd, newHome, startModel } from "./harness.ts";

endToEnd();

/** The row of the vendor whose stream it is, and whose refusals the server shows. */
const vendors: Readonly<Record<string, readonly [row: string, rules?: ChatVendor]>> = {
  openai: ["openai", "openai"],
  "openai-tools": ["openai", "openai"],
  openrouter: ["openrouter"],
  deepseek: ["deepseek", "deepseek"],
  groq: ["groq", "groq"],
  ollama: ["ollama", "ollama"],
  vllm: ["vllm"],
  "vllm-forced": ["vllm"],
  llamacpp: ["llama_cpp"],
  lmstudio: ["lm_studio", "lmStudio"],
  gemini: ["gemini", "gemini"],
  mistral: ["mistral", "mistral"],
  "mistral-tools": ["mistral", "mistral"],
  moonshot: ["moonshot", "moonshot"],
  // Like DeepSeek it takes reasoning back.
  zhipu: ["zhipu", "deepseek"],
};

test("nanobot agent answers what every vendor streams, with its tools and without its reasoning", async () => {
  expect(Object.keys(vendors).sort()).toEqual(Object.keys(recorded).sort());
  await Promise.all(
    Object.entries(vendors).map(async ([name, [row, vendor]]) => {
      const server = await startModel(
        [{ raw: textOf(name) }, { text: "Done." }],
        vendor === undefined ? {} : { vendor },
      );
      const home = newHome({
        providers: { [row]: { apiBase: server.url, apiKey: "key-of-the-fake" } },
        agents: { defaults: { provider: row, model: "some-model", timezone: "UTC" } },
      });
      const { code, stdout, stderr } = await ask("Go on", home, "--json");
      const { content, calls = [] } = recorded[name] ?? { content: "" };
      const said = JSON.parse(stdout) as { content: string; tools: readonly { name: string }[] };
      expect({
        name,
        code,
        stderr,
        content: said.content.trim(),
        tools: said.tools.map((tool) => tool.name),
      }).toEqual({
        name,
        code: 0,
        stderr: "",
        content: calls.length > 0 ? "Done." : content,
        tools: calls.map((call) => call.name),
      });
      expect([name, server.invalid.map(({ invalid }) => invalid)]).toEqual([name, []]);
    }),
  );
});
