import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { help } from "../../src/cli/help.ts";
import { command } from "../../src/cli/memory.ts";
import { UserError } from "../../src/core/errors.ts";
import type { HistoryEntry, MemoryHit, MemoryStore } from "../../src/core/memory.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp, runCommand } from "./fixture.ts";

const first = "20261130t090000000z";
const second = "20261201t090000000z";

/** The command line of a memory that says `facts`, with what it said before. */
function setUp({
  facts = "",
  versions = {},
  history = [],
  hits = [],
  timeZone = "UTC",
  mask = (text: string) => text,
}: {
  facts?: string;
  versions?: Record<string, string>;
  history?: readonly HistoryEntry[];
  hits?: readonly MemoryHit[];
  timeZone?: string;
  mask?: (text: string) => string;
} = {}) {
  const home = tempFolder();
  const app = createTestApp({ home });
  const state = { facts, versions: new Map(Object.entries(versions)), isChanging: false };
  const asked: { query?: string; limit: number }[] = [];
  const timeOf = (id: string) =>
    id.replace(/^(\d{4})(\d\d)(\d\d)t(\d\d)(\d\d)(\d\d)(\d{3})z$/, "$1-$2-$3T$4:$5:$6.$7Z");
  const store: MemoryStore = {
    timeZone,
    keepVersion: async () => {},
    facts: async () => state.facts,
    async replaceFacts(text, { seen }) {
      if (state.isChanging || seen !== state.facts) return false;
      if (seen !== "") state.versions.set("20261202t090000000z", seen);
      state.facts = text;
      return true;
    },
    appendHistory: async () => {},
    async history({ limit }) {
      asked.push({ limit });
      return history.slice(-limit);
    },
    versions: async () =>
      [...state.versions]
        .map(([id, text]) => ({ id, replacedAt: timeOf(id), bytes: Buffer.byteLength(text) }))
        .sort((a, b) => (a.id < b.id ? 1 : -1)),
    version: async (id) => state.versions.get(id),
  };

  const run = (...args: string[]) =>
    runCommand(
      app,
      {
        mask,
        memory: async () => store,
        memorySearch: async () => ({
          async search(query, { limit }) {
            asked.push({ query, limit });
            if (query.trim() === "") throw new UserError("Cannot search: there is no word in the query");
            return hits.slice(0, limit);
          },
        }),
      },
      ["memory", ...args],
    );
  return { run, state, asked, path: join(home, "workspace", "memory", "MEMORY.md") };
}

const hostile = "a\u009b2J\u001b[1m\u202eb";

describe("nanobot memory show", () => {
  test("prints the facts, and says beside them where they are", async () => {
    const { run, path } = setUp({ facts: "# Facts\n\n- drinks tea" });
    expect(await run("show")).toEqual({
      code: 0,
      out: "# Facts\n\n- drinks tea\n",
      err: `The file is ${path}\n`,
    });
    expect(JSON.parse((await run("show", "--json")).out)).toEqual({ path, text: "# Facts\n\n- drinks tea" });
  });

  test("says that there are none", async () => {
    const { run, path } = setUp();
    expect(await run("show")).toEqual({
      code: 0,
      out: "",
      err: `Nothing is remembered yet.\nThe file is ${path}\n`,
    });
  });
});

describe("nanobot memory history", () => {
  const history = Array.from({ length: 30 }, (_, index) => ({
    at: index === 29 ? undefined : "2026-11-30 09:00",
    text: `entry ${index}`,
  }));

  test("prints the last twenty, or as many as are asked for", async () => {
    const { run } = setUp({ history });
    const lines = (await run("history")).out.trimEnd().split("\n");
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([20, "[2026-11-30 09:00] entry 10", "entry 29"]);
    expect((await run("history", "-n", "2")).out).toBe("[2026-11-30 09:00] entry 28\nentry 29\n");
    expect(JSON.parse((await run("history", "-n", "2", "--json")).out)).toEqual([
      { at: "2026-11-30 09:00", text: "entry 28" },
      { text: "entry 29" },
    ]);
  });

  test("says that there is none", async () => {
    expect(await setUp().run("history")).toEqual({ code: 0, out: "", err: "Nothing is recorded yet.\n" });
    expect((await setUp().run("history", "--json")).out).toBe("[]\n");
  });

  test.each(["0", "-1", "many", "1.5", "10001", ""])("does not take %j for a number", async (number) => {
    const { run, asked } = setUp({ history });
    await expect(run("history", "-n", number)).rejects.toMatchObject({
      name: "UserError",
      exitCode: 2,
      message: `Cannot take ${JSON.stringify(number)} for --number`,
      hint: expect.stringContaining("1 to 10000"),
    });
    expect(asked).toEqual([]);
  });
});

