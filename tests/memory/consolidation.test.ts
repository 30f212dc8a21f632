import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ChatMessage, ChatReply, ModelErrorKind } from "../../src/core/model.ts";
import type { StoredMessage } from "../../src/core/session.ts";
import { estimateTokens } from "../../src/lib/estimate.ts";
import { messagesTokens } from "../../src/lib/request-tokens.ts";
import { createFakeClock } from "../fakes/clock.ts";
import type { Scripted } from "../fakes/model.ts";
import { tempFolder } from "../fakes/temp.ts";
import { until } from "../fakes/until.ts";
import {
  createWorld,
  fileOf,
  rememberAll,
  START,
  saves,
  say,
  shown,
  signal,
  turnOf,
  type World,
} from "./fixture.ts";

const KEY = "telegram:1";

const error = (kind: ModelErrorKind, message = `no: ${kind}`): Scripted => ({ error: { kind, message } });

function lastPrompt({ model }: World): string {
  return (
    model.requests
      .at(-1)
      ?.messages.map(({ content }) => content)
      .join("\n") ?? ""
  );
}

const left = ({ sessions }: World, key = KEY) =>
  sessions.unconsolidated({ key }, { maxTokens: 1_000_000, keepTokens: 0, signal });

function writeFacts({ workspace }: World, text: string): void {
  mkdirSync(join(workspace, "memory"), { recursive: true });
  writeFileSync(join(workspace, "memory", "MEMORY.md"), text);
}

/** Lets failed attempts go on until nothing is left to do. */
async function patiently({ consolidation, clock }: World): Promise<void> {
  let isSettled = false;
  const settled = consolidation.settled(signal).then(() => {
    isSettled = true;
  });
  while (!isSettled) {
    await Promise.race([settled, clock.whenPending(1)]);
    if (!isSettled) await clock.advance(10_000);
  }
}

test("createConsolidation() puts whole turns into the history, then into the facts, and marks them", async () => {
  const world = createWorld({ script: [saves("Ada planned a trip to Linz.", "- Name: Ada")] });
  await say(world, KEY, ...turnOf("I am Ada. Plan a trip to Linz."), { role: "user", content: "And" });
  await rememberAll(world, KEY);
  expect(fileOf(world, "HISTORY.md")).toBe("[2026-11-30 09:00] Ada planned a trip to Linz.\n");
  expect(fileOf(world, "MEMORY.md")).toBe("- Name: Ada\n");
  expect(await left(world)).toBeUndefined();
  expect(await shown(world, KEY)).toEqual({
    contents: ["I am Ada. Plan a trip to Linz.", "Yes.", "And"],
    summary: "Ada planned a trip to Linz.",
  });
});

test("createConsolidation() shows the model the facts, the time and what was said, and nothing of the runtime block", async () => {
  const world = createWorld({ script: [saves("A file was read.")] });
  writeFacts(world, "- Likes tea\n");
  const timestamp = "2026-11-30T08:00:00.000Z";
  const call = {
    id: "1",
    type: "function" as const,
    function: { name: "read_file", arguments: '{"path":"a"}' },
  };
  await say(
    world,
    KEY,
    { role: "user", content: "Read it", runtime: "[Runtime Context] secret clock", timestamp },
    { role: "assistant", content: "", tool_calls: [call], reasoning_content: "hidden thought" },
    { role: "tool", tool_call_id: "1", name: "read_file", content: `first line\n${"x".repeat(5_000)}` },
    { role: "assistant", content: "It says first.", timestamp: "2026-03-01T10:00:00.5" },
  );
  await rememberAll(world, KEY);
  const prompt = lastPrompt(world);
  for (const part of [
    "- Likes tea",
    "2026-11-30 10:00 (Europe/Vienna)",
    "[2026-11-30 09:00] USER: Read it",
    "ASSISTANT: [calls read_file]",
    "TOOL: read_file: first line x",
    "[2026-03-01 10:00] ASSISTANT: It says first.",
  ])
    expect(prompt).toContain(part);
  expect(prompt).not.toContain("secret clock");
  expect(prompt).not.toContain("hidden thought");
  expect(prompt).not.toContain("x".repeat(400));
  const [request] = world.model.requests;
  expect(request?.toolChoice).toEqual({ name: "save_memory" });
  expect(request?.tools[0]?.parameters).toMatchObject({
    properties: { history_entry: { type: "string" }, memory_update: { type: "string" } },
    required: ["history_entry"],
  });
  expect(fileOf(world, "MEMORY.md")).toBe("- Likes tea\n");
});

