import { expect, test } from "bun:test";
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { InboundId } from "../../src/core/messages.ts";
import type { SessionStore, StoredMessage } from "../../src/core/session.ts";
import { messagesTokens } from "../../src/lib/request-tokens.ts";
import { beginsTurn, toChat } from "../../src/lib/transcript.ts";
import { add, assistant, contents, setUpStore, signal, turn, user, using } from "./fixture.ts";

interface Wanted {
  readonly maxTokens: number;
  readonly keepTokens: number;
  readonly mostTokens?: number;
  readonly signal: AbortSignal;
}

const all: Wanted = { maxTokens: 100_000, keepTokens: 0, signal };
const KEPT = { keepMessages: 2, signal };

async function next(store: SessionStore, key = "a", options: Partial<Wanted> = {}) {
  return store.unconsolidated({ key }, { ...all, ...options });
}

async function required(store: SessionStore, key = "a", options: Partial<Wanted> = {}) {
  const turns = await next(store, key, options);
  if (turns === undefined) throw new Error("nothing to consolidate");
  return turns;
}

const said = (turns: { readonly messages: readonly StoredMessage[] } | undefined) =>
  turns?.messages.map(({ content }) => content);

const tokensIn = (messages: readonly StoredMessage[]) => messagesTokens(messages.map(toChat));

/** A little more than two short turns take. */
const TWO_TURNS = 2 * tokensIn(turn("turn 0")) + 5;

function lastMetadata(path: string) {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return JSON.parse(lines.findLast((line) => line.includes('"_type"')) ?? "");
}

test("unconsolidated() gives the oldest whole turns, and not the one that is going on", async () => {
  const { store } = setUpStore();
  await add(store, "a", ...turn("one"), ...turn("two"), user("three"));
  const turns = await required(store);
  expect(said(turns)).toEqual(["one", "re: one", "two", "re: two"]);
  expect(turns).toMatchObject({ key: "a", from: 0, isArchived: false, hasMore: false });
  await add(store, "a", assistant("re: three"));
  expect(said(await next(store))).toHaveLength(6);
});

test("unconsolidated() takes a turn without an answer for whole once another began after it", async () => {
  const { store } = setUpStore();
  await add(store, "a", user("lost"), user("two"));
  expect(said(await next(store))).toEqual(["lost"]);
});

test("unconsolidated() holds a turn whole, whatever joined it", async () => {
  const { store } = setUpStore();
  const of = (message: StoredMessage, inbound?: string) => ({
    ...message,
    turn: "t:1" as InboundId,
    ...(inbound === undefined ? {} : { inbound: inbound as InboundId }),
  });
  await add(store, "a", of(user("one"), "t:1"), of(user("and this"), "t:2"), of(assistant("both")));
  await add(store, "a", ...turn("two"));
  expect(said(await next(store, "a", { maxTokens: 20 }))).toHaveLength(3);
});

test("unconsolidated() of nothing, of an empty session and of no session is undefined", async () => {
  const { store } = setUpStore();
  expect(await next(store, "none")).toBeUndefined();
  await add(store, "a", user("not yet"));
  expect(await next(store)).toBeUndefined();
  expect(await store.unconsolidated({ archive: "/nowhere/x.jsonl" }, all)).toBeUndefined();
});

test("unconsolidated() stops at maxTokens and says that there are more, but gives one turn in any case", async () => {
  const { store } = setUpStore();
  for (let index = 0; index < 10; index++) await add(store, "a", ...turn(`turn ${index}`));
  const two = await required(store, "a", { maxTokens: TWO_TURNS });
  expect(said(two)).toEqual(["turn 0", "re: turn 0", "turn 1", "re: turn 1"]);
  expect(two.hasMore).toBe(true);
  expect(said(await next(store, "a", { maxTokens: 1 }))).toHaveLength(2);
});

