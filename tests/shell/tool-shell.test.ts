import { expect, test } from "bun:test";
import type { ProcessResult, ProcessSpec } from "../../src/core/platform.ts";
import type { RealPath } from "../../src/core/tool.ts";
import { createToolShell } from "../../src/shell/tool-shell.ts";
import { createFixture } from "../tools/fixture.ts";

const nothing = { head: "", tail: "", omittedBytes: 0 };
const { signal } = new AbortController();

function shellOf(file: string, result: Partial<ProcessResult>) {
  const asked: unknown[] = [];
  const shell = createToolShell({
    processes: {
      run: async () => ({
        exitCode: 0,
        signal: null,
        ended: undefined,
        stdout: nothing,
        stderr: nothing,
        ...result,
      }),
    },
    async spec(command, place): Promise<ProcessSpec> {
      asked.push([command, place]);
      return { file, args: [], cwd: "/", env: {}, timeoutMs: 0, keepBytes: 0 };
    },
    permit: async () => ({ decision: "allow" }),
    owner: "telegram:1",
    defaultTimeoutSeconds: 5,
  });
  const run = () => shell.run("x", { cwd: "/ws" as RealPath, timeoutSeconds: 3, login: true, signal });
  return { run, asked };
}

const said = (head: string) => ({ ...nothing, head });

test("createToolShell() runs a command on behalf of its session", async () => {
  const { run, asked } = shellOf("/bin/bash", { exitCode: 4 });
  expect(await run()).toMatchObject({ exitCode: 4 });
  expect(asked).toEqual([["x", { cwd: "/ws", timeoutSeconds: 3, login: true, owner: "telegram:1" }]]);
});

test("createToolShell() says that it was the sandbox when that could not be made", async () => {
  const { run } = shellOf("/usr/bin/bwrap", {
    exitCode: 1,
    stderr: said("bwrap: Can't chdir to /x: gone\n"),
  });
  await expect(run()).rejects.toThrow("its sandbox could not be made: Can't chdir to /x: gone");
});

test("createToolShell() takes a command's own end for what it is", async () => {
  const words = said("bwrap: a word of the command\n");
  for (const [file, result] of [
    ["/bin/bash", { exitCode: 1, stderr: words }],
    ["/usr/bin/bwrap", { exitCode: 1, stderr: words, stdout: said("out") }],
    ["/usr/bin/bwrap", { exitCode: 2, stderr: words }],
    ["/usr/bin/bwrap", { exitCode: 1, stderr: said("grep: bwrap: no such file\n") }],
  ] as const) {
    expect(await shellOf(file, result).run()).toMatchObject(result);
  }
});

test("createToolShell() says what the system says when the folder is gone", async () => {
  const { context } = createFixture();
  const gone = await context.ports.files.resolve("gone", "read");
  const run = context.ports.shell.run("true", { cwd: gone, timeoutSeconds: 7, signal });
  await expect(run).rejects.toThrow("ENOENT");
});
