import { expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { createMemoryStore } from "../../src/memory/store.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createLocks } from "../../src/platform/locks.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";

const AT = Date.parse("2026-11-30T23:30:00Z");

function setUp({ workspace = tempFolder(), timeZone = "Europe/Vienna", files = createFileSystem() } = {}) {
  const clock = createFakeClock(AT);
  const store = createMemoryStore({
    files,
    locks: createLocks({ os: process.platform, folder: workspace }),
    clock,
    log: createFakeLog(),
    workspace,
    timeZone: () => timeZone,
  });
  const folder = join(workspace, "memory");
  mkdirSync(folder, { recursive: true });
  const paths = { facts: join(folder, "MEMORY.md"), history: join(folder, "HISTORY.md") };
  return { store, clock, workspace, folder, ...paths };
}

const textOf = (path: string) => readFileSync(path, "utf8");
const versionsIn = (workspace: string) => readdirSync(join(workspace, ".nanobot", "memory"));

test("facts() is what MEMORY.md says, and empty where there is none", async () => {
  const { store, facts } = setUp();
  expect(await store.facts()).toBe("");
  writeFileSync(facts, "- Likes tea\r\n");
  expect(await store.facts()).toBe("- Likes tea\r\n");
});

test("replaceFacts() writes a new text and keeps the old one as a version", async () => {
  const { store, workspace, facts } = setUp();
  expect(await store.replaceFacts("- One\n", { seen: "" })).toBe(true);
  expect(await store.versions()).toEqual([]);
  expect(statSync(facts).mode & 0o777).toBe(0o600);
  expect(await store.replaceFacts("- Two\n", { seen: "- One\n" })).toBe(true);
  expect(textOf(facts)).toBe("- Two\n");
  const [version] = await store.versions();
  expect(version).toEqual({ id: "20261130t233000000z", replacedAt: "2026-11-30T23:30:00.000Z", bytes: 6 });
  expect(await store.version(version?.id ?? "")).toBe("- One\n");
  expect(statSync(join(workspace, ".nanobot", "memory")).mode & 0o777).toBe(0o700);
});

test("replaceFacts() changes nothing when the file is not what was seen", async () => {
  const { store, workspace, facts } = setUp();
  writeFileSync(facts, "- Edited by hand\n");
  for (const seen of ["", "- Edited by hand", "- edited by hand\n"])
    expect(await store.replaceFacts("- New\n", { seen })).toBe(false);
  expect(textOf(facts)).toBe("- Edited by hand\n");
  expect(existsSync(join(workspace, ".nanobot"))).toBe(false);
});

test("replaceFacts() writes nothing when nothing changed, and keeps the mode of the file", async () => {
  const { store, workspace, facts } = setUp();
  writeFileSync(facts, "- One\n");
  chmodSync(facts, 0o644);
  const before = statSync(facts);
  expect(await store.replaceFacts("- One\n", { seen: "- One\n" })).toBe(true);
  expect(statSync(facts).ino).toBe(before.ino);
  expect(existsSync(join(workspace, ".nanobot"))).toBe(false);
  await store.replaceFacts("- Two\n", { seen: "- One\n" });
  expect(statSync(facts).mode & 0o777).toBe(0o644);
});

test("versions() are the newest 20, newest first, also of one millisecond and of a clock that went back", async () => {
  const { store, workspace } = setUp();
  for (let index = 0; index < 25; index++)
    await store.replaceFacts(`- ${index + 1}\n`, { seen: index === 0 ? "" : `- ${index}\n` });
  const versions = await store.versions();
  const texts = await Promise.all(versions.map(({ id }) => store.version(id)));
  expect(texts).toEqual(Array.from({ length: 20 }, (_, index) => `- ${24 - index}\n`));
  expect(versionsIn(workspace)).toHaveLength(20);
  const { store: earlier, clock } = setUp({ workspace });
  expect(clock.now()).toBeLessThan(Date.parse(versions[0]?.replacedAt ?? ""));
  await earlier.replaceFacts("- 26\n", { seen: "- 25\n" });
  expect(await earlier.version((await earlier.versions())[0]?.id ?? "")).toBe("- 25\n");
});

test("version() opens nothing but a version", async () => {
  const { store, workspace } = setUp();
  await store.replaceFacts("- One\n", { seen: "" });
  await store.replaceFacts("- Two\n", { seen: "- One\n" });
  writeFileSync(join(workspace, ".nanobot", "memory", "secret.md"), "x");
  for (const id of ["", "secret", "../memory/secret", "../../memory/MEMORY", "20261130t233000001z"])
    expect(await store.version(id)).toBeUndefined();
  expect(await store.versions()).toHaveLength(1);
});

test("replaceFacts() of a version's text restores it, whatever its bytes are", async () => {
  const { store } = setUp();
  const old = "﻿- Katze 🐈\r\n- two\n\n";
  await store.replaceFacts(old, { seen: "" });
  await store.replaceFacts("- Nothing\n", { seen: await store.facts() });
  const [version] = await store.versions();
  const text = (await store.version(version?.id ?? "")) ?? "";
  expect(await store.replaceFacts(text, { seen: await store.facts() })).toBe(true);
  expect(await store.facts()).toBe(old);
});

test("keepVersion() keeps what MEMORY.md says, in the same place and as many as replaceFacts()", async () => {
  const { store, clock, workspace, facts } = setUp();
  for (let index = 0; index < 25; index++) {
    writeFileSync(facts, `- ${index}\n`);
    await store.keepVersion(Buffer.from(`- ${index + 1}\n`));
    clock.advance(1_000);
  }
  expect(versionsIn(workspace)).toHaveLength(20);
  const [newest] = await store.versions();
  expect(await store.version(newest?.id ?? "")).toBe("- 24\n");
  expect(textOf(facts)).toBe("- 24\n");
});

test("keepVersion() keeps nothing of what is not there, is empty, or is said again", async () => {
  const { store, workspace, facts } = setUp();
  await store.keepVersion(Buffer.from("- New\n"));
  writeFileSync(facts, "");
  await store.keepVersion(Buffer.from("- New\n"));
  writeFileSync(facts, "- Old\n");
  await store.keepVersion(Buffer.from("- Old\n"));
  expect(existsSync(join(workspace, ".nanobot"))).toBe(false);
  await store.keepVersion();
  await store.keepVersion(Buffer.from("- New\n"));
  expect(versionsIn(workspace)).toHaveLength(1);
  await store.replaceFacts("- New\n", { seen: "- Old\n" });
  expect(versionsIn(workspace)).toHaveLength(1);
});

test("keepVersion() rejects where nothing can be kept", async () => {
  const { store, facts } = setUp();
  writeFileSync(facts, "x".repeat(300 * 1024));
  await expect(store.keepVersion()).rejects.toThrow("larger than 256 KiB");
});

test("facts() and replaceFacts() refuse a link, a folder and a file of unreasonable size", async () => {
  const target = join(tempFolder(), "target.md");
  writeFileSync(target, "- Of somebody else\n");
  const linked = setUp();
  symlinkSync(target, linked.facts);
  const folder = setUp();
  mkdirSync(folder.facts);
  const large = setUp();
  writeFileSync(large.facts, "x".repeat(300 * 1024));
  for (const { store } of [linked, folder, large]) {
    expect(store.facts()).rejects.toThrow("Cannot use");
    expect(store.replaceFacts("- New\n", { seen: "" })).rejects.toThrow("Cannot use");
    await Promise.allSettled([store.facts(), store.replaceFacts("- New\n", { seen: "" })]);
  }
  expect(textOf(target)).toBe("- Of somebody else\n");
});

test("replaceFacts() of two at once lets one win", async () => {
  const { store, workspace, facts } = setUp();
  const other = setUp({ workspace }).store;
  const both = await Promise.all([
    store.replaceFacts("- Mine\n", { seen: "" }),
    other.replaceFacts("- Theirs\n", { seen: "" }),
  ]);
  expect(both.filter((won) => won)).toHaveLength(1);
  expect(textOf(facts)).toBe(both[0] ? "- Mine\n" : "- Theirs\n");
});

test("appendHistory() writes entries with the time of the agent's zone, a blank line between them", async () => {
  const { store, history } = setUp();
  await store.appendHistory("They met.", { at: AT });
  await store.appendHistory("They met again.\nIn Linz.", { at: AT + 60_000 });
  expect(textOf(history)).toBe(
    "[2026-12-01 00:30] They met.\n\n[2026-12-01 00:31] They met again.\nIn Linz.\n",
  );
  expect(await store.history({ limit: 10 })).toEqual([
    { at: "2026-12-01 00:30", text: "They met." },
    { at: "2026-12-01 00:31", text: "They met again.\nIn Linz." },
  ]);
  expect(statSync(history).mode & 0o777).toBe(0o600);
});

test("appendHistory() closes a torn tail first and changes no byte that is there", async () => {
  const { store, history } = setUp();
  const torn = "[2026-03-01 10:00] Half a sen";
  writeFileSync(history, torn);
  await store.appendHistory("Whole.", { at: AT });
  expect(textOf(history)).toBe(`${torn}\n\n[2026-12-01 00:30] Whole.\n`);
  writeFileSync(history, "# History\n");
  await store.appendHistory("Whole.", { at: AT });
  expect(textOf(history)).toBe("# History\n\n[2026-12-01 00:30] Whole.\n");
});

test("appendHistory() says the time once, and leaves out what was only thought and what steers a terminal", async () => {
  const { store, history } = setUp();
  await store.appendHistory("[2026-11-30 10:00] <think>hm</think>Red\x1b[31m car\x07.\r\n\n\nBlue.", {
    at: AT,
  });
  expect(textOf(history)).toBe("[2026-12-01 00:30] Red car.\nBlue.\n");
  await store.appendHistory("<think>only this</think>", { at: AT });
  await store.appendHistory(" \n ", { at: AT });
  expect(textOf(history).split("\n")).toHaveLength(3);
});

test("appendHistory() cuts a text that is too long and says so", async () => {
  const { store, history } = setUp();
  await store.appendHistory("x".repeat(200_000), { at: AT });
  expect(textOf(history).length).toBeLessThan(8_100);
  expect(textOf(history)).toContain("left out");
  await store.appendHistory(`[RAW] 3 messages\n${"y".repeat(200_000)}`, { at: AT });
  const [, raw] = await store.history({ limit: 2 });
  expect(raw?.text.length).toBeGreaterThan(15_000);
  expect(raw?.text.length).toBeLessThanOrEqual(16_000);
});

test("appendHistory() of any text is one entry, which reads back", async () => {
  const line = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.constantFrom(
      "[2026-11-30 10:00] USER: hi",
      "[2026-11-30] x",
      "",
      "  ",
      "[RAW] 2 messages",
      "# Title",
      "---",
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(line, { maxLength: 6 }), { maxLength: 4 }), async (texts) => {
      const { store } = setUp();
      const written: string[] = [];
      for (const lines of texts) {
        const text = `Said: ${lines.join("\n")}`;
        written.push(text);
        await store.appendHistory(text, { at: AT });
      }
      const entries = await store.history({ limit: 100 });
      expect(entries).toHaveLength(written.length);
      for (const { at, text } of entries) {
        expect(at).toBe("2026-12-01 00:30");
        expect(text.startsWith("Said:")).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});

test("history() gives the newest, oldest first, of a file of any size, reading its end", async () => {
  const { store, history } = setUp();
  appendFileSync(history, `[2026-01-01 10:00] ${"e".repeat(200_000)}\n\n`);
  for (let index = 0; index < 20_000; index++)
    appendFileSync(history, `[2026-02-01 10:00] Entry ${index} ${"x".repeat(200)}\n\n`);
  const entries = await store.history({ limit: 500 });
  expect(entries).toHaveLength(500);
  expect(entries.at(0)?.text).toStartWith("Entry 19500 ");
  expect(entries.at(-1)?.text).toStartWith("Entry 19999 ");
  expect((await store.history({ limit: 3 })).map(({ text }) => text.slice(0, 11))).toEqual([
    "Entry 19997",
    "Entry 19998",
    "Entry 19999",
  ]);
  expect(await store.history({ limit: 0 })).toEqual([]);
});

test("history() cuts an entry that is too long, wherever it lies", async () => {
  const { store, history } = setUp();
  writeFileSync(history, `[2026-01-01 10:00] ${"e".repeat(200_000)}\n\n[2026-01-02 10:00] Short.\n`);
  const entries = await store.history({ limit: 5 });
  expect(entries.map(({ at }) => at)).toEqual(["2026-01-01 10:00", "2026-01-02 10:00"]);
  expect(entries[0]?.text.length).toBeLessThanOrEqual(8_000);
});

test("history() reads what the original wrote, both generations, by time", async () => {
  const { store, history, folder } = setUp();
  writeFileSync(
    history,
    `# History

[2026-03-01 10:00] Talked about the garden.
[2026-03-02 11:30] [RAW] 2 messages
[2026-03-02 11:00] USER: When is the fair?
[2026-03-02 11:01] ASSISTANT: In May.

An entry without a time.

[2026-03-04] Only a day.
`,
  );
  writeFileSync(
    join(folder, "history.jsonl"),
    [
      { cursor: 1, timestamp: "2026-03-02 09:00", content: "Newer kind, earlier." },
      { cursor: "x", timestamp: 5, content: 7 },
      { cursor: 2, timestamp: "2026-05-01 09:00", content: "Newer kind, later.", session_key: "cli:direct" },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join("{broken\n[]\n"),
  );
  expect(await store.history({ limit: 10 })).toEqual([
    { at: "2026-03-01 10:00", text: "Talked about the garden." },
    { at: "2026-03-02 09:00", text: "Newer kind, earlier." },
    {
      at: "2026-03-02 11:30",
      text: "[RAW] 2 messages\n[2026-03-02 11:00] USER: When is the fair?\n[2026-03-02 11:01] ASSISTANT: In May.",
    },
    { at: undefined, text: "An entry without a time." },
    { at: "2026-03-04", text: "Only a day." },
    { at: "2026-05-01 09:00", text: "Newer kind, later." },
  ]);
  expect((await store.history({ limit: 1 }))[0]?.text).toBe("Newer kind, later.");
});

test("history() and appendHistory() refuse a link in the place of the file", async () => {
  const { store, history } = setUp();
  const target = join(tempFolder(), "target");
  writeFileSync(target, "[2026-03-01 10:00] Of somebody else.\n");
  symlinkSync(target, history);
  expect(store.history({ limit: 1 })).rejects.toThrow("Cannot use");
  expect(store.appendHistory("Mine.", { at: AT })).rejects.toThrow("Cannot use");
  await Promise.allSettled([store.appendHistory("Mine.", { at: AT })]);
  expect(textOf(target)).not.toContain("Mine");
});

test("replaceFacts() keeps as a version, byte by byte, what was written in another encoding", async () => {
  const { store, workspace, facts } = setUp();
  const latin = Buffer.from("- K\xe4tzchen\n", "latin1");
  writeFileSync(facts, latin);
  expect(await store.replaceFacts("- Kitten\n", { seen: await store.facts() })).toBe(true);
  const [version] = await store.versions();
  expect(readFileSync(join(workspace, ".nanobot", "memory", `${version?.id}.md`))).toEqual(latin);
});

test("replaceFacts() changes nothing when the file is edited by hand while its version is being kept", async () => {
  const files = createFileSystem();
  const { store, facts } = setUp({
    files: {
      ...files,
      async replace(path, bytes, options) {
        await files.replace(path, bytes, options);
        if (path !== facts) writeFileSync(facts, "- By hand\n");
      },
    },
  });
  writeFileSync(facts, "- Old\n");
  expect(await store.replaceFacts("- New\n", { seen: "- Old\n" })).toBe(false);
  expect(textOf(facts)).toBe("- By hand\n");
});

test("history() reads files that an editor began with a mark and whose lines end with CRLF", async () => {
  const { store, folder, history } = setUp();
  writeFileSync(
    history,
    "\ufeff[2026-11-01 09:00] First.\r\nMore of it.\r\n\r\n[2026-11-02 09:00] Second 🫖.\r\n",
  );
  const line = JSON.stringify({ timestamp: "2026-10-01 08:00", content: "Before." });
  writeFileSync(join(folder, "history.jsonl"), `\ufeff${line}\r\n`);
  await store.appendHistory("Third.", { at: AT });
  expect(await store.history({ limit: 9 })).toEqual([
    { at: "2026-10-01 08:00", text: "Before." },
    { at: "2026-11-01 09:00", text: "First.\nMore of it." },
    { at: "2026-11-02 09:00", text: "Second 🫖." },
    { at: "2026-12-01 00:30", text: "Third." },
  ]);
});