describe("nanobot memory versions", () => {
  test("lists them, newest first", async () => {
    const { run } = setUp({ versions: { [first]: "old", [second]: "newer" } });
    expect((await run("versions")).out).toBe(
      `${second}  replaced 2026-12-01 09:00 (UTC)  5 bytes\n${first}  replaced 2026-11-30 09:00 (UTC)  3 bytes\n`,
    );
    expect(JSON.parse((await run("versions", "--json")).out)).toMatchObject([{ id: second }, { id: first }]);
  });

  test("says that there is none", async () => {
    expect(await setUp().run("versions")).toEqual({
      code: 0,
      out: "",
      err: "memory/MEMORY.md was never replaced.\n",
    });
  });
});

describe("nanobot memory diff", () => {
  const versions = { [first]: "- milk\n- tea\n", [second]: "- tea\n- bread\n" };

  test("prints what changed since the newest version, or the one named", async () => {
    const { run } = setUp({ facts: "- tea\n- bread\n- oats\n", versions });
    expect((await run("diff")).out).toBe(
      [
        `--- memory/MEMORY.md (${second}, replaced 2026-12-01 09:00 (UTC))`,
        "+++ memory/MEMORY.md",
        "@@ -1,2 +1,3 @@",
        " - tea",
        " - bread",
        "+- oats",
        "",
      ].join("\n"),
    );
    expect((await run("diff", first)).out).toContain("\n-- milk\n - tea\n+- bread\n+- oats\n");
  });

  test("says that nothing did", async () => {
    const { run } = setUp({ facts: versions[second], versions });
    expect(await run("diff")).toEqual({
      code: 0,
      out: "",
      err: `memory/MEMORY.md says the same as ${second}.\n`,
    });
  });

  test("refuses an id that no version has, and says which was meant", async () => {
    const { run } = setUp({ versions });
    for (const name of ["diff", "restore"]) {
      await expect(run(name, first.slice(0, -2))).rejects.toMatchObject({
        name: "UserError",
        exitCode: 2,
        message: `There is no version "${first.slice(0, -2)}" of memory/MEMORY.md`,
        hint: `Did you mean "${first}"? There are: ${second}, ${first}`,
      });
      await expect(run(name, "../../config.json")).rejects.toMatchObject({
        exitCode: 2,
        hint: `There are: ${second}, ${first}`,
      });
    }
  });

  test("says that there is no version at all, and refuses an id all the same", async () => {
    const hint = "None is kept yet; one is each time that the file is replaced";
    await expect(setUp().run("diff")).rejects.toMatchObject({
      message: "There is no other version of memory/MEMORY.md",
      hint,
      exitCode: 1,
    });
    for (const name of ["diff", "restore"])
      await expect(setUp().run(name, first)).rejects.toMatchObject({
        message: `There is no version "${first}" of memory/MEMORY.md`,
        hint,
        exitCode: 2,
      });
  });
});

describe("nanobot memory restore", () => {
  test("puts a version in the place of the facts, and keeps those", async () => {
    const { run, state } = setUp({ facts: "now\n", versions: { [first]: "before\n" } });
    expect(await run("restore", first)).toEqual({
      code: 0,
      out: `Restored memory/MEMORY.md from ${first}; what was there is kept as 20261202t090000000z\n`,
      err: "",
    });
    expect(state.facts).toBe("before\n");
    expect(state.versions.get("20261202t090000000z")).toBe("now\n");
  });

  test("speaks of no kept version when nothing was there", async () => {
    const { run } = setUp({ versions: { [first]: "before\n" } });
    expect((await run("restore", first)).out).toBe(`Restored memory/MEMORY.md from ${first}\n`);
  });

  test("changes nothing when the facts say that already", async () => {
    const { run, state } = setUp({ facts: "same\n", versions: { [first]: "same\n" } });
    expect((await run("restore", first)).out).toBe("memory/MEMORY.md says that already\n");
    expect(state.versions.size).toBe(1);
  });

  test("changes nothing, and says so, when the facts changed meanwhile", async () => {
    const { run, state } = setUp({ facts: "now\n", versions: { [first]: "before\n" } });
    state.isChanging = true;
    await expect(run("restore", first)).rejects.toMatchObject({
      name: "UserError",
      exitCode: 1,
      message: expect.stringContaining("changed meanwhile"),
    });
    expect(state.facts).toBe("now\n");
  });

  test("is for the owner, and asks for an id", async () => {
    expect(command.subcommands?.["restore"]?.ownerOnly).toBe(true);
    await expect(setUp().run("restore")).rejects.toMatchObject({ message: "Missing ID" });
  });
});

