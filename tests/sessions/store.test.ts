import { expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { InboundId } from "../../src/core/messages.ts";
import type { Session, SessionStore, StoredMessage } from "../../src/core/session.ts";
import { messagesTokens } from "../../src/lib/request-tokens.ts";
import { toChat } from "../../src/lib/transcript.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createLocks } from "../../src/platform/locks.ts";
import { createSessionStore } from "../../src/sessions/store.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";

const signal = new AbortController().signal;

function setUp({
  workspace = tempFolder(),
  tokens = 100_000,
  homeSessions = join(tempFolder(), "sessions"),
  mask = (text: string) => text,
} = {}) {
  const log = createFakeLog();
  const archived: string[] = [];
  const store = createSessionStore({
    onArchived: (key) => archived.push(key),
    files: createFileSystem(),
    locks: createLocks({ os: process.platform, folder: workspace }),
    clock: createFakeClock(Date.parse("2026-11-30T09:00:00Z")),
    log,
    mask,
    workspace,
    legacy: { homeSessions },
    tokens,
  });
  return { store, workspace, log, homeSessions, archived };
}

const user = (content: string): StoredMessage => ({ role: "user", content });
const assistant = (content: string): StoredMessage => ({ role: "assistant", content });

async function using<T>(
  store: SessionStore,
  key: string,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await store.open(key, { signal });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

const add = (store: SessionStore, key: string, ...lines: StoredMessage[]) =>
  using(store, key, (session) => session.append(lines, { sync: true }));

const contents = (store: SessionStore, key: string) =>
  using(store, key, async (session) => session.messages.map(({ content }) => content));

test("createSessionStore() keeps what was appended, in this process and in the next", async () => {
  const { store, workspace } = setUp();
  await add(store, "cli:direct", user("hello"), assistant("hi 🐈"));
  await add(store, "cli:direct", user("again"));
  expect(await contents(store, "cli:direct")).toEqual(["hello", "hi 🐈", "again"]);
  expect(await contents(setUp({ workspace }).store, "cli:direct")).toEqual(["hello", "hi 🐈", "again"]);
});

test("list() takes secrets out of a preview before it is cut", async () => {
  const secret = "hunter2hunter2";
  const { store } = setUp({ mask: (text) => text.replaceAll(secret, "[masked]") });
  await add(store, "cli:direct", user(`${"x".repeat(70)} ${secret}`));
  expect((await store.list())[0]?.preview).toBe(`${"x".repeat(70)} [masked]`);
});

test("append() writes the metadata line first, private to the owner", async () => {
  const { store, workspace } = setUp();
  await add(store, "cli:direct", user("hello"));
  const path = await store.path("cli:direct");
  const [first, second] = readFileSync(path, "utf8").split("\n");
  expect(JSON.parse(first ?? "")).toEqual({
    _type: "metadata",
    key: "cli:direct",
    created_at: "2026-11-30T09:00:00.000Z",
    updated_at: "2026-11-30T09:00:00.000Z",
    metadata: {},
    last_consolidated: 0,
  });
  expect(JSON.parse(second ?? "")).toEqual({ role: "user", content: "hello" });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(workspace, "sessions")).mode & 0o777).toBe(0o700);
});

test("append() never changes a byte that is there", async () => {
  const { store } = setUp();
  await add(store, "a", user("one"));
  const path = await store.path("a");
  const before = readFileSync(path, "utf8");
  await add(store, "a", assistant("two"), user("three"));
  expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
});

test("append() repeats the metadata at least every 64 KiB, with the offset", async () => {
  const { store } = setUp();
  for (let index = 0; index < 40; index++) await add(store, "a", user("x".repeat(5_000)));
  const lines = readFileSync(await store.path("a"), "utf8")
    .trimEnd()
    .split("\n");
  const positions = lines.flatMap((line, index) => (line.includes('"_type"') ? [index] : []));
  expect(positions.length).toBeGreaterThanOrEqual(3);
  expect(JSON.parse(lines[positions.at(-1) ?? 0] ?? "").offset).toBe(0);
});

