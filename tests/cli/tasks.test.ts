import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { command } from "../../src/cli/tasks.ts";
import type { JsonObject, JsonValue } from "../../src/core/json.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp } from "./fixture.ts";

const running: JsonObject = {
  id: "abc123",
  label: "look through\nall files",
  task: "look through all files and count them",
  sessionKey: "telegram:1",
  state: "running",
  createdAt: "2026-11-30T09:00:00.000Z",
  endedAt: null,
  toolCalls: 1,
};

async function setUp({
  rows,
  file,
  mask,
}: {
  rows?: JsonValue;
  file?: string;
  mask?: (text: string) => string;
}) {
  const app = createTestApp({ home: tempFolder() });
  const { workspace } = await app.paths();
  if (file !== undefined) {
    mkdirSync(join(workspace, ".nanobot"), { recursive: true });
    writeFileSync(join(workspace, ".nanobot/tasks.json"), file);
  }
  const run = (options = {}) =>
    command.subcommands?.["list"]?.run?.({
      app: {
        ...app,
        ...(mask === undefined ? {} : { mask }),
        askGateway: async (name) => {
          expect(name).toBe("tasks.list");
          return rows === undefined ? { running: false } : { running: true, value: rows };
        },
      },
      positionals: [],
      options,
      signal: new AbortController().signal,
    });
  return { run, terminal: app.terminal };
}

describe("nanobot tasks list", () => {
  test("shows what the gateway works on", async () => {
    const { run, terminal } = await setUp({ rows: [running, { ...running, state: "done", toolCalls: 3 }] });
    expect(await run()).toBe(0);
    expect(terminal.stdout).toBe(
      [
        "abc123  2026-11-30T09:00:00.000Z  running  1 tool call  telegram:1",
        "  look through all files",
        "abc123  2026-11-30T09:00:00.000Z  done  3 tool calls  telegram:1",
        "  look through all files",
        "",
      ].join("\n"),
    );
    expect(terminal.stderr).toBe("");
  });

  test("prints JSON", async () => {
    const { run, terminal } = await setUp({ rows: [running] });
    expect(await run({ json: true })).toBe(0);
    expect(JSON.parse(terminal.stdout)).toEqual([running]);
  });

  test("says when there is none", async () => {
    const { run, terminal } = await setUp({ rows: [] });
    await run();
    expect(terminal.stdout).toBe("No task works in the background\n");
  });

  test("shows no secret", async () => {
    const { run, terminal } = await setUp({
      rows: [{ ...running, label: "use s3cret" }],
      mask: (text) => text.replaceAll("s3cret", "***"),
    });
    await run();
    expect(terminal.stdout).toContain("use ***");
  });

  test("shows what the last gateway left, when none runs", async () => {
    const file = JSON.stringify({
      v: 1,
      tasks: [running, { ...running, state: "done", endedAt: running["createdAt"], asker: {} }, null],
    });
    const { run, terminal } = await setUp({ file });
    expect(await run({ json: true })).toBe(0);
    expect(JSON.parse(terminal.stdout)).toMatchObject([{ state: "interrupted" }, { state: "done" }]);
    expect(terminal.stderr).toStartWith("No gateway runs for this workspace.");
  });

  test.each([undefined, '{"v":1,"tasks":[]}'])("says one thing where nothing is left: %p", async (file) => {
    const { run, terminal } = await setUp(file === undefined ? {} : { file });
    expect(await run()).toBe(0);
    expect(terminal.stdout).toBe("No task works in the background: no gateway runs for this workspace\n");
    expect(terminal.stderr).toBe("");
    expect(await run({ json: true })).toBe(0);
    expect(terminal.stdout).toEndWith("[]\n");
    expect(terminal.stderr).toBe("");
  });

  test.each([
    ["", "Cannot understand"],
    ["{{{", "Cannot understand"],
    ['{"tasks":7}', "Cannot understand"],
    ['{"v":2,"tasks":[]}', "a newer nanobot wrote it"],
  ])("says what is wrong with the file: %p", async (file, problem) => {
    const { run, terminal } = await setUp({ file });
    await expect(run()).rejects.toThrow(problem);
    expect(terminal.stdout).toBe("");
  });
});
