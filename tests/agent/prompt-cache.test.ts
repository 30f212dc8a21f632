/** What providers keep of a prompt: it goes on byte by byte, but where a part of the conversation went into memory. */

import { expect, test } from "bun:test";
import { createPromptSource } from "../../src/agent/prompt-source.ts";
import { runTurn } from "../../src/agent/turn.ts";
import { never } from "../../src/lib/abort.ts";
import { createWorkspaceFiles } from "../../src/lib/workspace-files.ts";
import { createConsolidation } from "../../src/memory/consolidation.ts";
import { createMemoryStore } from "../../src/memory/store.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createLocks } from "../../src/platform/locks.ts";
import { createPinnedFiles } from "../../src/platform/pinned-files.ts";
import { inboundMessage } from "../fakes/messages.ts";
import { textReply } from "../fakes/model.ts";
import { createFixture } from "./fixture.ts";

const TURNS = 150;

test("a conversation's prompts go on byte by byte, but once for each time that some of it went into memory", async () => {
  let remembered = 0;
  const prompts: { readonly lines: readonly string[]; readonly remembered: number }[] = [];

  function remember() {
    remembered++;
    const memory = {
      history_entry: `Part ${remembered}.`,
      memory_update: `- There were ${remembered} parts`,
    };
    return {
      ...textReply(""),
      toolCalls: [{ id: "c", name: "save_memory", arguments: JSON.stringify(memory) }],
    };
  }

  const fixture = createFixture({
    contextWindowTokens: 6_000,
    wrap: (model) => ({
      ...model,
      async chat({ tools, messages }) {
        if (tools.some(({ name }) => name === "save_memory")) return remember();
        prompts.push({ lines: messages.map((message) => JSON.stringify(message)), remembered });
        return textReply("I see.");
      },
    }),
  });
  const { deps, clock, log, workspace, sessions } = fixture;
  const files = createFileSystem();
  const locks = createLocks({ os: process.platform, folder: workspace });
  const consolidation = createConsolidation({
    memory: createMemoryStore({ files, locks, clock, log, workspace, timeZone: () => "UTC" }),
    sessions,
    model: async () => deps.models.standard,
    files,
    clock,
    locks,
    log,
    workspace,
    ratio: 0.5,
    idleMinutes: 15,
    idleCheckMs: 60_000,
    pause: { leftMs: () => 0, observe() {} },
    mask: (text) => text,
    isPatient: true,
  });
  const systemPrompt = createPromptSource({
    files: createWorkspaceFiles({
      system: files,
      pinned: createPinnedFiles({ os: process.platform }),
      workspace,
      home: undefined,
      restrict: true,
    }),
    assets: { list: async () => [], read: async () => "", bytes: async () => new Uint8Array() },
    log,
    facts: { os: "linux", arch: "x64", runtime: "Test", workspace },
    today: () => "2026-11-30",
  });

  for (let turn = 0; turn < TURNS; turn++) {
    await clock.advance(61_000);
    const message = inboundMessage({
      id: `cli:${turn}`,
      content: `Note ${turn}: ${"and so on ".repeat(40)}`,
    });
    expect(await runTurn(message, { ...deps, systemPrompt, consolidation }, never)).toBe("answered");
    await consolidation.settled(never);
  }
  expect(prompts).toHaveLength(TURNS);
  const breaks = prompts.filter(({ lines }, index) => {
    const before = prompts[index - 1]?.lines ?? [];
    return before.some((line, place) => line !== lines[place]);
  });
  expect(breaks.length).toBe(remembered);
  expect(new Set(breaks.map((prompt) => prompt.remembered)).size).toBe(remembered);
  expect(remembered).toBeGreaterThan(5);
  expect(remembered).toBeLessThan(TURNS / 8);
  await fixture.end();
});