test("open() loads good lines around NULs, a half line and garbage, reports once, and goes on on a fresh line", async () => {
  const { store, workspace } = setUp();
  for (let index = 0; index < 20; index++) await add(store, "a", user(`line ${index}`));
  const path = await store.path("a");
  appendFileSync(path, `${JSON.stringify(user("before the NULs"))}${"\0".repeat(9000)}\n`);
  appendFileSync(path, `${"\0".repeat(500)}\n[1,2]\n"text"\n{"role":"user","cont`);
  const damaged = readFileSync(path);
  const { store: next, log } = setUp({ workspace });
  const loaded = await contents(next, "a");
  expect(loaded).toHaveLength(21);
  expect(loaded.at(-1)).toBe("before the NULs");
  expect(await contents(next, "a")).toEqual(loaded);
  expect(log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(1);
  await add(next, "a", user("after"));
  expect(readFileSync(path).subarray(0, damaged.length).equals(damaged)).toBe(true);
  expect((await contents(setUp({ workspace }).store, "a")).at(-1)).toBe("after");
});

test("open() reads a file of which every line is damaged as empty and leaves it", async () => {
  const { store, workspace } = setUp();
  mkdirSync(join(workspace, "sessions"));
  const path = await store.path("a");
  writeFileSync(path, "not json\n\0\0\0\n");
  expect(await contents(store, "a")).toEqual([]);
  await add(store, "a", user("new"));
  expect(readFileSync(path, "utf8").startsWith("not json\n\0\0\0\n")).toBe(true);
  expect(await contents(store, "a")).toEqual(["new"]);
});

test("open() takes in what another process appended", async () => {
  const { store, workspace } = setUp();
  await add(store, "a", user("first"));
  await add(setUp({ workspace }).store, "a", assistant("from elsewhere"));
  expect(await contents(store, "a")).toEqual(["first", "from elsewhere"]);
});

test("open() notices a file that was replaced or cut", async () => {
  const { store } = setUp();
  await add(store, "a", user("first"), assistant("second"));
  const path = await store.path("a");
  const [metadata, first] = readFileSync(path, "utf8").split("\n");
  writeFileSync(path, `${metadata}\n${first}\n`);
  expect(await contents(store, "a")).toEqual(["first"]);
});

test("open() waits for the holder, and gives up when aborted", async () => {
  const { store } = setUp();
  const holder = await store.open("a", { signal });
  const abort = new AbortController();
  const waiting = store.open("a", { signal: abort.signal });
  abort.abort(new Error("gave up"));
  await expect(waiting).rejects.toThrow("gave up");
  const second = store.open("a", { signal });
  await holder.append([user("written by the holder")], { sync: false });
  await holder.close();
  const session = await second;
  expect(session.messages.map(({ content }) => content)).toEqual(["written by the holder"]);
  await session.close();
});

test("open() keeps keys apart that look alike", async () => {
  const { store } = setUp();
  const keys = ["telegram:a_b", "telegram:a:b", "telegram/a:b", "TELEGRAM:A:B", "telegram:../x"];
  for (const key of keys) await add(store, key, user(key));
  for (const key of keys) expect(await contents(store, key)).toEqual([key]);
  expect(new Set(await Promise.all(keys.map((key) => store.path(key)))).size).toBe(keys.length);
  expect([...(await store.list())].map(({ key }) => key).sort()).toEqual([...keys].sort());
});

test("append() that fails adds nothing, and the next one starts on a fresh line", async () => {
  const { workspace } = setUp();
  const files = createFileSystem();
  let failing = false;
  const store = createSessionStore({
    files: {
      ...files,
      async openAppend(path, options) {
        const file = await files.openAppend(path, options);
        // As the real one: after a failed write the open file takes nothing more.
        let broken = false;
        return {
          ...file,
          async append(bytes) {
            if (broken) throw new Error("EIO: broken before");
            broken = failing;
            await file.append(failing ? bytes.subarray(0, 10) : bytes);
            if (failing) throw new Error("ENOSPC: no space left");
          },
        };
      },
    },
    locks: createLocks({ os: process.platform, folder: workspace }),
    clock: createFakeClock(0),
    log: createFakeLog(),
    workspace,
    legacy: { homeSessions: join(workspace, "none") },
    tokens: 1_000,
  });
  await using(store, "a", async (session) => {
    await session.append([user("one")], { sync: true });
    failing = true;
    await expect(session.append([user("lost")], { sync: true })).rejects.toThrow("ENOSPC");
    failing = false;
    await session.append([user("two")], { sync: true });
    expect(session.messages.map(({ content }) => content)).toEqual(["one", "two"]);
  });
  expect(await contents(setUp({ workspace }).store, "a")).toEqual(["one", "two"]);
});

test("open() reads the end of a long session and not the whole of it", async () => {
  const { store, workspace } = setUp();
  await using(store, "a", async (session) => {
    for (let index = 0; index < 300; index++) {
      await session.append([user(`question ${index} ${"word ".repeat(200)}`), assistant("answer")], {
        sync: false,
      });
    }
  });
  const files = createFileSystem();
  let bytesRead = 0;
  const counting = createSessionStore({
    files: {
      ...files,
      async read(path, range) {
        const bytes = await files.read(path, range);
        bytesRead += bytes.length;
        return bytes;
      },
    },
    locks: createLocks({ os: process.platform, folder: workspace }),
    clock: createFakeClock(0),
    log: createFakeLog(),
    workspace,
    legacy: { homeSessions: join(workspace, "none") },
    tokens: 2_000,
  });
  await using(counting, "a", async (session) => {
    expect(session.messages[0]?.role).toBe("user");
    expect(session.messages.length).toBeLessThan(100);
  });
  const { size } = statSync(await store.path("a"));
  expect(size).toBeGreaterThan(300_000);
  expect(bytesRead).toBeLessThan(150_000);
});

test("window() leaves out results and then turns, once, until it fits", async () => {
  const { store } = setUp({ tokens: 100_000 });
  await using(store, "a", async (session) => {
    for (let turn = 0; turn < 40; turn++) {
      const call = { id: `c${turn}`, type: "function", function: { name: "look", arguments: "{}" } } as const;
      await session.append(
        [
          user(`q${turn} ${"word ".repeat(100)}`),
          { role: "assistant", content: "", tool_calls: [call] },
          { role: "tool", tool_call_id: call.id, name: "look", content: "word ".repeat(700) },
          assistant(`a${turn} ${"word ".repeat(100)}`),
        ],
        { sync: false },
      );
    }
    const sizeOf = (lines: readonly StoredMessage[]) => messagesTokens(lines.map(toChat));
    // Results alone are enough here, and no turn goes.
    const wide = session.window(30_000);
    expect(sizeOf(wide)).toBeLessThanOrEqual(30_000 * 0.7 + 1_000);
    expect(wide[0]?.content).toStartWith("q0 ");
    // Here turns must go too, but no more than that.
    const narrow = session.window(8_000);
    expect(sizeOf(narrow)).toBeLessThanOrEqual(8_000 * 0.7);
    expect(sizeOf(narrow)).toBeGreaterThan(8_000 * 0.5);
    expect(session.window(8_000)).toEqual(narrow);
  });
});

test("window() leaves old results with an image out, however short their text, before a turn goes", async () => {
  const { store } = setUp({ tokens: 100_000 });
  const media = [{ path: "/ws/media/tools/0a.png", mime: "image/png" }];
  await using(store, "a", async (session) => {
    for (let turn = 0; turn < 6; turn++) {
      const call = { id: `c${turn}`, type: "function", function: { name: "look", arguments: "{}" } } as const;
      await session.append(
        [
          user(`q${turn}`),
          { role: "assistant", content: "", tool_calls: [call] },
          { role: "tool", tool_call_id: call.id, name: "look", content: "A picture", media },
        ],
        { sync: false },
      );
    }
    expect(session.window(9_000).filter((line) => line.media !== undefined)).toHaveLength(6);
    const lines = session.window(6_000);
    expect(lines.filter(({ role }) => role === "user")).toHaveLength(6);
    const results = lines.filter(({ role }) => role === "tool");
    expect(results.map((line) => line.media !== undefined)).toEqual([false, false, false, true, true, true]);
    expect(results[0]?.content).toContain("look (9 characters and an image)");
  });
});

test("window() loses no turn to images that are not sent any more", async () => {
  const { store } = setUp({ tokens: 100_000 });
  const picture = { path: "/ws/media/cli/0a.png", mime: "image/png" };
  await using(store, "a", async (session) => {
    for (let turn = 0; turn < 60; turn++) {
      await session.append([{ ...user(`q${turn}`), media: [picture] }, assistant(`a${turn}`)], {
        sync: false,
      });
    }
    expect(session.window(29_000)).toHaveLength(120);
    const less = session.window(20_000);
    expect(less.length).toBeGreaterThan(16);
    expect(less.length).toBeLessThan(30);
  });
});

test("window() shows the last turn whatever a metadata line says, in this process and the next", async () => {
  const { store, workspace } = setUp();
  await add(store, "a", user("old"), assistant("x"));
  const { size } = statSync(await store.path("a"));
  for (const from of [size, size + 20, 1e9]) {
    const line = { _type: "metadata", key: "a", metadata: {}, shown: { from, results: 0 } };
    appendFileSync(await store.path("a"), `${JSON.stringify(line)}\n`);
    for (const one of [store, setUp({ workspace }).store]) {
      const window = await using(one, "a", async (session) => session.window(1_000));
      expect(window.map(({ content }) => content)).toEqual(["old", "x"]);
    }
  }
});

test("window() is the same in two processes of which one narrowed it and wrote nothing", async () => {
  const { store, workspace } = setUp();
  const other = setUp({ workspace }).store;
  for (let turn = 0; turn < 60; turn++) {
    await add(store, "a", user(`q${turn} ${"word ".repeat(50)}`), assistant("word ".repeat(50)));
  }
  await using(store, "a", async (session) => session.window(3_000));
  await using(other, "a", async (session) => {
    session.window(50_000);
    await session.setMetadata({ title: "x" });
  });
  const windows = [];
  for (const one of [store, other, setUp({ workspace }).store]) {
    windows.push(await using(one, "a", async (session) => session.window(50_000)));
  }
  expect(windows[0]).toEqual(windows[2] ?? []);
  expect(windows[1]).toEqual(windows[2] ?? []);
});

test("window() drops a large turn and not only a part of it", async () => {
  const { store } = setUp({ tokens: 100_000 });
  const big = Array.from({ length: 300 }, (_, step) => {
    const call = { id: `c${step}`, type: "function", function: { name: "look", arguments: "{}" } } as const;
    return [
      { role: "assistant", content: "", tool_calls: [call] },
      { role: "tool", tool_call_id: call.id, name: "look", content: "word ".repeat(70) },
    ] as const;
  });
  await add(store, "a", user("big"), ...big.flat(), assistant("done"), user("small"), assistant("yes"));
  await add(store, "a", user("now"));
  const window = await using(store, "a", async (session) => session.window(20_000));
  expect(window.map(({ content }) => content)).toEqual(["small", "yes", "now"]);
});

test("window() pays no attention to an offset that lies behind the end of the file", async () => {
  const { store, workspace } = setUp();
  await add(store, "a", user("old"), assistant("x"));
  const line = {
    _type: "metadata",
    key: "a",
    metadata: {},
    offset: 900_000,
    shown: { from: 9e6, results: 0 },
  };
  appendFileSync(await store.path("a"), `${JSON.stringify(line)}\n`);
  const window = await using(setUp({ workspace }).store, "a", async (session) => session.window(1_000));
  expect(window.map(({ content }) => content)).toEqual(["old", "x"]);
});

test("archive() lets the session begin with what it is given", async () => {
  const { store, workspace } = setUp();
  await add(store, "a", user("old"));
  await using(store, "a", (session) => session.archive({ model: "big" }));
  const again = setUp({ workspace }).store;
  expect(await using(again, "a", async ({ metadata }) => metadata)).toEqual({ model: "big" });
});

test("archive() moves the file away, and the session goes on empty", async () => {
  const { store, workspace } = setUp();
  await add(store, "cli:direct", user("old"));
  const archived = await using(store, "cli:direct", async (session) => {
    const path = await session.archive();
    await session.append([user("new")], { sync: true });
    return path;
  });
  expect(dirname(archived ?? "")).toBe(join(workspace, "sessions", "archive"));
  expect(readFileSync(archived ?? "", "utf8")).toContain("old");
  expect(await contents(store, "cli:direct")).toEqual(["new"]);
  expect((await store.list()).map(({ key }) => key)).toEqual(["cli:direct"]);
});

test("archive() tells who asked for it which session begins anew", async () => {
  const { store, archived } = setUp();
  await add(store, "a", user("old"));
  await add(store, "b", user("old"));
  await using(store, "a", (session) => session.archive());
  expect(archived).toEqual(["a"]);
});

test("archive() of a session without a file does nothing", async () => {
  const { store } = setUp();
  expect(await using(store, "a", (session) => session.archive())).toBeUndefined();
});

test("list() shows the newest first with the beginning of what was said, and read() all lines", async () => {
  const { store } = setUp();
  await add(store, "a", user("what is\nup?"), assistant("all well"));
  const [summary] = await store.list();
  expect(summary).toMatchObject({ key: "a", preview: "what is up?", path: await store.path("a") });
  const lines: string[] = [];
  for await (const { content } of store.read("a", signal)) lines.push(content);
  expect(lines).toEqual(["what is\nup?", "all well"]);
});

test("path() names the file of a session that does not exist", async () => {
  const { store, workspace } = setUp();
  expect(await store.path("cli:direct")).toBe(join(workspace, "sessions", "cli=3adirect.jsonl"));
  expect(await store.exists("cli:direct")).toBe(false);
});

test("open() copies a session of the original's first version, once, and leaves it where it was", async () => {
  const { store, workspace } = setUp();
  mkdirSync(join(workspace, "sessions"));
  const old = join(workspace, "sessions", "telegram_42.jsonl");
  const text = `{"_type":"metadata","created_at":"2026-02-18T10:00:00","updated_at":"2026-02-18T10:05:00","metadata":{}}
{"role":"user","content":"from before","timestamp":"2026-02-18T10:00:00"}
{"role":"assistant","content":"yes","timestamp":"2026-02-18T10:00:01","tools_used":["exec"]}
`;
  writeFileSync(old, text);
  expect((await store.list()).map(({ key }) => key)).toEqual(["telegram:42"]);
  expect(await contents(store, "telegram:42")).toEqual(["from before", "yes"]);
  await add(store, "telegram:42", user("now"));
  expect(readFileSync(old, "utf8")).toBe(text);
  expect((await store.list()).map(({ key }) => key)).toEqual(["telegram:42"]);
  await using(store, "telegram:42", (session) => session.archive());
  expect(await contents(store, "telegram:42")).toEqual([]);
});

test("open() copies a long session of the original whole, also where a copy was cut off before", async () => {
  const { store, workspace } = setUp();
  mkdirSync(join(workspace, "sessions"));
  const lines = Array.from({ length: 3_000 }, (_, index) => user(`${index} ${"word ".repeat(20)}`));
  const old = join(workspace, "sessions", "telegram_42.jsonl");
  writeFileSync(old, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const copied = await store.path("telegram:42");
  writeFileSync(`${copied}.copy`, '{"role":"user","content":"cut o');
  expect((await contents(store, "telegram:42")).at(-1)).toBe(lines.at(-1)?.content);
  expect(readFileSync(copied)).toEqual(readFileSync(old));
  expect(readdirSync(join(workspace, "sessions")).sort()).toEqual([basename(copied), basename(old)].sort());
  expect(statSync(copied).mode & 0o777).toBe(0o600);
});

test("open() copies a session of the original's later versions from its namespace", async () => {
  const { store, workspace, homeSessions } = setUp();
  const id = "0123456789abcdef0123456789abcdef";
  mkdirSync(join(workspace, ".nanobot"));
  writeFileSync(join(workspace, ".nanobot", "workspace-id"), id);
  mkdirSync(join(homeSessions, id), { recursive: true });
  const lines = [
    { _type: "metadata", key: "slack:C1:1.2", metadata: {}, last_consolidated: 2 },
    { _type: "provider_state", state: { kind: "x" } },
    { role: "user", content: "consolidated" },
    { role: "assistant", content: "consolidated too" },
    { role: "user", content: [{ type: "text", text: "look" }, { type: "image_url" }] },
    { role: "user", content: "/status", _command: true },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "1", function: { name: "exec", arguments: { command: "ls" } } }],
    },
    { role: "tool", tool_call_id: "1", name: "exec", content: "ok" },
  ];
  const name = `${Buffer.from("slack:C1:1.2").toString("base64url")}.jsonl`;
  writeFileSync(join(homeSessions, id, name), lines.map((line) => JSON.stringify(line)).join("\n"));
  expect(await contents(store, "slack:C1:1.2")).toEqual(["look\n[image_url]", "", "ok"]);
});