describe("nanobot memory search", () => {
  const hits: readonly MemoryHit[] = [
    { source: "telegram:7", at: "2026-11-30T09:00:12.000Z", role: "user", excerpt: "the kettle is red" },
    { source: "memory/MEMORY.md", at: undefined, role: undefined, excerpt: "- has a kettle" },
  ];

  test("prints the places that were found", async () => {
    const { run, asked } = setUp({ hits });
    expect((await run("search", "red kettle")).out).toBe(
      [
        "telegram:7  user  2026-11-30 09:00 (UTC)",
        "  the kettle is red",
        "memory/MEMORY.md",
        "  - has a kettle",
        "",
      ].join("\n"),
    );
    expect(asked).toEqual([{ query: "red kettle", limit: 8 }]);
  });

  test("takes all words that stand there, with options before, between and after them", async () => {
    const { run, asked } = setUp({ hits });
    await run("search", "blue", "kettle");
    await run("search", "--json", "blue", "--limit", "3", "kettle", "tea");
    await run("search", "--", "-blue", "kettle");
    expect(asked.map(({ query }) => query)).toEqual(["blue kettle", "blue kettle tea", "-blue kettle"]);
  });

  test("prints JSON, and no more than are asked for", async () => {
    const { run } = setUp({ hits });
    expect(JSON.parse((await run("search", "kettle", "--limit", "1", "--json")).out)).toEqual([hits[0]]);
  });

  test("says that nothing was found", async () => {
    expect(await setUp().run("search", "kettle")).toEqual({ code: 0, out: "", err: "Nothing was found.\n" });
    expect((await setUp().run("search", "kettle", "--json")).out).toBe("[]\n");
  });

  test("refuses a query without a word, none at all, and a limit that is none", async () => {
    const { run } = setUp();
    await expect(run("search", " ")).rejects.toMatchObject({ name: "UserError" });
    await expect(run("search")).rejects.toMatchObject({ message: "Missing TEXT" });
    await expect(run("search", "kettle", "--limit", "101")).rejects.toMatchObject({
      message: 'Cannot take "101" for --limit',
    });
  });
});

test("nanobot memory shows people times as the agent's clock does, and programs UTC", async () => {
  const at = "2026-11-30T23:30:45.000Z";
  const { run } = setUp({
    timeZone: "Europe/Vienna",
    versions: { [second]: "old" },
    hits: [{ source: "telegram:7", at, role: "user", excerpt: "tea" }],
  });
  expect((await run("versions")).out).toContain("replaced 2026-12-01 10:00 (Europe/Vienna)");
  expect((await run("diff")).out).toContain("replaced 2026-12-01 10:00 (Europe/Vienna))");
  expect((await run("search", "tea")).out).toContain("user  2026-12-01 00:30 (Europe/Vienna)\n");
  expect(JSON.parse((await run("versions", "--json")).out)[0].replacedAt).toBe("2026-12-01T09:00:00.000Z");
  expect(JSON.parse((await run("search", "tea", "--json")).out)[0].at).toBe(at);
});

test("nanobot memory prints no secret, and nothing that steers a terminal", async () => {
  const text = `hunter2 ${hostile} hun\u0007ter2`;
  const { run } = setUp({
    mask: (line) => line.replaceAll("hunter2", "[masked]"),
    facts: text,
    versions: { [first]: `${text}\nmore` },
    history: [{ at: undefined, text }],
    hits: [{ source: text, at: undefined, role: undefined, excerpt: text }],
  });
  for (const args of [["show"], ["history"], ["diff"], ["search", "x"]]) {
    for (const flags of args[0] === "diff" ? [[]] : [[], ["--json"]]) {
      const { out } = await run(...args, ...flags);
      expect(out).toContain("[masked]");
      expect(out).not.toContain("hunter2");
      expect(out).not.toMatch(/[\u009b\u001b\u202e\u0007]/);
    }
  }
});

test("nanobot memory --help lists what there is", async () => {
  const text = await help(["memory"], command);
  for (const line of ["show", "history", "versions", "diff [ID]", "restore ID", "search TEXT..."])
    expect(text).toContain(`\n  ${line} `);
  expect(await help(["memory", "history"], command.subcommands?.["history"])).toContain("-n, --number N");
});