test("turnEnded() consolidates only a conversation that is near its budget, down to the ratio, oldest first", async () => {
  const world = createWorld({ script: [saves("The first half.")] });
  let tokens = 0;
  for (let index = 0; index < 40; index++) tokens = await say(world, KEY, ...turnOf(`turn ${index}`));
  world.consolidation.turnEnded({ key: KEY, tokens: 850, budget: 1_000 });
  await world.consolidation.settled(signal);
  expect(world.model.requests).toHaveLength(0);
  const budget = Math.floor(tokens / 0.9);
  world.consolidation.turnEnded({ key: KEY, tokens, budget });
  await world.consolidation.settled(signal);
  expect(world.model.requests).toHaveLength(1);
  const { contents } = await shown(world, KEY);
  const now = messagesTokens(contents.map((content): ChatMessage => ({ role: "user", content })));
  expect(now).toBeLessThanOrEqual(budget * 0.5);
  expect(now).toBeGreaterThan(budget * 0.4);
  expect(contents.at(-2)).toBe("turn 39");
});

test("turnEnded() takes a long conversation in batches that one question holds", async () => {
  const world = createWorld({ promptTokens: 3_000 });
  for (let index = 0; index < 60; index++)
    await say(world, KEY, ...turnOf(`turn ${index} ${"word ".repeat(120)}`));
  world.model.push(...Array.from({ length: 30 }, (_, index) => saves(`Part ${index}.`)));
  await rememberAll(world, KEY);
  expect(world.model.requests.length).toBeGreaterThan(3);
  for (const { messages } of world.model.requests) expect(messagesTokens(messages)).toBeLessThan(3_000);
  expect(await left(world)).toBeUndefined();
  const asked = world.model.requests.map(({ messages }) => messages[1]?.content ?? "").join("\n");
  for (let index = 0; index < 60; index++) expect(asked.split(`USER: turn ${index} `)).toHaveLength(2);
});

test("turnEnded() takes many short lines in batches that fit as text", async () => {
  const world = createWorld({ promptTokens: 3_000 });
  await say(world, KEY, ...Array.from({ length: 400 }, () => turnOf("k", "k")).flat());
  world.model.push(...Array.from({ length: 40 }, () => saves("Small talk.")));
  await rememberAll(world, KEY);
  for (const { messages } of world.model.requests) expect(messagesTokens(messages)).toBeLessThan(3_000);
  expect(await left(world)).toBeUndefined();
});

test("turnEnded() leaves jobs, the heartbeat and subagents alone", async () => {
  const world = createWorld();
  for (const key of ["heartbeat", "cron:7", "subagent:1"]) {
    await say(world, key, ...turnOf("do it"));
    await rememberAll(world, key);
  }
  expect(world.model.requests).toHaveLength(0);
});

test("archived() consolidates all that the file holds", async () => {
  const world = createWorld({ script: [saves("A goodbye.")] });
  await say(world, KEY, ...turnOf("hello"), { role: "user", content: "unanswered" });
  const session = await world.sessions.open(KEY, { signal });
  const path = (await session.archive()) ?? "";
  await session.close();
  world.consolidation.archived({ key: KEY, path });
  await world.consolidation.settled(signal);
  expect(fileOf(world, "HISTORY.md")).toContain("A goodbye.");
  expect(lastPrompt(world)).toContain("unanswered");
  const rest = { maxTokens: 1_000, keepTokens: 0, signal };
  expect(await world.sessions.unconsolidated({ archive: path }, rest)).toBeUndefined();
  world.consolidation.archived({ key: KEY, path });
  await world.consolidation.settled(signal);
  expect(world.model.requests).toHaveLength(1);
});

test("createConsolidation() turns what the model gives instead of text into text", async () => {
  const given: readonly [unknown, string][] = [
    [{ summary: "x of the day" }, "x of the day"],
    [["First thing", { who: "Ada", what: "left" }], "- First thing\n- who: Ada\n  what: left"],
    [{ topic: "Trip", days: 3, done: false }, "topic: Trip\ndays: 3\ndone: false"],
    [42, "42"],
    ["<think>hm</think>Said plainly.", "Said plainly."],
  ];
  for (const [entry, expected] of given) {
    const world = createWorld({ script: [saves(entry, ["a", { b: "c" }])] });
    await say(world, KEY, ...turnOf("hello"));
    await rememberAll(world, KEY);
    expect(fileOf(world, "HISTORY.md")).toBe(`[2026-11-30 09:00] ${expected}\n`);
    expect(fileOf(world, "MEMORY.md")).toBe("- a\n- c\n");
    expect(await left(world)).toBeUndefined();
  }
});