test("open() counts what the original consolidated as the original does", async () => {
  const { store, workspace } = setUp();
  mkdirSync(join(workspace, "sessions"));
  const write = (name: string, consolidated: number) => {
    const lines = [
      { _type: "metadata", metadata: {}, last_consolidated: consolidated },
      { role: "user", content: "one" },
      { role: "user", content: "/status", _command: true },
      { role: "assistant", content: "two" },
    ];
    writeFileSync(
      join(workspace, "sessions", name),
      `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`,
    );
  };
  write("a_some.jsonl", 2);
  write("a_all.jsonl", 3);
  write("a_more.jsonl", 99);
  expect(await contents(store, "a:some")).toEqual(["two"]);
  expect(await contents(store, "a:all")).toEqual([]);
  expect(await contents(store, "a:more")).toEqual(["one", "two"]);
  await add(store, "a:all", user("new"));
  expect(await contents(setUp({ workspace }).store, "a:all")).toEqual(["new"]);
});

test("open() passes over a file of the original whose own key is another", async () => {
  const { store, workspace } = setUp();
  mkdirSync(join(workspace, "sessions"));
  writeFileSync(
    join(workspace, "sessions", "a_b_c.jsonl"),
    `{"_type":"metadata","key":"a:b_c","metadata":{}}\n{"role":"user","content":"mine"}\n`,
  );
  expect(await contents(store, "a_b:c")).toEqual([]);
  expect(await contents(store, "a:b_c")).toEqual(["mine"]);
});