test("unconsolidated() leaves out the newest turns that fit keepTokens, and always the very newest", async () => {
  const { store } = setUpStore();
  for (let index = 0; index < 10; index++) await add(store, "a", ...turn(`turn ${index}`));
  const kept = await required(store, "a", { keepTokens: TWO_TURNS });
  expect(said(kept)?.at(-1)).toBe("re: turn 7");
  expect(kept.hasMore).toBe(false);
  expect(said(await next(store, "a", { keepTokens: 1 }))?.at(-1)).toBe("re: turn 8");
  expect(await next(store, "a", { keepTokens: 1_000 })).toBeUndefined();
});

test("unconsolidated() bounds a single turn longer than maxTokens by its results first, and keeps what was said", async () => {
  const { store } = setUpStore();
  const calls = Array.from({ length: 200 }, (_, index): StoredMessage[] => [
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: `c${index}`, type: "function", function: { name: "exec", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: `c${index}`, name: "exec", content: `${"result ".repeat(2_000)}` },
  ]);
  await add(store, "a", user("What is in these files?"), ...calls.slice(0, 20).flat(), assistant("Results."));
  const some = await required(store, "a", { maxTokens: 4_000 });
  expect(tokensIn(some.messages)).toBeLessThanOrEqual(4_000);
  expect(some.messages).toHaveLength(42);
  expect(some.messages.at(-1)?.content).toBe("Results.");
  await add(store, "b", user("What is in these files?"), ...calls.flat(), assistant("Results."));
  const many = await required(store, "b", { maxTokens: 1_000 });
  expect(tokensIn(many.messages)).toBeLessThanOrEqual(1_000);
  expect(many.messages[0]?.content).toBe("What is in these files?");
  expect(many.messages.at(-1)?.content).toBe("Results.");
});

test("unconsolidated() passes over turns older than the newest mostTokens, and consolidated() marks those too", async () => {
  const { store } = setUpStore();
  const at = (index: number) => new Date(Date.UTC(2026, 0, 1 + index)).toISOString();
  for (let index = 0; index < 20; index++) {
    await add(store, "a", { ...user(`turn ${index}`), timestamp: at(index) }, assistant(`re: turn ${index}`));
  }
  const given = await required(store, "a", { mostTokens: 60 });
  expect(given.from).toBe(0);
  expect(given.passed).toEqual({
    messages: 40 - given.messages.length,
    since: at(0),
    until: at(19 - given.messages.length / 2),
  });
  expect(tokensIn(given.messages)).toBeGreaterThan(40);
  expect(tokensIn(given.messages)).toBeLessThanOrEqual(60);
  expect(said(given)?.at(-1)).toBe("re: turn 19");
  const kept = await required(store, "a", { mostTokens: 60, keepTokens: TWO_TURNS });
  expect(said(kept)?.at(-1)).toBe("re: turn 17");
  expect(kept.messages).toHaveLength(given.messages.length);
  expect(await store.consolidated(given, { keepMessages: 0, signal })).toBe(true);
  expect(await next(store, "a")).toBeUndefined();
});

test("unconsolidated() passes nothing over where all is not more than mostTokens, nor the one turn that is", async () => {
  const { store } = setUpStore();
  await add(store, "a", ...turn("one"), ...turn("two"));
  expect((await required(store, "a", { mostTokens: 1_000 })).passed).toBeUndefined();
  await add(store, "b", user("word ".repeat(500)), assistant("Yes."));
  const one = await required(store, "b", { mostTokens: 10 });
  expect(one.passed).toBeUndefined();
  expect(one.messages).toHaveLength(2);
});

test("unconsolidated() leaves out what was only thought and what stood in front, and shortens results", async () => {
  const { store } = setUpStore();
  await add(
    store,
    "a",
    { ...user("Read it"), runtime: "[Runtime Context] now" },
    { ...assistant("Reading."), reasoning_content: "Hm." },
    { role: "tool", tool_call_id: "1", name: "read_file", content: "page ".repeat(5_000) },
    assistant("word ".repeat(5_000)),
  );
  const { messages } = await required(store, "a", { maxTokens: 100_000 });
  expect(messages.slice(0, 2)).toEqual([user("Read it"), assistant("Reading.")]);
  expect(messages[2]?.content.length).toBe(1_000);
  expect(messages[3]?.content.length).toBe(25_000);
});