test("createConsolidation() takes arguments in a string, in an envelope, in a fence, and spoken instead of called", async () => {
  const args = { history_entry: "They met.", memory_update: "```markdown\n- Met\n```" };
  const scripts: Scripted[] = [
    { calls: [{ name: "save_memory", arguments: JSON.stringify(JSON.stringify(args)) }] },
    { calls: [{ name: "save_memory", arguments: { arguments: args } }] },
    JSON.stringify(args),
    `\`\`\`json\n${JSON.stringify({ history_entry: "They met.", memory_update: ["Met"] })}\n\`\`\``,
  ];
  for (const script of scripts) {
    const world = createWorld({ script: [script] });
    await say(world, KEY, ...turnOf("hello"));
    await rememberAll(world, KEY);
    expect(fileOf(world, "HISTORY.md")).toBe("[2026-11-30 09:00] They met.\n");
    expect(fileOf(world, "MEMORY.md")).toBe("- Met\n");
  }
});

test("createConsolidation() takes a plain answer for the entry, and nothing that is empty", async () => {
  const spoken = createWorld({ script: ["They talked about boats."] });
  await say(spoken, KEY, ...turnOf("hello"));
  await rememberAll(spoken, KEY);
  expect(fileOf(spoken, "HISTORY.md")).toContain("They talked about boats.");
  for (const empty of [
    saves(null),
    saves(""),
    saves("<think>only</think>"),
    saves({}),
    saves([]),
    "",
  ] as Scripted[]) {
    const world = createWorld({ script: [empty, saves("Second try.")] });
    await say(world, KEY, ...turnOf("hello"));
    world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
    await patiently(world);
    expect(fileOf(world, "HISTORY.md")).toBe("[2026-11-30 09:00] Second try.\n");
  }
});

test("createConsolidation() never writes an empty text, [object Object] or a loss of most facts into MEMORY.md", async () => {
  const facts =
    "# Memory\n- Name: Ada\n- Lives in Graz\n- Allergic to peanuts\n- Builds a boat\n- Has a cat\n";
  for (const update of [
    "",
    null,
    {},
    [],
    { a: {} },
    "# Memory\n",
    "- Talked about the weather",
    ["a"],
    "y ".repeat(20_000),
  ]) {
    const world = createWorld({ script: [saves("Talked.", update)] });
    writeFacts(world, facts);
    await say(world, KEY, ...turnOf("hello"));
    await rememberAll(world, KEY);
    expect(fileOf(world, "MEMORY.md")).toBe(facts);
    expect(fileOf(world, "HISTORY.md")).toContain("Talked.");
    expect(await left(world)).toBeUndefined();
  }
});

test("createConsolidation() says why it refused a new text, and keeps the version it replaced", async () => {
  const facts = "- Name: Ada\n- Lives in Graz\n- Allergic to peanuts\n- Builds a boat\n";
  const world = createWorld({ script: [saves("One.", "- Weather"), saves("Two.", `${facts}- Has a cat`)] });
  writeFacts(world, facts);
  await say(world, KEY, ...turnOf("one"));
  await rememberAll(world, KEY);
  expect(world.log.lines.join("\n")).toContain("it would drop most of the facts");
  await say(world, KEY, ...turnOf("two"));
  await rememberAll(world, KEY);
  expect(fileOf(world, "MEMORY.md")).toBe(`${facts}- Has a cat\n`);
  const [version] = await world.memory.versions();
  expect(await world.memory.version(version?.id ?? "")).toBe(facts);
});

/** A reply that comes when somebody has edited `MEMORY.md`. */
function editing(world: () => World, text: string, args: Readonly<Record<string, string>>): Scripted {
  return async () => {
    writeFacts(world(), text);
    return calling(args);
  };
}

function calling(args: Readonly<Record<string, string>>): ChatReply {
  const call = { id: "1", name: "save_memory", arguments: JSON.stringify(args) };
  return { ok: true, content: "", toolCalls: [call], finishReason: "tool_calls" };
}

