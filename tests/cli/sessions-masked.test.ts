import { expect, test } from "bun:test";
import { command } from "../../src/cli/sessions.ts";
import type { TurnReplay } from "../../src/core/replay.ts";
import type { SessionStore, StoredMessage } from "../../src/core/session.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp } from "./fixture.ts";

const SECRET = "hunter2hunter2";
const PARTED = `hunter2${"\u0007"}hunter2`;

const messages: readonly StoredMessage[] = [
  { role: "user", content: `my password is ${SECRET}`, runtime: SECRET, media: [`/ws/${SECRET}.png`] },
  {
    role: "assistant",
    content: SECRET,
    tool_calls: [
      {
        id: SECRET,
        type: "function",
        // Cut in the middle of the secret where a call is shown as one line.
        function: { name: "exec", arguments: JSON.stringify({ command: `${"x".repeat(190)} ${SECRET}` }) },
      },
    ],
  },
  { role: "tool", content: `it said ${SECRET}`, name: "exec", tool_call_id: SECRET },
  { role: "assistant", content: "You are welcome." },
];

const store: Partial<SessionStore> = {
  exists: async () => true,
  path: async (key) => `/ws/sessions/${key}.jsonl`,
  list: async () => [
    {
      key: `cli:${SECRET}`,
      path: `/ws/${SECRET}`,
      updatedAt: "2026-01-01T00:00:00Z",
      bytes: 1,
      preview: SECRET,
    },
  ],
  async *read() {
    yield* messages;
  },
};

const turn: TurnReplay = {
  systemPromptNow: `You know ${SECRET}.`,
  messages,
  differences: [{ detail: "The answer differs", recorded: `${"y".repeat(1_995)}${SECRET}`, now: SECRET }],
};

async function printed(name: "list" | "show" | "replay", options: Record<string, boolean>) {
  const app = createTestApp({ home: tempFolder() });
  await command.subcommands?.[name]?.run?.({
    app: {
      ...app,
      mask: (text) => text.replaceAll(SECRET, "[masked]"),
      sessions: async () => store as SessionStore,
      replay: async () => turn,
    },
    positionals: [`cli:${SECRET}`],
    options,
    signal: new AbortController().signal,
  });
  return app.terminal.stdout;
}

for (const name of ["list", "show", "replay"] as const) {
  test(`sessions ${name} shows no secret and no part of one`, async () => {
    for (const options of [{}, { json: true }]) {
      const out = await printed(name, options);
      expect(out).toContain("[masked]");
      expect(out).not.toContain("hunt");
    }
  });
}

test("sessions show takes out a secret that only controls had parted", async () => {
  const app = createTestApp({ home: tempFolder() });
  await command.subcommands?.["show"]?.run?.({
    app: {
      ...app,
      mask: (text) => text.replaceAll(SECRET, "[masked]"),
      sessions: async () =>
        ({
          ...store,
          async *read() {
            yield { role: "user", content: PARTED };
          },
        }) as SessionStore,
    },
    positionals: ["cli:direct"],
    options: {},
    signal: new AbortController().signal,
  });
  expect(app.terminal.stdout).toBe("\nuser\n[masked]\n");
});