test("unconsolidated() skips damaged lines and holds nothing of what it does not give", async () => {
  const { store } = setUpStore();
  await add(store, "a", ...turn("one"));
  const path = await store.path("a");
  appendFileSync(path, `{"role":"user","cont\n${"\0".repeat(500)}\n`);
  await add(store, "a", ...turn("two"));
  expect(said(await next(store))).toEqual(["one", "re: one", "two", "re: two"]);
});

test("consolidated() moves the mark, keeps the newest turns in sight and writes the summary, append only", async () => {
  const { store, workspace } = setUpStore();
  for (let index = 0; index < 5; index++) await add(store, "a", ...turn(`turn ${index}`));
  const path = await store.path("a");
  const before = readFileSync(path);
  const turns = await required(store);
  expect(await store.consolidated(turns, { ...KEPT, summary: "They counted." })).toBe(true);
  expect(readFileSync(path).subarray(0, before.length).equals(before)).toBe(true);
  expect(lastMetadata(path)).toMatchObject({ summed: turns.to, last_consolidated: 8 });
  for (const process of [store, setUpStore({ workspace }).store]) {
    expect(await contents(process, "a")).toEqual(["turn 4", "re: turn 4"]);
    expect(await using(process, "a", ({ summary }) => summary)).toBe("They counted.");
    expect(await next(process)).toBeUndefined();
  }
  await add(store, "a", ...turn("turn 5"));
  expect(said(await next(store))).toEqual(["turn 5", "re: turn 5"]);
});

test("consolidated() with keepMessages 0 shows nothing of them, and the file is no new session", async () => {
  const { store, workspace } = setUpStore();
  await add(store, "a", ...turn("one"));
  expect(await store.consolidated(await required(store), { keepMessages: 0, signal })).toBe(true);
  expect(await contents(store, "a")).toEqual([]);
  expect(await contents(setUpStore({ workspace }).store, "a")).toEqual([]);
  expect(await using(store, "a", (session) => session.archive())).toBeDefined();
});

test("consolidated() hides no turn that is not in memory", async () => {
  const { store } = setUpStore();
  for (let index = 0; index < 6; index++) await add(store, "a", ...turn(`turn ${index}`));
  const turns = await required(store, "a", { maxTokens: TWO_TURNS });
  await store.consolidated(turns, KEPT);
  expect(await contents(store, "a")).toEqual(
    [2, 3, 4, 5].flatMap((index) => [`turn ${index}`, `re: turn ${index}`]),
  );
});

test("consolidated() is seen by a process that has the session in memory, and what it shows stays as narrow as it was", async () => {
  const { store, workspace } = setUpStore({ tokens: 400 });
  const other = setUpStore({ workspace, tokens: 400 }).store;
  for (let index = 0; index < 40; index++) await add(store, "a", ...turn(`turn ${index}`));
  const narrowed = await using(other, "a", (session) => session.window(200).map(({ content }) => content));
  const turns = await required(store, "a", { maxTokens: 100 });
  await store.consolidated(turns, KEPT);
  expect(await using(other, "a", (session) => session.window(200).map(({ content }) => content))).toEqual(
    narrowed,
  );
  const rest = await required(store);
  await store.consolidated(rest, { ...KEPT, keepMessages: 4 });
  const last = ["turn 38", "re: turn 38", "turn 39", "re: turn 39"];
  expect(await using(other, "a", (session) => session.window(200).map(({ content }) => content))).toEqual(
    last,
  );
  await add(other, "a", ...turn("turn 40"));
  expect(await contents(store, "a")).toEqual([...last, "turn 40", "re: turn 40"]);
});