test("createConsolidation() asks again when MEMORY.md was edited during the call, and loses neither edit", async () => {
  const world: World = createWorld();
  const first = { history_entry: "First.", memory_update: "- Likes tea\n- Has a cat" };
  world.model.push(
    editing(() => world, "- Likes tea\n- By hand\n", first),
    saves("Second.", "- Likes tea\n- By hand\n- Has a cat"),
  );
  writeFacts(world, "- Likes tea\n");
  await say(world, KEY, ...turnOf("I have a cat"));
  await rememberAll(world, KEY);
  expect(lastPrompt(world)).toContain("- By hand");
  expect(fileOf(world, "MEMORY.md")).toBe("- Likes tea\n- By hand\n- Has a cat\n");
  expect(fileOf(world, "HISTORY.md")).toBe("[2026-11-30 09:00] Second.\n");
});

test("createConsolidation() leaves MEMORY.md alone when it is edited each time, and still moves on", async () => {
  let edits = 0;
  const world: World = createWorld();
  const edit: Scripted = async () => {
    writeFacts(world, `- Edit ${++edits}\n`);
    return calling({ history_entry: `Try ${edits}.`, memory_update: "- Edit of mine" });
  };
  world.model.push(edit, edit, edit, edit);
  await say(world, KEY, ...turnOf("hello"));
  await rememberAll(world, KEY);
  expect(edits).toBe(3);
  expect(fileOf(world, "MEMORY.md")).toBe("- Edit 3\n");
  expect(fileOf(world, "HISTORY.md")).toBe("[2026-11-30 09:00] Try 3.\n");
  expect(await left(world)).toBeUndefined();
});

test("createConsolidation() of two processes at once works on one conversation at a time and keeps what both learnt", async () => {
  const workspace = tempFolder();
  const calls: string[] = [];
  let running = 0;
  const remembering =
    (name: string): Scripted =>
    async (request) => {
      calls.push(name);
      expect(++running).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      const prompt = request.messages[1]?.content ?? "";
      const known = [...prompt.matchAll(/^- .*$/gm)].map(([line]) => line);
      return calling({
        history_entry: `${name} spoke.`,
        memory_update: [...known, `- ${name} was here`].join("\n"),
      });
    };
  const worlds = ["one", "two", "three"].map((name) =>
    createWorld({ workspace, script: [remembering(name)] }),
  );
  await Promise.all(worlds.map((world, index) => say(world, `cli:${index}`, ...turnOf("hello"))));
  await Promise.all(worlds.map((world, index) => rememberAll(world, `cli:${index}`)));
  expect(calls.sort()).toEqual(["one", "three", "two"]);
  const [world] = worlds as [World, ...World[]];
  for (const name of calls) {
    expect(fileOf(world, "MEMORY.md")).toContain(`- ${name} was here`);
    expect(fileOf(world, "HISTORY.md")).toContain(`${name} spoke.`);
  }
});

test("createConsolidation() tries a model that fails three times, with waits, and then keeps what was said as it was", async () => {
  const world = createWorld({ script: [error("transient"), error("badRequest"), error("contentFilter")] });
  await say(world, KEY, ...turnOf("My name is Ada", "Hello\nAda"));
  world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
  await world.clock.whenPending(1);
  expect(world.model.requests).toHaveLength(1);
  await world.clock.advance(29_000);
  expect(world.model.requests).toHaveLength(1);
  await patiently(world);
  expect(world.model.requests).toHaveLength(3);
  expect(world.clock.now() - START).toBeGreaterThanOrEqual(150_000);
  expect(fileOf(world, "HISTORY.md")).toBe(
    "[2026-11-30 09:00] [RAW] 2 messages\n  [2026-11-30 09:00] USER: My name is Ada\n  [2026-11-30 09:00] ASSISTANT: Hello Ada\n",
  );
  expect(await left(world)).toBeUndefined();
  expect((await shown(world, KEY)).summary).toBe("");
});

test("createConsolidation() with a model that always fails makes few calls of a bounded size over 30 messages", async () => {
  const world = createWorld({ promptTokens: 4_000 });
  world.model.push(...Array.from({ length: 500 }, () => error("transient", "timed out")));
  for (let index = 0; index < 30; index++) {
    const tokens = await say(world, KEY, ...turnOf(`message ${index} ${"word ".repeat(100)}`));
    world.consolidation.turnEnded({ key: KEY, tokens, budget: 2_000 });
    await world.clock.advance(10_000);
  }
  await patiently(world);
  const calls = world.model.requests;
  expect(calls.length).toBeGreaterThanOrEqual(3);
  expect(calls.length).toBeLessThanOrEqual(12);
  for (const { messages } of calls) expect(messagesTokens(messages)).toBeLessThan(4_000);
  const history = fileOf(world, "HISTORY.md");
  const tail = (await left(world))?.messages.map(({ content }) => content).join("\n") ?? "";
  for (let index = 0; index < 30; index++) expect(`${history}\n${tail}`).toContain(`message ${index} word`);
  expect(history).toContain("message 0 word");
});