test("window() starts at the same line for many turns and never grows beyond the budget", async () => {
  const { store } = setUp({ tokens: 3_000 });
  const starts = new Set<string>();
  await using(store, "a", async (session) => {
    for (let index = 0; index < 200; index++) {
      await session.append([user(`q${index} ${"word ".repeat(40)}`), assistant("word ".repeat(40))], {
        sync: false,
      });
      const window = session.window(3_000);
      expect(window[0]?.role).toBe("user");
      expect(window.at(-2)?.content.startsWith(`q${index} `)).toBe(true);
      starts.add(window[0]?.content.split(" ")[0] ?? "");
    }
  });
  expect(starts.size).toBeLessThan(50);
  expect(starts.size).toBeGreaterThan(1);
});

test("window() begins at the same line in a process that has just read the file", async () => {
  const { store, workspace } = setUp({ tokens: 3_000 });
  const first = await using(store, "a", async (session) => {
    for (let index = 0; index < 100; index++) {
      await session.append([user(`q${index} ${"word ".repeat(40)}`), assistant("word ".repeat(40))], {
        sync: false,
      });
    }
    return session.window(3_000);
  });
  const again = await using(setUp({ workspace, tokens: 3_000 }).store, "a", async (session) =>
    session.window(3_000),
  );
  expect(again).toEqual(first);
});