test("consolidated() takes out of the sight of a process that has the session in memory what it takes out of its own", async () => {
  const { store, workspace } = setUpStore();
  const other = setUpStore({ workspace }).store;
  await add(store, "a", ...turn("one"), ...turn("two"), ...turn("three"));
  expect(await contents(other, "a")).toHaveLength(6);
  await store.consolidated(await required(store), KEPT);
  expect(await contents(other, "a")).toEqual(["three", "re: three"]);
  expect(await using(other, "a", (session) => session.window(10_000).length)).toBe(2);
});

test("consolidated() changes nothing when somebody else was there first", async () => {
  const { store, workspace } = setUpStore();
  await add(store, "a", ...turn("one"), ...turn("two"));
  const mine = await required(store);
  const theirs = await required(setUpStore({ workspace }).store, "a", { maxTokens: 1 });
  expect(await setUpStore({ workspace }).store.consolidated(theirs, KEPT)).toBe(true);
  const path = await store.path("a");
  const before = readFileSync(path, "utf8");
  expect(await store.consolidated(mine, KEPT)).toBe(false);
  expect(readFileSync(path, "utf8")).toBe(before);
  expect(said(await next(store))).toEqual(["two", "re: two"]);
});

test("consolidated() notes it in the archive when the session began anew meanwhile", async () => {
  const { store } = setUpStore();
  await add(store, "a", ...turn("one"), ...turn("two"));
  const turns = await required(store, "a", { maxTokens: 1 });
  const archive = (await using(store, "a", (session) => session.archive())) ?? "";
  await add(store, "a", ...turn("new"));
  expect(await store.consolidated(turns, KEPT)).toBe(true);
  expect(await contents(store, "a")).toEqual(["new", "re: new"]);
  expect(said(await next(store))).toEqual(["new", "re: new"]);
  expect(said(await store.unconsolidated({ archive }, all))).toEqual(["two", "re: two"]);
});

test("consolidated() is false when the file is gone", async () => {
  const { store } = setUpStore();
  await add(store, "a", ...turn("one"));
  const turns = await required(store);
  rmSync(await store.path("a"));
  expect(await store.consolidated(turns, KEPT)).toBe(false);
});

test("consolidated() waits for the session's lock, and gives up when aborted", async () => {
  const { store } = setUpStore();
  await add(store, "a", ...turn("one"));
  const turns = await required(store);
  const session = await store.open("a", { signal });
  const given = new AbortController();
  const waiting = store.consolidated(turns, { ...KEPT, signal: given.signal });
  given.abort(new Error("enough"));
  expect(waiting).rejects.toThrow("enough");
  await waiting.catch(() => {});
  const later = store.consolidated(turns, KEPT);
  await session.append(turn("two"), { sync: false });
  await session.close();
  expect(await later).toBe(true);
  expect(await contents(store, "a")).toEqual(["two", "re: two"]);
});

test("unconsolidated() finds what an archive kept, and consolidated() marks it, in a torn file too", async () => {
  const { store, workspace } = setUpStore();
  const key = `telegram:${"x".repeat(300)}`;
  for (const name of ["a", key]) {
    await add(store, name, ...turn("one"), user("unanswered"));
    await using(store, name, (session) => session.archive());
  }
  const archives = (await store.files()).filter(({ isArchived }) => isArchived);
  expect(archives.map((file) => file.key).sort()).toEqual(["a", key].sort());
  for (const { path: archive, key: name } of archives) {
    appendFileSync(archive, '{"role":"user","cont');
    const first = await store.unconsolidated({ archive }, { ...all, maxTokens: 1 });
    expect(first).toMatchObject({ key: name, isArchived: true, hasMore: true });
    if (first === undefined) continue;
    expect(await store.consolidated(first, KEPT)).toBe(true);
    expect(await store.consolidated(first, KEPT)).toBe(false);
    const rest = await setUpStore({ workspace }).store.unconsolidated({ archive }, all);
    expect(said(rest)).toEqual(["unanswered"]);
    if (rest !== undefined) await store.consolidated(rest, KEPT);
    expect(await store.unconsolidated({ archive }, all)).toBeUndefined();
  }
});

