import { expect, test } from "bun:test";
import type { ExecSessions } from "../../src/core/exec-sessions.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Jobs } from "../../src/core/schedule.ts";
import type { ToolPorts } from "../../src/core/tool.ts";
import * as registry from "../../src/tools/registry.ts";
import { toolContract } from "../contracts/tool.ts";

const execSessions: Pick<ExecSessions, "list" | "write" | "read"> = {
  list: () => [],
  write: async () => true,
  read: async () => {
    const silent = { head: "", tail: "", omittedBytes: 0 };
    return { stdout: { ...silent, head: "x".repeat(5_000) }, stderr: silent, seen: false };
  },
};

const page = {
  ok: true,
  url: "https://example.com/",
  finalUrl: "https://example.com/",
  status: 200,
  headers: { "content-type": "text/plain" },
  body: new TextEncoder().encode("words ".repeat(1_000)),
  truncated: false,
  downgraded: false,
  isListed: false,
} as const;

const hit = { title: "Title", url: "https://example.com/", snippet: "words ".repeat(1_000) };

const hitInMemory = {
  source: "cli:direct",
  at: "2026-11-30T09:00:00.000Z",
  role: "user",
  excerpt: "words ".repeat(1_000),
} as const;

const jobs: Jobs = {
  timeZone: "UTC",
  list: async () => [],
  add: async ({ name, message, schedule, deliver }) => ({
    id: "a1b2c3d4",
    name,
    message,
    schedule,
    deliver,
    enabled: true,
    misfire: "once",
    deleteAfterRun: false,
    nextRunAtMs: undefined,
    lastRunAtMs: undefined,
    lastStatus: undefined,
    lastError: undefined,
    runs: [],
    createdAtMs: 0,
    updatedAtMs: 0,
  }),
  remove: async () => undefined,
  setEnabled: async () => undefined,
};

const calls: Readonly<Record<string, { args: JsonObject; ports?: Partial<ToolPorts> }>> = {
  apply_patch: {
    args: { edits: [{ path: "notes.md", action: "replace", old_text: "milk", new_text: "oats" }] },
  },
  cron: { args: { action: "add", message: "words ".repeat(500), every_seconds: 60 }, ports: { jobs } },
  edit_file: { args: { path: "notes.md", old_text: "milk", new_text: "oats" } },
  exec: { args: { command: "seq 1 5000", working_dir: "." } },
  find_files: { args: { path: "." } },
  grep: { args: { pattern: "milk", path: "." } },
  list_dir: { args: { path: "." } },
  list_exec_sessions: { args: {}, ports: { execSessions: execSessions as ExecSessions } },
  memory_search: {
    args: { query: "words" },
    ports: { memory: { search: async () => [hitInMemory, hitInMemory] } },
  },
  message: {
    args: { content: "words ".repeat(1_000), channel: "cli", chat_id: "other" },
    ports: { outbound: { send: async ({ channel = "", chatId = "" }) => ({ channel, chatId }) } },
  },
  read_file: { args: { path: "notes.md" } },
  spawn: {
    args: { task: "count the files", wait: true },
    ports: {
      tasks: {
        spawn: async ({ task }) => ({
          task: {
            id: "abc",
            label: "files",
            task,
            sessionKey: "cli:direct",
            state: "done",
            createdAt: "2026-11-30T09:00:00.000Z",
            endedAt: undefined,
            toolCalls: 0,
          },
          result: { state: "done", text: "words ".repeat(1_000) },
        }),
      },
    },
  },
  web_fetch: {
    args: { url: "https://example.com/" },
    ports: { web: { fetch: async () => page, whyRefused: async () => undefined } },
  },
  web_search: {
    args: { query: "words" },
    ports: {
      search: { defaultCount: 5, search: async () => ({ ok: true, engine: "Brave", hits: [hit, hit, hit] }) },
    },
  },
  write_file: { args: { path: "notes.md", content: "oats\n" } },
  write_stdin: {
    args: { session_id: "1", yield_time_ms: 0 },
    ports: { execSessions: execSessions as ExecSessions },
  },
};

test("each tool is held to the contract", () => {
  expect(Object.keys(calls).sort()).toEqual(
    Object.values(registry)
      .map(({ name }) => name)
      .sort(),
  );
});

for (const tool of Object.values(registry)) toolContract({ tool, args: {}, ...calls[tool.name] });
