import { expect, test } from "bun:test";
import type { FileStat, Processes, ProcessSpec } from "../../src/core/platform.ts";
import type { RealPath } from "../../src/core/tool.ts";
import { createRipgrep } from "../../src/shell/ripgrep.ts";

const silent = { head: "", tail: "", omittedBytes: 0 };
const program: FileStat = { kind: "file", bytes: 1, modifiedMs: 0, mode: 0o755, inode: 1 };

function setUp(there: Readonly<Record<string, FileStat>>) {
  const started: ProcessSpec[] = [];
  const run: Processes["run"] = async (spec) => {
    started.push(spec);
    return { exitCode: 0, signal: null, ended: undefined, stdout: silent, stderr: silent };
  };
  const ripgrep = createRipgrep({ files: { stat: async (path) => there[path] }, processes: { run } });
  const signal = new AbortController().signal;
  return {
    started,
    search: () => ripgrep(["--files", "x y"], { cwd: "/ws" as RealPath, timeoutSeconds: 2, signal }),
  };
}

test("createRipgrep() starts the program of a fixed folder as it is, with an empty environment", async () => {
  const { started, search } = setUp({ "/usr/local/bin/rg": program, "/opt/homebrew/bin/rg": program });
  await search();
  expect(started).toMatchObject([
    { file: "/usr/local/bin/rg", args: ["--files", "x y"], cwd: "/ws", env: {}, timeoutMs: 2_000 },
  ]);
});

test.each<[string, Record<string, FileStat>]>([
  ["is in no such folder", { "/home/user/bin/rg": program, "/ws/rg": program, rg: program }],
  ["is a folder", { "/usr/bin/rg": { ...program, kind: "directory" } }],
  ["may not be run", { "/usr/bin/rg": { ...program, mode: 0o644 } }],
])("createRipgrep() starts nothing where rg %s", async (_, there) => {
  const { started, search } = setUp(there);
  expect(await search()).toBeUndefined();
  expect(started).toEqual([]);
});