test("files() lists sessions in use and those of the archive", async () => {
  const { store, workspace } = setUpStore();
  expect(await store.files()).toEqual([]);
  await add(store, "a", ...turn("one"));
  await using(store, "a", (session) => session.archive());
  writeFileSync(join(workspace, "sessions", "archive", "notes.txt"), "none of ours");
  const found = await store.files();
  expect(found.map(({ key, isArchived }) => [key, isArchived])).toEqual([
    ["a", false],
    ["a", true],
  ]);
  for (const file of found) expect(file.bytes).toBe(readFileSync(file.path).length);
  expect(readdirSync(join(workspace, "sessions", "archive"))).toHaveLength(2);
});

test("unconsolidated() begins where the original stopped, and so does what it marks", async () => {
  const { store } = setUpStore();
  await add(store, "a", ...turn("new one"));
  const path = await store.path("a");
  const lines = [
    {
      _type: "metadata",
      key: "a",
      metadata: { _last_summary: { text: "Of old.", last_active: "2026-03-01T09:00:00" } },
      last_consolidated: 2,
    },
    ...turn("old"),
    { role: "user", content: "/status", _command: true },
    ...turn("later"),
  ];
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const { store: fresh } = setUpStore({ workspace: join(path, "..", "..") });
  expect(await using(fresh, "a", ({ summary }) => summary)).toBe("Of old.");
  const turns = await required(fresh);
  expect(said(turns)).toEqual(["later", "re: later"]);
  expect(await fresh.consolidated(turns, { keepMessages: 0, signal })).toBe(true);
  expect(lastMetadata(path)).toMatchObject({ last_consolidated: 5, summed: turns.to, offset: turns.to });
});

test("summary is short, whatever a file says", async () => {
  const { store } = setUpStore();
  await add(store, "a", ...turn("one"));
  await store.consolidated(await required(store), { ...KEPT, summary: "word ".repeat(10_000) });
  expect(await using(store, "a", ({ summary }) => summary.length)).toBeLessThanOrEqual(2_000);
  await using(store, "a", (session) => session.setMetadata({ _last_summary: { text: "x".repeat(100_000) } }));
  expect(await using(store, "a", ({ summary }) => summary.length)).toBeLessThanOrEqual(2_000);
  for (const odd of [7, null, ["a"], { text: 5 }]) {
    await using(store, "a", (session) => session.setMetadata({ _last_summary: odd }));
    expect(await using(store, "a", ({ summary }) => summary)).toBe("");
  }
});

test("consolidated() keeps other metadata, and a summary that nothing new takes the place of", async () => {
  const { store } = setUpStore();
  await add(store, "a", ...turn("one"), ...turn("two"));
  await using(store, "a", (session) => session.setMetadata({ model: "other" }));
  await store.consolidated(await required(store, "a", { maxTokens: 1 }), { ...KEPT, summary: "First." });
  await store.consolidated(await required(store), KEPT);
  expect(await using(store, "a", ({ metadata }) => metadata)).toMatchObject({
    model: "other",
    _last_summary: { text: "First." },
  });
});

test("keepRecent() leaves out the oldest turns, for good, without bringing them nearer to memory", async () => {
  const { store, workspace } = setUpStore();
  for (let index = 0; index < 5; index++) await add(store, "heartbeat", ...turn(`turn ${index}`));
  const bytes = () => store.path("heartbeat").then((path) => readFileSync(path).length);
  await using(store, "heartbeat", (session) => session.keepRecent(5));
  const kept = ["turn 3", "re: turn 3", "turn 4", "re: turn 4"];
  expect(await contents(store, "heartbeat")).toEqual(kept);
  expect(await contents(setUpStore({ workspace }).store, "heartbeat")).toEqual(kept);
  const before = await bytes();
  await using(store, "heartbeat", (session) => session.keepRecent(5));
  expect(await bytes()).toBe(before);
  await using(store, "heartbeat", (session) => session.keepRecent(1));
  expect(await contents(store, "heartbeat")).toEqual(["turn 4", "re: turn 4"]);
  await using(store, "heartbeat", (session) => session.keepRecent(0));
  expect(await contents(store, "heartbeat")).toEqual([]);
  expect(said(await next(store, "heartbeat"))).toHaveLength(10);
});

