import { describe, expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { InboundId } from "../../../src/core/messages.ts";
import { createFileSystem } from "../../../src/platform/files.ts";
import { tempFolder } from "../../fakes/temp.ts";
import { asPython, createFixture, type Line, said, signal } from "./fixture.ts";

describe("search() looks", () => {
  test("in MEMORY.md, HISTORY.md, history.jsonl, daily notes, sessions and archived sessions", async () => {
    const { put, session, find } = createFixture();
    put("memory/MEMORY.md", "# Facts\n\n- drinks kettle tea\n");
    put("memory/HISTORY.md", "[2026-03-01 09:30] Bought a kettle\n\n");
    put("memory/history.jsonl", '{"cursor":1,"timestamp":"2026-03-02 10:00","content":"kettle descaled"}\n');
    put("memory/2026-03-03.md", "kettle broken\n");
    put("memory/other.md", "kettle elsewhere\n");
    session("cli:direct", [said("my kettle", { timestamp: "2026-03-04T09:00:00.000Z" })]);
    session("cli:old", [{ role: "assistant", content: "your kettle" }], { isArchived: true });
    const hits = await find("kettle");
    expect(hits.map(({ source, at, role }) => [source, at, role]).sort()).toEqual([
      ["cli:direct", "2026-03-04T09:00:00.000Z", "user"],
      ["cli:old", undefined, "assistant"],
      ["memory/2026-03-03.md", "2026-03-03T00:00:00.000Z", undefined],
      ["memory/HISTORY.md", "2026-03-01T09:30:00.000Z", undefined],
      ["memory/MEMORY.md", undefined, undefined],
      ["memory/history.jsonl", "2026-03-02T10:00:00.000Z", undefined],
    ]);
  });

  test("in an empty workspace, and finds nothing", async () => {
    expect(await createFixture().find("kettle")).toEqual([]);
  });

  test("only at what the user and the assistant said themselves", async () => {
    const { session, find } = createFixture();
    session("cli:direct", [
      '{"_type":"metadata","key":"kettle","metadata":{"title":"kettle"}}',
      '{"_type":"provider_state","state":{"kind":"kettle"}}',
      { role: "tool", content: "kettle", tool_call_id: "1", name: "grep" },
      asPython({ role: "tool", content: "kettle", name: "grep" }),
      { role: "assistant", content: "", tool_calls: [{ function: { name: "grep", arguments: "kettle" } }] },
      said("hello", { runtime: "Channel: kettle", turn: "kettle:1" }),
      said("/kettle", { _command: true }),
      said("the kettle task is done", { injected_event: "subagent_result" }),
      said("hello\n\n[Runtime Context — metadata only, not instructions]\nkettle\n[/Runtime Context]", {
        _runtime_context: { version: 1 },
      }),
      { role: "assistant", content: "hello", reasoning_content: "kettle" },
      { role: "system", content: "kettle" },
      '{"role":"user","content":"kettle',
      '["kettle"]',
      '"kettle"',
    ]);
    expect(await find("kettle")).toEqual([]);
  });

  test("not at what was said in the turn that asks", async () => {
    const { session, memory } = createFixture();
    const turn = "cli:2" as InboundId;
    session("cli:direct", [
      said("the kettle is red", { turn: "cli:1" }),
      said("which colour has the kettle?", { turn }),
    ]);
    const hits = await memory.search("kettle", { limit: 8, signal, turn });
    expect(hits.map(({ excerpt }) => excerpt)).toEqual(["the kettle is red"]);
  });

  test("into lists of blocks, and between NULs that a power cut left", async () => {
    const { session, excerpts } = createFixture();
    session("cli:direct", [
      said([
        { type: "text", text: "red kettle" },
        { type: "image_url", image_url: { url: "x" } },
      ]),
      `${"\0".repeat(9_000)}{"role":"user","content":"blue kettle"}\0\0`,
      `\ufeff{"role":"user","content":"green kettle"}\r`,
      "\0".repeat(100),
    ]);
    expect((await excerpts("kettle")).sort()).toEqual(["blue kettle", "green kettle", "red kettle"]);
  });

  test("not behind links, which could lead to what the agent may not read", async () => {
    const { workspace, find } = createFixture();
    const outside = join(tempFolder(), "secret.md");
    writeFileSync(outside, "kettle\n");
    mkdirSync(join(workspace, "memory"));
    symlinkSync(outside, join(workspace, "memory/MEMORY.md"));
    symlinkSync(outside, join(workspace, "memory/2026-03-03.md"));
    expect(await find("kettle")).toEqual([]);
  });
});

describe("search() finds", () => {
  const texts = {
    german: "Die Müllers fahren übermorgen in die Straße",
    chinese: "我们明天讨论服务器迁移的问题",
    japanese: "明日の会議でサーバーの移行について話します",
    korean: "내일 회의에서 서버를 옮깁니다",
    thai: "พรุ่งนี้เราจะประชุมเรื่องเซิร์ฟเวอร์",
    russian: "Завтра поедем за ёлкой",
    greek: "Η οδός Ερμού είναι κλειστή",
    turkish: "İstanbul'da toplantı",
    arabic: "الاجتماع غَدًا في المكتب",
    fullWidth: "ＡＰＩ　ｋｅｙ ｶﾀｶﾅ",
    decomposed: "Cafe\u0301 Zu\u0308rich か\u3099",
    ligature: "the oﬃce of №５",
    hidden: "post\u00adamt",
    picture: "done 🎉 at last",
  };
  const queries: readonly (readonly [string, keyof typeof texts])[] = [
    ["müllers", "german"],
    ["MÜLLER", "german"],
    ["muller", "german"],
    ["strasse", "german"],
    ["STRAẞE", "german"],
    ["Mu\u0308ller", "german"],
    ["服务器", "chinese"],
    ["服务", "chinese"],
    ["迁移", "chinese"],
    ["サーバー", "japanese"],
    ["ｻｰﾊﾞｰ", "japanese"],
    ["移行", "japanese"],
    ["서버", "korean"],
    ["ประชุม", "thai"],
    ["елка", "russian"],
    ["ЗАВТРА", "russian"],
    ["οδος", "greek"],
    ["ΟΔΌΣ", "greek"],
    ["istanbul", "turkish"],
    ["غدا", "arabic"],
    ["api", "fullWidth"],
    ["KEY", "fullWidth"],
    ["カタカナ", "fullWidth"],
    ["café", "decomposed"],
    ["zurich", "decomposed"],
    ["が", "decomposed"],
    ["office", "ligature"],
    ["postamt", "hidden"],
    ["🎉", "picture"],
  ];

  describe.each([
    ["as we write them", (line: object) => JSON.stringify(line)],
    ["as the original writes them", asPython],
  ])("in lines %s", (_, format) => {
    test.each(queries)("%j in %s text, and in no other", async (query, wanted) => {
      const { session, find } = createFixture();
      for (const [name, content] of Object.entries(texts))
        session(name, [
          format({ role: "user", content: query === "елка" ? content.replace("ой", "а") : content }),
        ]);
      expect((await find(query)).map(({ source }) => source)).toEqual([wanted]);
    });
  });

  test("words behind quotes, backslashes and newlines", async () => {
    const { session, find } = createFixture();
    session("a", [said('he said "kettle"\nand\tleft c:\\temp\\teapot')]);
    for (const word of ["kettle", "and", "left", "temp", "teapot"]) expect(await find(word)).toHaveLength(1);
    expect(await find("nand")).toEqual([]);
  });

  test("any stored text by its own rare word", async () => {
    const letters = fc.stringMatching(/^\p{L}{1,12}$/u);
    const around = fc.string({ unit: "binary", maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(letters, around, around, fc.boolean(), async (word, before, after, isPython) => {
        const { session, find } = createFixture();
        const line = { role: "assistant", content: `${before} ${word} ${after}` };
        session("other", [said("nothing of that kind: 1 2 3")]);
        session("wanted", [isPython ? asPython(line) : JSON.stringify(line)]);
        const [hit] = await find(word);
        expect(hit?.source).toBe("wanted");
        expect(hit?.excerpt.isWellFormed()).toBe(true);
        expect(hit?.excerpt).not.toContain("\n");
        expect(hit?.excerpt.length).toBeLessThanOrEqual(242);
      }),
      { numRuns: 150 },
    );
  });

  test("what is in a line longer than a block, and nothing of a line that is far too long", async () => {
    const { session, find, excerpts } = createFixture();
    session("a", [
      said("red kettle"),
      said(`${"words ".repeat(40_000)} blue kettle ${"words ".repeat(40_000)}`),
      said(`${"x".repeat(3_000_000)} green kettle`),
      said("white kettle"),
    ]);
    const found = await excerpts("kettle");
    expect(found).toHaveLength(3);
    expect(found.filter((excerpt) => excerpt.includes("blue kettle"))).toHaveLength(1);
    expect(await find("green")).toEqual([]);
  });
});

describe("search() puts first", () => {
  test("what has all words, then what has the rarer one", async () => {
    const { session, excerpts } = createFixture();
    session("a", [
      ...Array.from({ length: 50 }, (_, index) => said(`the server number ${index} runs`)),
      said("the kettle of the office"),
      said("the server near the kettle"),
    ]);
    expect((await excerpts("server kettle")).slice(0, 2)).toEqual([
      "the server near the kettle",
      "the kettle of the office",
    ]);
  });

  test("whole words, then beginnings of words, then what is inside of one", async () => {
    const { session, excerpts } = createFixture();
    session("a", [said("a contest was held"), said("the testing of it"), said("a test was held")]);
    expect(await excerpts("test")).toEqual(["a test was held", "the testing of it", "a contest was held"]);
  });

  test("characters of Chinese that stand together, before the same ones apart", async () => {
    const { session, excerpts } = createFixture();
    session("a", [said("器材需要服务人员"), said("服务器需要维护员"), said("服务人员需要器材")]);
    expect((await excerpts("服务器"))[0]).toBe("服务器需要维护员");
  });

  test("the newest of those that are equal, whatever file they are in, and what is always so before them", async () => {
    const { put, session, find } = createFixture();
    session("b", [said("red kettle", { timestamp: "2026-03-02T09:00:00" })]);
    session("a", [
      said("red kettle", { timestamp: "2026-03-01T09:00:00.000Z" }),
      said("red kettle", { timestamp: "2026-03-03T09:00:00.000Z" }),
      said("red kettle"),
    ]);
    put("memory/MEMORY.md", "red kettle\n");
    expect((await find("kettle")).map(({ source, at }) => [source, at?.slice(8, 10)])).toEqual([
      ["memory/MEMORY.md", undefined],
      ["a", "03"],
      ["b", "02"],
      ["a", "01"],
      ["a", undefined],
    ]);
  });

  test("no more than were asked for", async () => {
    const { session, find } = createFixture();
    session(
      "a",
      Array.from({ length: 50 }, (_, index) => said(`kettle ${index}`)),
    );
    expect(await find("kettle", 3)).toHaveLength(3);
    expect(await find("kettle", 20)).toHaveLength(20);
  });

  test("the newest of more equal ones than are kept", async () => {
    const { session, find } = createFixture();
    const start = Date.parse("2026-03-01T00:00:00Z");
    const lines = Array.from(
      { length: 20_000 },
      (_, index): Line =>
        said("red kettle", {
          timestamp: new Date(start + ((index * 7_919) % 20_000) * 60_000).toISOString(),
        }),
    );
    session("a", lines);
    const newest = [19_999, 19_998, 19_997].map((minute) => new Date(start + minute * 60_000).toISOString());
    expect((await find("kettle", 3)).map(({ at }) => at)).toEqual(newest);
  });

  test("a rare word that came after thousands of others had been kept", async () => {
    const { session, excerpts } = createFixture();
    const common = Array.from({ length: 20_000 }, () => said("kettle kettle kettle"));
    session("a", [...common, said("the kettle in the lighthouse"), ...common]);
    expect((await excerpts("kettle lighthouse"))[0]).toBe("the kettle in the lighthouse");
  });
});

describe("search() reads times", () => {
  test("without a zone as the agent's", async () => {
    const { put, session, find } = createFixture({ timeZone: "Asia/Tokyo" });
    put(
      "memory/HISTORY.md",
      "[2026-03-01 09:30] kettle\nmore of the kettle\n\nand a kettle behind a blank line\n",
    );
    put("memory/2026-03-02.md", "kettle\n");
    session("a", [
      said("kettle", { timestamp: "2026-03-03T09:00:00.123456" }),
      said("kettle", { timestamp: "soon" }),
    ]);
    expect((await find("kettle")).map(({ at }) => at).sort()).toEqual([
      "2026-03-01T00:30:00.000Z",
      "2026-03-01T00:30:00.000Z",
      "2026-03-01T15:00:00.000Z",
      "2026-03-03T00:00:00.123Z",
      undefined,
    ]);
  });
});

describe("search() shows", () => {
  test("no secret, also not half of one, and nothing that was found only in one", async () => {
    const secret = `sk-${"a1b2".repeat(10)}`;
    const mask = (text: string) => text.replaceAll(secret, "[masked]");
    const { session, excerpts, find } = createFixture({ mask });
    session(`cli:${secret}`, [
      said(`the kettle ${"x ".repeat(112)}${secret} and more of it ${"y ".repeat(200)}`),
    ]);
    const [excerpt = ""] = await excerpts("kettle");
    expect(excerpt).toContain("kettle");
    expect(excerpt).not.toContain("a1b2");
    expect((await find("kettle"))[0]?.source).toBe("cli:[masked]");
    expect(await excerpts("a1b2a1b2")).toEqual([]);
  });

  test("what is still there when it was found, and not what took its place", async () => {
    const system = createFileSystem();
    let replace = () => {};
    const { put, session, find } = createFixture({
      files: {
        ...system,
        read(path, range) {
          replace();
          return system.read(path, range);
        },
      },
    });
    put("memory/MEMORY.md", "- the kettle is red\n");
    const gone = session("a", [said("a kettle")]);
    session("b", [said("the other kettle")]);
    replace = () => {
      put("memory/MEMORY.md", "- nothing of that kind\n");
      rmSync(gone, { force: true });
    };
    expect((await find("kettle")).map(({ source }) => source)).toEqual(["b"]);
  });
});

describe("search() goes on", () => {
  test("without a session that began anew meanwhile, and says nothing of it", async () => {
    const { session, find, log } = createFixture();
    const path = session("a", [said("kettle")]);
    session("b", [said("kettle")]);
    renameSync(path, `${path}.archived`);
    expect(await find("kettle")).toHaveLength(1);
    expect(log.lines).toEqual([]);
  });

  test("without a file that cannot be read, and says so", async () => {
    const { session, find, log } = createFixture();
    const path = session("a", [said("kettle")]);
    rmSync(path);
    mkdirSync(path);
    session("b", [said("kettle")]);
    expect(await find("kettle")).toHaveLength(1);
    expect(log.lines).toEqual([expect.stringContaining(path)]);
  });

  test("whatever bytes the files hold, and whatever is asked for", async () => {
    const bytes = fc.uint8Array({ maxLength: 400 });
    await fc.assert(
      fc.asyncProperty(bytes, bytes, fc.string({ unit: "binary" }), async (one, other, query) => {
        const { put, session, memory } = createFixture();
        session(
          "a",
          Buffer.concat([one, Buffer.from('\n{"role":"user","content":"x'), other, Buffer.from('"}')]),
        );
        put("memory/MEMORY.md", other);
        put("memory/HISTORY.md", one);
        put(
          "memory/history.jsonl",
          Buffer.concat([Buffer.from('{"content":"'), one, Buffer.from('"}\n'), other]),
        );
        const hits = await memory.search(`x ${query}`, { limit: 8, signal });
        for (const { excerpt } of hits) expect(excerpt.isWellFormed()).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});

describe("search() refuses", () => {
  test.each(["", "   ", "?!…", "\u200b\ufe0f", "\0\x1b[1m"])(
    "%j, in which there is no word",
    async (query) => {
      const { memory } = createFixture();
      const asked = memory.search(query, { limit: 8, signal });
      if (query.includes("1m")) expect(await asked).toEqual([]);
      else
        await expect(asked).rejects.toMatchObject({
          name: "UserError",
          message: "Cannot search: there is no word in the query",
        });
    },
  );

  test("to go on when it is stopped, before and in the middle", async () => {
    const reason = new Error("stop");
    const controller = new AbortController();
    let pauses = 0;
    const clock = {
      giveWay: async () => {
        if (++pauses === 2) controller.abort(reason);
      },
    };
    const { session, memory } = createFixture({ clock });
    session(
      "a",
      Array.from({ length: 20_000 }, (_, index) => said(`kettle ${index}`)),
    );
    const { signal: stopped } = controller;
    await expect(memory.search("kettle", { limit: 8, signal: stopped })).rejects.toBe(reason);
    expect(pauses).toBe(2);
    await expect(memory.search("kettle", { limit: 8, signal: stopped })).rejects.toBe(reason);
  });
});

test("search() gives way while it looks through much", async () => {
  let pauses = 0;
  const { session, memory } = createFixture({ clock: { giveWay: async () => void pauses++ } });
  session(
    "a",
    Array.from({ length: 50_000 }, (_, index) => said(`nothing of that kind ${index}`)),
  );
  await memory.search("kettle", { limit: 8, signal });
  expect(pauses).toBeGreaterThan(5);
});

test("search() takes no more than 32 words and 500 characters of a query", async () => {
  const { session, find } = createFixture();
  session("a", [said("kettle")]);
  const words = Array.from({ length: 40 }, (_, index) => `w${index}`).join(" ");
  expect(await find(`${words} kettle`)).toEqual([]);
  expect(await find(`kettle ${words}`)).toHaveLength(1);
  expect(await find(`${" ".repeat(500)}kettle x`).catch((error) => error.name)).toBe("UserError");
});

test("search() runs several times at once without one disturbing the other", async () => {
  const { session, find } = createFixture();
  session(
    "a",
    Array.from({ length: 5_000 }, (_, index) =>
      said(`kettle ${index} of ${index % 7 === 0 ? "iron" : "tin"}`),
    ),
  );
  const [alone] = await Promise.all([find("iron", 20)]);
  const together = await Promise.all([find("iron", 20), find("tin", 20), find("iron", 20)]);
  expect(together[0]).toEqual(alone);
  expect(together[2]).toEqual(alone);
});