test("window() holds the last turn even when it is larger than the budget", async () => {
  const { store } = setUp({ tokens: 100 });
  await add(store, "a", user("small"), assistant("x"), user("word ".repeat(1_000)));
  const window = await using(store, "a", async (session) => session.window(100));
  expect(window).toHaveLength(1);
});

test("createSessionStore() forgets idle sessions and reads them again", async () => {
  const { store, workspace } = setUp();
  const text = "word ".repeat(10_000);
  const say = (chat: number, line: StoredMessage) =>
    using(store, `chat:${chat}`, (session) => session.append([line], { sync: false }));
  const before = process.memoryUsage().heapUsed;
  // 600 sessions of 100 KB are 60 MB; what is kept is bounded by 16 MiB and 256 sessions.
  for (let chat = 0; chat < 600; chat++) await say(chat, user(text));
  for (let chat = 0; chat < 600; chat++) await say(chat, assistant(text));
  Bun.gc(true);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(40 * 1024 * 1024);
  expect(await contents(store, "chat:0")).toHaveLength(2);
  expect(readdirSync(join(workspace, "sessions"))).toHaveLength(600);
}, 60_000);

test("open() of a session leaves no file before something is appended", async () => {
  const { store } = setUp();
  await contents(store, "quiet");
  expect(existsSync(await store.path("quiet"))).toBe(false);
});