test("tokens is what the conversation takes, and less once some of it is in memory", async () => {
  const { store } = setUpStore();
  for (let index = 0; index < 20; index++) await add(store, "a", ...turn(`turn ${index}`));
  const before = await using(store, "a", (session) => {
    expect(session.tokens).toBe(tokensIn(session.window(100_000)));
    return session.tokens;
  });
  await store.consolidated(await required(store, "a", { keepTokens: 100 }), KEPT);
  const after = await using(store, "a", ({ tokens }) => tokens);
  expect(after).toBeLessThanOrEqual(100);
  expect(after).toBeLessThan(before);
});

test("open() of a long session of which most is in memory reads its end, and appends cost the same", async () => {
  const { store, workspace } = setUpStore({ tokens: 1_000_000 });
  const line = `${JSON.stringify(user("word ".repeat(20)))}\n${JSON.stringify(assistant("yes"))}\n`;
  await add(store, "a", ...turn("first"));
  const path = await store.path("a");
  appendFileSync(path, line.repeat(50_000));
  const turns = await required(setUpStore({ workspace }).store, "a", { maxTokens: 10_000_000 });
  await setUpStore({ workspace, tokens: 1_000_000 }).store.consolidated(turns, KEPT);
  const { store: fresh } = setUpStore({ workspace, tokens: 1_000_000 });
  const session = await fresh.open("a", { signal });
  expect(session.messages).toHaveLength(2);
  const before = readFileSync(path).length;
  await session.append(turn("one more"), { sync: false });
  expect(readFileSync(path).length - before).toBeLessThan(200);
  await session.close();
});

test("consolidating in any batches gives every whole turn once, in order, and never more than is asked for", async () => {
  const anyTurn = fc.record({
    text: fc.string({ maxLength: 60, unit: "binary" }).map((text) => text.toWellFormed()),
    results: fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 3 }),
    isAnswered: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyTurn, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 120, max: 2_000 }),
      fc.integer({ min: 0, max: 600 }),
      async (turns, maxTokens, keepTokens) => {
        const { store } = setUpStore();
        const lines = turns.flatMap(({ text, results, isAnswered }, index): StoredMessage[] => [
          user(`${index} ${text}`),
          ...results.map(
            (length, call): StoredMessage => ({
              role: "tool",
              tool_call_id: `${call}`,
              name: "x",
              content: "r".repeat(length),
            }),
          ),
          ...(isAnswered ? [assistant(`${index} done`)] : []),
        ]);
        await add(store, "a", ...lines);
        const given: StoredMessage[] = [];
        for (let found = await next(store, "a", { maxTokens, keepTokens }); found !== undefined; ) {
          expect(tokensIn(found.messages)).toBeLessThanOrEqual(maxTokens);
          given.push(...found.messages);
          expect(await store.consolidated(found, { keepMessages: 4, signal })).toBe(true);
          found = await next(store, "a", { maxTokens, keepTokens });
        }
        const spoken = (all: readonly StoredMessage[]) =>
          all.filter(({ role }) => role === "user").map(({ content }) => content);
        const left = lines.slice(
          lines.findIndex((line) => !given.some(({ content }) => content === line.content)),
        );
        expect(spoken(lines).slice(0, spoken(given).length)).toEqual(spoken(given));
        if (keepTokens === 0) {
          const last = turns.at(-1);
          expect(spoken(given)).toHaveLength(turns.length - (last?.isAnswered ? 0 : 1));
        } else if (given.length < lines.length) {
          expect(left.some(beginsTurn)).toBe(true);
        }
        // What is not in memory is in sight.
        const inSight = await contents(store, "a");
        for (const line of spoken(lines).slice(spoken(given).length)) expect(inSight).toContain(line);
      },
    ),
    { numRuns: 40 },
  );
});