test("createConsolidation() keeps each message of a long batch in what it keeps raw", async () => {
  const world = createWorld({ offline: true, promptTokens: 60_000 });
  const lines = Array.from({ length: 100 }, (_, index) =>
    turnOf(`message ${index} ${"long ".repeat(200)}`),
  ).flat();
  await say(world, KEY, ...lines);
  await rememberAll(world, KEY);
  expect(world.model.requests).toHaveLength(0);
  const history = fileOf(world, "HISTORY.md");
  for (let index = 0; index < 100; index++) expect(history).toContain(`USER: message ${index} `);
  for (const entry of history.split(/^(?=\[)/m)) expect(entry.length).toBeLessThan(16_100);
});

test("createConsolidation() waits while the provider refuses, without counting that, however long it takes", async () => {
  const world = createWorld({
    script: [error("quota"), error("auth"), error("quota"), error("auth"), error("quota"), saves("At last.")],
  });
  await say(world, KEY, ...turnOf("hello"));
  world.pauses.leftMs = 60_000;
  world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
  await world.clock.whenPending(1);
  expect(world.model.requests).toHaveLength(0);
  world.pauses.leftMs = 0;
  await patiently(world);
  expect(world.model.requests).toHaveLength(6);
  expect(world.clock.now() - START).toBeGreaterThanOrEqual(25 * 60_000);
  expect(fileOf(world, "HISTORY.md")).toBe("[2026-11-30 09:00] At last.\n");
});

test("createConsolidation() goes on soon after a pause of hours that ends before its time", async () => {
  const world = createWorld({ script: [saves("At last.")] });
  await say(world, KEY, ...turnOf("hello"));
  world.pauses.leftMs = 6 * 60 * 60_000;
  world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
  await world.clock.whenPending(1);
  world.pauses.leftMs = 0;
  await patiently(world);
  expect(world.model.requests).toHaveLength(1);
  // The clock goes on by some steps while the last words are written.
  expect(world.clock.now() - START).toBeLessThan(10 * 60_000);
});

test("createConsolidation() asks in smaller parts after a prompt that was too long", async () => {
  const world = createWorld({
    script: [error("contextOverflow"), ...["First.", "Second.", "Third."].map((entry) => saves(entry))],
  });
  for (let index = 0; index < 40; index++)
    await say(world, KEY, ...turnOf(`turn ${index} ${"word ".repeat(300)}`));
  world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
  await patiently(world);
  const [first, second] = world.model.requests.map(({ messages }) => messagesTokens(messages));
  expect(second).toBeLessThan((first ?? 0) * 0.7);
  expect(fileOf(world, "HISTORY.md")).toContain("Second.");
  expect(await left(world)).toBeUndefined();
});

test("createConsolidation() finds out once how long a prompt may be, and not for each part anew", async () => {
  const world = createWorld();
  const takes: Scripted = async ({ messages }) =>
    messagesTokens(messages) > 4_000
      ? { ok: false, error: { kind: "contextOverflow", message: "too long", retryable: false }, partial: "" }
      : calling({ history_entry: "A part." });
  world.model.push(...Array.from({ length: 40 }, () => takes));
  for (let index = 0; index < 40; index++)
    await say(world, KEY, ...turnOf(`turn ${index} ${"word ".repeat(300)}`));
  world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
  await patiently(world);
  const tooLong = world.model.requests.filter(({ messages }) => messagesTokens(messages) > 4_000);
  expect(tooLong).toHaveLength(2);
  expect(fileOf(world, "HISTORY.md")).not.toContain("[RAW]");
  expect(await left(world)).toBeUndefined();
});

test("createConsolidation() asks for the entry alone when the model had more to say than it may", async () => {
  const cut: Scripted = async () => ({
    ok: true,
    content: "",
    toolCalls: [
      { id: "1", name: "save_memory", arguments: '{"history_entry":"Long","memory_update":"- One\\n- T' },
    ],
    finishReason: "length",
    cutOff: true,
  });
  const world = createWorld({ script: [cut, saves("Short.", "- Gone")] });
  writeFacts(world, "- One\n- Two\n");
  await say(world, KEY, ...turnOf("hello"));
  world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
  await patiently(world);
  expect(lastPrompt(world)).toContain("Leave memory_update out");
  expect(fileOf(world, "HISTORY.md")).toBe("[2026-11-30 09:00] Short.\n");
  expect(fileOf(world, "MEMORY.md")).toBe("- One\n- Two\n");
});

test("createConsolidation() writes the history when MEMORY.md cannot be read or shown", async () => {
  const large = createWorld({ script: [saves("Large.", "- Gone")], promptTokens: 2_000 });
  writeFacts(large, "- A fact of many words that goes on\n".repeat(500));
  const folder = createWorld({ script: [saves("Folder.", "- Gone")] });
  mkdirSync(join(folder.workspace, "memory", "MEMORY.md"), { recursive: true });
  for (const [world, entry] of [
    [large, "Large."],
    [folder, "Folder."],
  ] as const) {
    await say(world, KEY, ...turnOf("hello"));
    await rememberAll(world, KEY);
    expect(lastPrompt(world)).toContain("Leave memory_update out");
    expect(estimateTokens(lastPrompt(world))).toBeLessThan(2_000);
    expect(fileOf(world === large ? world : large, "MEMORY.md")).toContain("A fact of many words");
    expect(await world.memory.history({ limit: 1 })).toMatchObject([{ text: entry }]);
    expect(await left(world)).toBeUndefined();
  }
});

test("createConsolidation() asks no model again and again when the history cannot be written", async () => {
  const world = createWorld();
  world.model.push(...Array.from({ length: 50 }, () => saves("Said.")));
  mkdirSync(join(world.workspace, "memory", "HISTORY.md"), { recursive: true });
  await say(world, KEY, ...turnOf("hello"));
  for (let index = 0; index < 60; index++) {
    world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
    await world.clock.advance(60_000);
    await until(() => world.clock.pending > 0);
  }
  expect(world.model.requests.length).toBeLessThanOrEqual(3);
  expect(await left(world)).toBeDefined();
});

test("createConsolidation() marks without asking again when only the mark failed", async () => {
  let failures = 2;
  const world = createWorld({
    script: [saves("Once.")],
    wrapSessions: (sessions) => ({
      ...sessions,
      consolidated: (turns, options) =>
        failures-- > 0 ? Promise.reject(new Error("disk")) : sessions.consolidated(turns, options),
    }),
  });
  await say(world, KEY, ...turnOf("hello"));
  world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
  await patiently(world);
  expect(world.model.requests).toHaveLength(1);
  expect(fileOf(world, "HISTORY.md")).toBe("[2026-11-30 09:00] Once.\n");
  expect(await left(world)).toBeUndefined();
});

test("createConsolidation() does not keep others waiting for a session whose turn goes on", async () => {
  const world = createWorld({ script: [saves("One."), saves("Two.")] });
  await say(world, KEY, ...turnOf("hello"));
  await say(world, "cli:direct", ...turnOf("hello"));
  const busy = await world.sessions.open(KEY, { signal });
  world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
  world.consolidation.turnEnded({ key: "cli:direct", tokens: 1, budget: 1 });
  await world.clock.whenPending(1);
  await world.clock.advance(10_000);
  await until(() => fileOf(world, "HISTORY.md").includes("Two."));
  expect(await left(world)).toBeDefined();
  await busy.append(turnOf("more"), { sync: false });
  await busy.close();
  await patiently(world);
  expect(world.model.requests).toHaveLength(2);
  expect((await left(world))?.messages.map(({ content }) => content)).toEqual(["more", "Yes."]);
});

test("turnEnded() while its session is worked on starts nothing twice, and what came meanwhile is not forgotten", async () => {
  const world: World = createWorld();
  world.model.push(async (request, options) => {
    await say(world, KEY, ...turnOf("second"));
    world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
    world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
    world.model.push(saves("One."));
    return world.model.chat(request, options);
  });
  await say(world, KEY, ...turnOf("first"));
  const settled = rememberAll(world, KEY);
  await until(() => fileOf(world, "HISTORY.md").includes("One."));
  world.model.push(saves("Two."));
  await settled;
  expect(fileOf(world, "HISTORY.md").match(/One\.|Two\./g)).toEqual(["One.", "Two."]);
  expect(await left(world)).toBeUndefined();
});

test("createConsolidation() that is not patient tries three times without a wait, and leaves the rest to the next process", async () => {
  const failing = createWorld({ isPatient: false, script: [error("transient"), "", saves(null)] });
  await say(failing, KEY, ...turnOf("hello"));
  await rememberAll(failing, KEY);
  expect(failing.model.requests).toHaveLength(3);
  expect(fileOf(failing, "HISTORY.md")).toContain("[RAW] 2 messages");
  const broke = createWorld({ isPatient: false, script: [error("quota")] });
  await say(broke, KEY, ...turnOf("hello"));
  await rememberAll(broke, KEY);
  expect(fileOf(broke, "HISTORY.md")).toBe("");
  expect(await left(broke)).toBeDefined();
});

test("createConsolidation() that is not patient warns at most once, in a few words, of what failed", async () => {
  for (const kind of ["transient", "quota"] as const) {
    const world = createWorld({ isPatient: false, script: Array(9).fill(error(kind)) });
    const keys = ["cli:a", "cli:b", "cli:c"];
    for (const key of keys) {
      await say(world, key, ...turnOf("hello"));
      world.consolidation.turnEnded({ key, tokens: 1, budget: 1 });
    }
    await world.consolidation.settled(signal);
    const loud = world.log.lines.filter((line) => !line.startsWith("info "));
    expect(loud).toEqual([
      kind === "quota"
        ? "warn Memory waits for the model's provider"
        : "warn Kept a part of a conversation as it was said, because no model summed it up",
    ]);
    for (const key of keys) expect(world.log.lines.join("\n")).toContain(key);
  }
});

test("settled() gives up what is going on when its signal aborts, without harm", async () => {
  const world = createWorld({ script: [{ hang: true }] });
  await say(world, KEY, ...turnOf("hello"));
  world.consolidation.turnEnded({ key: KEY, tokens: 1, budget: 1 });
  await until(() => world.model.requests.length === 1);
  const end = new AbortController();
  const settled = world.consolidation.settled(end.signal);
  end.abort();
  await settled;
  expect(fileOf(world, "HISTORY.md")).toBe("");
  expect(await left(world)).toBeDefined();
  const next = createWorld({ workspace: world.workspace, script: [saves("Later.")] });
  await rememberAll(next, KEY);
  expect(fileOf(next, "HISTORY.md")).toContain("Later.");
});

test("settled() resolves at once when nothing was asked for", async () => {
  await createWorld().consolidation.settled(signal);
});

async function running(world: World, work: () => Promise<void>): Promise<void> {
  const end = new AbortController();
  const run = world.consolidation.run(end.signal);
  await world.clock.whenPending(1);
  await work();
  end.abort();
  await run;
}

test("run() consolidates a session that is silent, once, and keeps its last messages in sight", async () => {
  const world = createWorld({ script: [saves("Silence.")] });
  for (let index = 0; index < 10; index++) await say(world, KEY, ...turnOf(`turn ${index}`));
  await running(world, async () => {
    world.consolidation.turnEnded({ key: KEY, tokens: 10, budget: 1_000 });
    await world.clock.advance(14 * 60_000);
    expect(world.model.requests).toHaveLength(0);
    await world.clock.advance(2 * 60_000);
    await world.consolidation.settled(signal);
    await world.clock.advance(60 * 60_000);
    await world.consolidation.settled(signal);
  });
  expect(world.model.requests).toHaveLength(1);
  const { contents, summary } = await shown(world, KEY);
  expect(contents).toHaveLength(8);
  expect(contents.at(-2)).toBe("turn 9");
  expect(summary).toBe("Silence.");
});

test("run() waits for silence since the last turn, and for ever with 0 minutes", async () => {
  const world = createWorld({ idleMinutes: 0 });
  await say(world, KEY, ...turnOf("hello"));
  const end = new AbortController();
  const run = world.consolidation.run(end.signal);
  world.consolidation.turnEnded({ key: KEY, tokens: 10, budget: 1_000 });
  await world.clock.advance(24 * 60 * 60_000);
  await world.consolidation.settled(signal);
  end.abort();
  await run;
  expect(world.model.requests).toHaveLength(0);
  const talking = createWorld();
  await running(talking, async () => {
    for (let index = 0; index < 10; index++) {
      await say(talking, KEY, ...turnOf("hello"));
      talking.consolidation.turnEnded({ key: KEY, tokens: 10, budget: 1_000 });
      await talking.clock.advance(10 * 60_000);
    }
    await talking.consolidation.settled(signal);
  });
  expect(talking.model.requests).toHaveLength(0);
});

function touch(path: string, ms: number): void {
  utimesSync(path, ms / 1_000, ms / 1_000);
}

test("run() finds what earlier processes left: archives and silent sessions of the last days, and no others", async () => {
  const workspace = tempFolder();
  const before = createWorld({ workspace });
  const day = 24 * 60 * 60_000;
  const ages: readonly [string, number][] = [
    ["fresh", 60_000],
    ["silent", day],
    ["old", 8 * day],
  ];
  for (const [name, age] of ages) {
    await say(before, `cli:${name}`, ...turnOf(`said in ${name}`));
    touch(await before.sessions.path(`cli:${name}`), START - age);
    await say(before, `cli:gone-${name}`, ...turnOf(`said in gone ${name}`));
    const session = await before.sessions.open(`cli:gone-${name}`, { signal });
    touch((await session.archive()) ?? "", START - age);
    await session.close();
    await say(before, `cron:${name}`, ...turnOf("a job"));
    touch(await before.sessions.path(`cron:${name}`), START - day);
  }
  const world = createWorld({ workspace });
  world.model.push(...Array.from({ length: 20 }, (_, index) => saves(`Entry ${index}.`)));
  await running(world, async () => {
    await world.consolidation.settled(signal);
    const asked = () =>
      world.model.requests.map(({ messages }) => /said in [a-z ]+/.exec(messages[1]?.content ?? "")?.[0]);
    expect(asked()).toEqual(["said in gone silent", "said in gone fresh", "said in silent"]);
    await world.clock.advance(20 * 60_000);
    await world.consolidation.settled(signal);
    expect(asked().slice(3)).toEqual(["said in fresh"]);
  });
  const again = createWorld({ workspace, clock: createFakeClock(START + 60_000) });
  await running(again, () => again.consolidation.settled(signal));
  expect(again.model.requests).toHaveLength(0);
});

test("run() goes on when the sessions cannot be listed", async () => {
  const world = createWorld({
    script: [saves("Silence.")],
    wrapSessions: (sessions) => ({ ...sessions, files: () => Promise.reject(new Error("no folder")) }),
  });
  await say(world, KEY, ...turnOf("hello"));
  await running(world, async () => {
    world.consolidation.turnEnded({ key: KEY, tokens: 10, budget: 1_000 });
    await world.clock.advance(17 * 60_000);
    await world.consolidation.settled(signal);
  });
  expect(world.model.requests).toHaveLength(1);
  expect(world.log.lines.join("\n")).toContain("Could not look for conversations");
});

test("createConsolidation() bounds what flows back into the prompt, whatever the model wrote", async () => {
  const world = createWorld({ script: [saves("word ".repeat(40_000), "x")] });
  await say(world, KEY, ...turnOf("hello"));
  await rememberAll(world, KEY);
  expect((await shown(world, KEY)).summary.length).toBeLessThanOrEqual(2_000);
  expect(fileOf(world, "HISTORY.md").length).toBeLessThan(8_100);
});

test("createConsolidation() works on a session in which a page of 200 kB was read", async () => {
  const world = createWorld({ script: [saves("A page.")], promptTokens: 4_000 });
  const call = { id: "1", type: "function" as const, function: { name: "web_fetch", arguments: "{}" } };
  const page: StoredMessage = {
    role: "tool",
    tool_call_id: "1",
    name: "web_fetch",
    content: "error ".repeat(35_000),
  };
  await say(
    world,
    KEY,
    { role: "user", content: "Read it" },
    { role: "assistant", content: "", tool_calls: [call] },
    page,
    { role: "assistant", content: "Done." },
  );
  await rememberAll(world, KEY);
  expect(messagesTokens(world.model.requests[0]?.messages ?? [])).toBeLessThan(2_000);
  expect(fileOf(world, "HISTORY.md")).toContain("A page.");
});

test("createConsolidation() passes over damage in a session", async () => {
  const world = createWorld({ script: [saves("Both.")] });
  await say(world, KEY, ...turnOf("one"));
  appendFileSync(await world.sessions.path(KEY), `{"role":"user","cont\n${"\0".repeat(9_000)}\n`);
  await say(world, KEY, ...turnOf("two"));
  await rememberAll(world, KEY);
  expect(lastPrompt(world)).toContain("USER: two");
  expect(readFileSync(await world.sessions.path(KEY)).includes(0)).toBe(true);
  expect(await left(world)).toBeUndefined();
});