test("open() tells of damage once, also over several processes", async () => {
  const { store, workspace } = setUp();
  await add(store, "a", user("one"));
  appendFileSync(await store.path("a"), "broken\n");
  const first = setUp({ workspace });
  await add(first.store, "a", user("two"));
  const second = setUp({ workspace });
  await add(second.store, "a", user("three"));
  appendFileSync(await store.path("a"), "broken again\n");
  const third = setUp({ workspace });
  expect(await contents(third.store, "a")).toEqual(["one", "two", "three"]);
  expect([first, second, third].map(({ log }) => log.lines.length)).toEqual([1, 0, 1]);
});

test("open() refuses a link, a folder and a key of any length in the place of a session's file", async () => {
  const { store, workspace } = setUp();
  mkdirSync(join(workspace, "sessions", "b.jsonl"), { recursive: true });
  symlinkSync("/etc/passwd", join(workspace, "sessions", "a.jsonl"));
  for (const key of ["a", "b"]) {
    await expect(store.open(key, { signal })).rejects.toThrow("is no regular file");
    expect(await store.exists(key)).toBe(false);
  }
  const long = "x".repeat(5_000);
  await add(store, long, user("long"));
  expect(await contents(store, long)).toEqual(["long"]);
});

test("open() reads a file that begins with a byte order mark", async () => {
  const { store, workspace } = setUp();
  mkdirSync(join(workspace, "sessions"));
  writeFileSync(await store.path("a"), `\ufeff${JSON.stringify(user("marked"))}\n`);
  expect(await contents(store, "a")).toEqual(["marked"]);
});

