import { describe, expect, test } from "bun:test";
import type { MemoryHit, MemorySearch } from "../../src/core/memory.ts";
import { memorySearch } from "../../src/tools/memory-search.ts";
import { createTestToolbox, testRun } from "../fakes/toolbox.ts";
import { createFixture } from "./fixture.ts";

const hits: readonly MemoryHit[] = [
  { source: "telegram:7", at: "2026-11-30T09:00:12.000Z", role: "user", excerpt: "the kettle is red" },
  { source: "memory/MEMORY.md", at: undefined, role: undefined, excerpt: "- has a kettle" },
];

/** The tool with a memory that answers `found`, called as the loop calls it. */
function open(found: readonly MemoryHit[] = hits) {
  const asked: { query: string; limit: number; turn: string | undefined }[] = [];
  const memory: MemorySearch = {
    async search(query, { limit, turn }) {
      asked.push({ query, limit, turn });
      return found;
    },
  };
  const { context } = createFixture({ ports: { memory } });
  const toolbox = createTestToolbox({
    tools: [memorySearch],
    workspace: context.workspace,
    ports: () => context.ports,
  });
  const { signal } = context;
  return {
    asked,
    turn: testRun({ signal }).turn,
    call: (args: object) =>
      toolbox.run({ id: "1", name: "memory_search", arguments: JSON.stringify(args) }, testRun({ signal })),
  };
}

describe("memorySearch", () => {
  test("shows numbered results with time, source and who said it", async () => {
    expect(await open().call({ query: "kettle" })).toEqual({
      ok: true,
      text: [
        "1. [2026-11-30 09:00 UTC] telegram:7 (user): the kettle is red",
        "2. memory/MEMORY.md: - has a kettle",
      ].join("\n"),
    });
  });

  test("asks for eight unless told otherwise, and leaves the turn that asks out", async () => {
    const { call, asked, turn } = open();
    await call({ query: "kettle" });
    await call({ query: "kettle", limit: 20 });
    expect(asked).toEqual([
      { query: "kettle", limit: 8, turn },
      { query: "kettle", limit: 20, turn },
    ]);
  });

  test.each([
    { q: "kettle", max_results: 3 },
    { text: "kettle", count: "3" },
    { keywords: "kettle", top_k: 3 },
  ])("takes what models write for it: %j", async (args) => {
    const { call, asked } = open();
    expect((await call(args)).ok).toBe(true);
    expect(asked).toMatchObject([{ query: "kettle", limit: 3 }]);
  });

  test("says what to try when there is nothing", async () => {
    const { ok, text } = await open([]).call({ query: "kettle\nof" });
    expect([ok, text]).toEqual([true, expect.stringMatching(/^Nothing found for: kettle of\nTry /)]);
  });

  test.each([
    { query: "" },
    { query: " \u200b" },
    { query: "x".repeat(501) },
    { query: "x", limit: 0 },
    { query: "x", limit: 21 },
    {},
  ])("asks nothing for %j", async (args) => {
    const { call, asked } = open();
    expect((await call(args)).ok).toBe(false);
    expect(asked).toEqual([]);
  });
});
