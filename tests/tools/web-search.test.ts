import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import type { SearchOutcome, WebSearch } from "../../src/core/web.ts";
import { EXTERNAL_CONTENT } from "../../src/lib/phrases.ts";
import { webSearch } from "../../src/tools/web-search.ts";
import { createFixture } from "./fixture.ts";

type Asked = { query: string } & Omit<Parameters<WebSearch["search"]>[1], "signal">;

/** The tool with an engine that gives `outcome`. */
function open(outcome: SearchOutcome) {
  const asked: Asked[] = [];
  const { context } = createFixture();
  const search: WebSearch = {
    defaultCount: 5,
    async search(query, { signal: _, ...options }) {
      asked.push({ query, ...options });
      return outcome;
    },
  };
  return {
    asked,
    call: (args: object) =>
      webSearch.execute(v.parse(webSearch.parameters, args), {
        ...context,
        ports: { ...context.ports, search },
      }),
  };
}

const hits = [
  { title: "Descaling", url: "https://kitchen.example.com/", snippet: "Use vinegar." },
  { title: "Hard water", url: "https://www.example.org/", snippet: "" },
];

describe("webSearch", () => {
  test("shows numbered hits behind a line that says where they come from", async () => {
    const { call } = open({ ok: true, engine: "Brave", hits });
    expect(await call({ query: "kettle descaling" })).toEqual({
      ok: true,
      external: true,
      text: `${EXTERNAL_CONTENT}
Results for: kettle descaling

1. Descaling
   https://kitchen.example.com/
   Use vinegar.

2. Hard water
   https://www.example.org/`,
    });
  });

  test("shows why another engine was asked", async () => {
    const note = "Brave has no key, so DuckDuckGo was asked instead";
    const { call } = open({ ok: true, engine: "DuckDuckGo", hits, note });
    expect((await call({ query: "x" })).text).toContain(`Results for: x\n(${note})\n\n1. `);
  });

  test("says that there is nothing", async () => {
    const { call } = open({ ok: true, engine: "Brave", hits: [] });
    expect(await call({ query: "zqxv" })).toMatchObject({
      ok: true,
      text: `${EXTERNAL_CONTENT}\nNo results for: zqxv`,
    });
  });

  test("fails with the reason", async () => {
    const { call } = open({ ok: false, reason: "Brave refuses the key" });
    expect(await call({ query: "x" })).toEqual({
      ok: false,
      text: "Cannot search the web: Brave refuses the key",
    });
  });

  test("asks for what the call says, else for the usual number of any age", async () => {
    const { call, asked } = open({ ok: true, engine: "Brave", hits });
    await call({ query: "  x y " });
    await call({ query: "x", count: 10, timeRange: "month" });
    expect(asked).toEqual([
      { query: "x y", count: 5 },
      { query: "x", count: 10, timeRange: "month" },
    ]);
  });

  test.each([
    [{}],
    [{ query: "" }],
    [{ query: "x".repeat(401) }],
    [{ query: "x", count: 0 }],
    [{ query: "x", count: 11 }],
    [{ query: "x", count: 1.5 }],
    [{ query: "x", timeRange: "decade" }],
    [{ query: "x", engine: "brave" }],
  ])("does not take %j", (args) => {
    expect(v.safeParse(webSearch.parameters, args).success).toBe(false);
  });

  test("does not search for nothing", async () => {
    const { call, asked } = open({ ok: true, engine: "Brave", hits });
    for (const query of [" \n ", "\u200b\u{e0041}\u202e"]) {
      expect(await call({ query })).toEqual({ ok: false, text: "Cannot search the web: the query is blank" });
    }
    expect(asked).toEqual([]);
  });

  test("repeats the query on one line without what could steer a terminal", async () => {
    const { call } = open({ ok: true, engine: "Brave", hits: [] });
    const { text } = await call({ query: "a\n\u001b[2Jb\u202ec" });
    expect(text).toEndWith("No results for: a bc");
  });

  test("is a lookup that changes nothing", () => {
    expect(webSearch).toMatchObject({ name: "web_search", readOnly: true, isLookup: true });
  });
});