test("open() holds a turn whole, however much was said while it ran", async () => {
  const workspace = tempFolder();
  const turn = "1" as InboundId;
  const long = "word ".repeat(400);
  const said = (inbound: string): StoredMessage => ({ ...user(long), turn, inbound: inbound as InboundId });
  const { store } = setUp({ workspace, tokens: 1_000 });
  await using(store, "a", (session) =>
    session.append([user("before"), assistant(long), said("1"), assistant(long), said("2"), said("3")], {
      sync: false,
    }),
  );
  const second = setUp({ workspace, tokens: 1_000 });
  for (const { store: opened } of [{ store }, second]) {
    await using(opened, "a", async (session) => {
      session.window(1_000);
      expect(session.messages.map(({ inbound }) => inbound as string | undefined)).toEqual(
        expect.arrayContaining(["1", "2", "3"]),
      );
      expect(session.has(turn)).toBe(true);
    });
  }
});

test("archive() leaves a session in which nothing was said as it is", async () => {
  const { store, workspace, archived } = setUp();
  await using(store, "a", (session) => session.setMetadata({ model: "big" }));
  expect(await using(store, "a", (session) => session.archive())).toBeUndefined();
  expect(existsSync(join(workspace, "sessions", "archive"))).toBe(false);
  expect(await using(store, "a", async ({ metadata }) => metadata)).toEqual({ model: "big" });
  expect(archived).toEqual([]);
});
