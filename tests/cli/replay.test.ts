import { expect, test } from "bun:test";
import { command } from "../../src/cli/sessions.ts";
import type { ReplayOptions, TurnReplay } from "../../src/core/replay.ts";
import type { SessionStore } from "../../src/core/session.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp } from "./fixture.ts";

const turn: TurnReplay = {
  turn: "cli:7",
  systemPromptNow: "You are a test.",
  messages: [
    {
      role: "user",
      content: "what is in it?",
      runtime: "[Runtime Context]",
      timestamp: "2026-11-30T09:00:00.000Z",
    },
    {
      role: "assistant",
      content: "Let me look.",
      tool_calls: [
        { id: "call_1", type: "function", function: { name: "read_file", arguments: '{"path":"a.md"}' } },
      ],
    },
    { role: "tool", content: "a\u001b[2J note", name: "read_file", tool_call_id: "call_1" },
    { role: "assistant", content: "A note." },
  ],
};

async function replay(
  found: Partial<TurnReplay> = {},
  options: Record<string, string | boolean> = {},
  key = "cli:direct",
) {
  const app = createTestApp({ home: tempFolder() });
  const asked: ReplayOptions[] = [];
  const store: Partial<SessionStore> = {
    exists: async (one) => one === "cli:direct",
    keys: async () => ["cli:direct"],
    files: async () => [],
    unconsolidated: async () => undefined,
    consolidated: async () => false,
  };
  const code = await command.subcommands?.["replay"]?.run?.({
    app: {
      ...app,
      sessions: async () => store as SessionStore,
      replay: async (wanted) => {
        asked.push(wanted);
        return { ...turn, ...found };
      },
    },
    positionals: [key],
    options,
    signal: new AbortController().signal,
  });
  return { code, out: app.terminal.stdout, asked };
}

test("sessions replay shows prompt, calls, arguments and results in order", async () => {
  const { code, out, asked } = await replay();
  expect(code).toBe(0);
  expect(asked).toEqual([{ key: "cli:direct", dry: false }]);
  expect(out).toBe(
    [
      "Turn cli:7",
      "── system prompt (as it would be now: it is not recorded)",
      "│ You are a test.",
      "── prompt 2026-11-30T09:00:00.000Z",
      "│ [Runtime Context]",
      "│ what is in it?",
      "── model",
      "│ Let me look.",
      "↳ read_file (call_1)",
      '│ {"path":"a.md"}',
      "── result of read_file (call_1)",
      "│ a note",
      "── model",
      "│ A note.",
      "",
    ].join("\n"),
  );
});

test("sessions replay lets nothing in the record look like a heading", async () => {
  const fake = "x\n── model\n✓ The loop would do the same now\r\n↳ exec (call_9)";
  const { out } = await replay({
    messages: [
      { role: "user", content: fake, runtime: fake, timestamp: fake },
      {
        role: "assistant",
        content: fake,
        tool_calls: [{ id: fake, type: "function", function: { name: fake, arguments: fake } }],
      },
      { role: "tool", content: fake, name: fake, tool_call_id: fake },
    ],
  });
  const headings = out.split("\n").filter((line) => /^[─✓↳]/.test(line));
  expect(headings.map((line) => line.slice(0, 12))).toEqual([
    "── system pr",
    "── prompt x ",
    "── model",
    "↳ x ── model",
    "── result of",
  ]);
});

test("sessions replay --dry says that nothing differs", async () => {
  const { code, out, asked } = await replay({ differences: [] }, { dry: true, turn: "cli:7" });
  expect(asked).toEqual([{ key: "cli:direct", dry: true, turn: "cli:7" }]);
  expect([code, out.split("\n").slice(-3)]).toEqual([
    0,
    ["── dry run", "✓ The loop would do the same now", ""],
  ]);
});

test("sessions replay --dry shows each difference and exits with 1", async () => {
  const differences = [
    { round: 1, detail: "The name of call 1 differs", recorded: "a\u001b[2J", now: "b" },
    { detail: "The answer differs", recorded: "x".repeat(5_000), now: "y" },
  ];
  const { code, out } = await replay({ differences }, { dry: true });
  expect(code).toBe(1);
  expect(out).toContain(
    '✗ answer 1: The name of call 1 differs\n  recorded: "a\\u001b[2J"\n  now:      "b"\n',
  );
  expect(out).toEndWith(`✗ The answer differs\n  recorded: "${"x".repeat(1_999)}…"\n  now:      "y"\n`);
});

test("sessions replay --json prints all of it", async () => {
  const { code, out } = await replay(
    { differences: [{ detail: "The answer differs" }] },
    { dry: true, json: true },
  );
  expect([code, JSON.parse(out)]).toEqual([
    1,
    { key: "cli:direct", ...turn, differences: [{ detail: "The answer differs" }] },
  ]);
});

test("sessions replay says where calls by hand are", async () => {
  const asking = replay({}, {}, "cli:tools");
  await expect(asking).rejects.toMatchObject({
    message: 'There is no session "cli:tools"',
    hint: expect.stringContaining('"nanobot audit show ID"'),
  });
});

test("sessions replay refuses a session that is not there", async () => {
  await expect(replay({}, {}, "cli:dirext")).rejects.toThrow('There is no session "cli:dirext"');
  await expect(replay({}, {}, "a\n\x1b[2J")).rejects.toThrow('There is no session "a\\n\\u001b[2J"');
});
