import { afterAll, expect, test } from "bun:test";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toJsonSchema } from "@valibot/to-json-schema";
import { prepareCall } from "../../src/agent/prepare-call.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { ProcessResult, ProcessSpec } from "../../src/core/platform.ts";
import { exec } from "../../src/tools/exec.ts";
import { createFakePrograms } from "../fakes/programs.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestToolbox, testRun } from "../fakes/toolbox.ts";
import { commandPorts, isRunning } from "./commands.ts";
import { createFixture } from "./fixture.ts";

const ports = commandPorts();
const { workspace, put, call } = createFixture({ ports });
const run = (command: string) => call(exec, { command });

/** A process that ends as told, for ends that are slow or large in the real world. */
function ending(result: Partial<ProcessResult>) {
  const specs: ProcessSpec[] = [];
  const nothing = { head: "", tail: "", omittedBytes: 0 };
  const processes = {
    async run(spec: ProcessSpec) {
      specs.push(spec);
      return { exitCode: 0, signal: null, ended: undefined, stdout: nothing, stderr: nothing, ...result };
    },
    start: createFakePrograms().start,
    endAll() {},
  };
  return { ...createFixture({ ports: commandPorts({ processes }) }), specs };
}

afterAll(() => ports.processes.endAll());

test("exec() gives the output and the exit code", async () => {
  expect(await run("echo hello")).toEqual({ ok: true, text: "hello\n\nExit code: 0", exitCode: 0 });
});

test("exec() gives a failing command's output, its errors apart, and counts it as done", async () => {
  expect(await run("echo out; echo err >&2; exit 3")).toEqual({
    ok: true,
    text: "out\n\nSTDERR:\nerr\n\nExit code: 3",
    exitCode: 3,
  });
});

test("exec() says that there was no output", async () => {
  expect((await run("true")).text).toBe("(No output)\n\nExit code: 0");
});

test("exec() says which signal ended a command", async () => {
  expect(await run("kill -9 $$")).toEqual({
    ok: true,
    text: "(No output)\n\nExit code: none (ended by SIGKILL)",
    exitCode: null,
  });
});

test("exec() runs in the workspace, or in a folder of it", async () => {
  put("sub/x.txt", "x");
  expect((await run("pwd")).text).toStartWith(`${workspace}\n`);
  expect((await call(exec, { command: "pwd; ls", working_dir: "sub" })).text).toStartWith(
    `${workspace}/sub\nx.txt\n`,
  );
});

test("exec() refuses a folder that is none, or lies outside", async () => {
  put("file.txt", "x");
  symlinkSync("/etc", join(workspace, "etc"));
  const inFolder = (working_dir: string) => call(exec, { command: "touch ran", working_dir });
  expect((await inFolder("none")).text).toContain("there is no such folder");
  expect((await inFolder("file.txt")).text).toContain("there is no such folder");
  expect((await inFolder("etc")).text).toContain("leads outside the workspace");
  expect((await inFolder("..")).text).toContain("leads outside the workspace");
});

test("exec() has nothing to read from", async () => {
  expect((await run("cat; echo done")).text).toBe("done\n\nExit code: 0");
});

test("exec() keeps a character whose bytes arrive apart, and drops NULs", async () => {
  const { text } = await run(String.raw`printf 'a\342'; sleep 0.1; printf '\200\224b\0c\377d'`);
  expect(text).toBe("a—bc\ufffdd\n\nExit code: 0");
});

test("exec() drops what steers a terminal and gives each state of a progress bar its line", async () => {
  const { text } = await run(
    String.raw`printf '\033[31mred\033[0m \033]0;title\007x\r\n10%%\r20%%\r\n\tend\b'`,
  );
  expect(text).toBe("red x\n10%\n20%\n\tend\n\nExit code: 0");
});

test("exec() says what to do where the outputs cannot be opened by name", async () => {
  for (const [said, isTold] of [
    ["/bin/bash: line 1: /dev/stderr: No such device or address\n", true],
    ["tee: /dev/stdout: No such device or address\n", true],
    ["OSError: [Errno 6] No such device or address: '/dev/stdout'\n", true],
    ["/bin/bash: line 1: /proc/self/fd/1: No such device or address\n", true],
    ["/dev/sdx: No such device or address\n", false],
    ["/dev/stdout: hello\n", false],
  ] as const) {
    const { call } = ending({ exitCode: 1, stderr: { head: said, tail: "", omittedBytes: 0 } });
    const { text } = await call(exec, { command: "echo x >/dev/stdout" });
    expect(text.includes("write >&1 or >&2 instead")).toBe(isTold);
  }
});

test("exec() counts what was left out between the beginning and the end", async () => {
  const stdout = { head: "first\n", tail: "\nlast", omittedBytes: 1234 };
  const { text } = await ending({ stdout }).call(exec, { command: "x" });
  expect(text).toBe("first\n[… 1234 bytes left out …]\nlast\n\nExit code: 0");
});

test("exec() leaves out the words that are cut by what was left out, and counts them", async () => {
  for (const [head, tail, said] of [
    ["the key is sk-abc", "def, it said", "the key is\n[… 1010 bytes left out …]\nit said"],
    ["sk-abc", "def", "[… 1009 bytes left out …]"],
    ["é", "é b", "[… 1004 bytes left out …]\nb"],
    ["", "", "[… 1000 bytes left out …]"],
    ["a\n", " b", "a\n[… 1000 bytes left out …]\nb"],
  ] as const) {
    const stdout = { head, tail, omittedBytes: 1_000 };
    const { text } = await ending({ stdout }).call(exec, { command: "x" });
    expect(text).toBe(`${said}\n\nExit code: 0`);
  }
});

test("exec() shows the beginning and the end of a flood of output", async () => {
  const { text } = await run("echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last");
  expect(text).toMatch(/^first\n\[… \d+ bytes left out …\]\nlast\n\nExit code: 0$/);
  expect(text.length).toBeLessThan(300_000);
});

test("exec() fails when the time is up, with the output so far, and nothing of it is left running", async () => {
  const result = await call(exec, {
    command: "echo started; sleep 600 & echo $! > pids; sleep 600 & echo $! >> pids; wait",
    timeout: 1,
  });
  expect(result).toEqual({
    ok: false,
    text: "The command was ended after 1 s, before it finished\nstarted\n\nExit code: none",
    exitCode: null,
  });
  const pids = readFileSync(join(workspace, "pids"), "utf8").trim().split("\n");
  expect(pids).toHaveLength(2);
  for (const pid of pids) expect(isRunning(Number(pid))).toBe(false);
});

test("exec() fails when the output floods, and when it is stopped", async () => {
  const flood = await ending({ ended: "flood", exitCode: null, signal: "SIGTERM" }).call(exec, {
    command: "yes",
  });
  expect(flood).toMatchObject({ ok: false });
  expect(flood.text).toBe("The command was ended because it wrote too much\n(No output)\n\nExit code: none");
  const controller = new AbortController();
  controller.abort(new Error("stop"));
  const stopped = await createFixture({ signal: controller.signal, ports }).call(exec, {
    command: "sleep 600",
  });
  expect(stopped).toMatchObject({ ok: false });
  expect(stopped.text).toContain("the turn was stopped");
});

test("exec() uses the default time, or the call's", async () => {
  const { call, specs } = ending({});
  await call(exec, { command: "x" });
  await call(exec, { command: "x", timeout: 600 });
  expect(specs.map((spec) => spec.timeoutMs)).toEqual([60_000, 600_000]);
  await expect(call(exec, { command: "x", timeout: 601 })).rejects.toThrow();
});

test("exec() says what it wanted with a folder that it may not use", async () => {
  const { text } = await call(exec, { command: "true", working_dir: "/etc" });
  expect(text).toStartWith('Cannot run the command in "/etc": ');
});

test("exec() has the middle cut out of an output that is longer than it may be, and still tells the end", async () => {
  const { context } = createFixture({ ports });
  const box = createTestToolbox({ tools: [exec], ports: () => context.ports, maxResultChars: 16_000 });
  const args = { command: "seq 1 10000; exit 4", max_output_chars: 1000 };
  const { text } = await box.run({ id: "c1", name: "exec", arguments: JSON.stringify(args) }, testRun());
  expect(text).toMatch(
    /^1\n2\n[\s\S]+\n\[… \d+ characters left out; .+ …\]\n[\s\S]+\n10000\n\nExit code: 4$/,
  );
  expect(text.length).toBeLessThanOrEqual(1000);
});

test("exec() says where to cut in every way that it can end", async () => {
  for (const end of [
    {},
    { ended: "timeout", exitCode: null },
    { ended: "aborted", exitCode: null },
  ] as const) {
    const { call } = ending(end);
    expect(await call(exec, { command: "x", max_output_chars: 1_000 })).toMatchObject({ limit: 1_000 });
    expect(await call(exec, { command: "x" })).not.toHaveProperty("limit");
  }
});

test("exec() runs the shell it is told to, with its profile if it is to", async () => {
  const { call, specs } = ending({});
  await call(exec, { command: "x" });
  await call(exec, { command: "x", shell: "sh", login: true });
  expect(specs.map(({ file }) => file)).toEqual([
    expect.stringMatching(/\/bash$/),
    expect.stringMatching(/\/sh$/),
  ]);
  expect(specs.map(({ args }) => args)).toEqual([
    ["-c", "x"],
    ["-l", "-c", "x"],
  ]);
});

test("exec() has no shell read what the user set up for shells of their own, unless it is to", async () => {
  const home = tempFolder();
  for (const name of [".bashrc", ".bash_profile", ".profile"])
    writeFileSync(join(home, name), "export FOO_API_KEY=sk-test-123456\n");
  const { call } = createFixture({ ports: commandPorts({ home }) });
  for (const command of ["env", "bash -c env", "sh -c env", "sh -c 'bash -c env'"])
    for (const shell of ["bash", "sh"])
      for (const mode of [{}, { yield_time_ms: 30_000 }]) {
        const { text } = await call(exec, { command, shell, ...mode });
        expect(text).toContain(`HOME=${home}`);
        expect(text).not.toContain("sk-test-123456");
      }
  expect((await call(exec, { command: "env", login: true })).text).toContain("sk-test-123456");
});

test("exec() shows who is asked where and how a command would run, unless that is as usual", async () => {
  const permit = async (command: string) =>
    ({ decision: "ask", what: command, reason: "it deletes" }) as const;
  const { context, put, workspace } = createFixture({ ports: commandPorts({ permit }) });
  put("sub/x", "x");
  symlinkSync("sub", join(workspace, "link"));
  for (const [args, wanted] of [
    [{}, "rm -r x"],
    [{ working_dir: ".", shell: "bash", login: false }, "rm -r x"],
    [{ working_dir: "link" }, 'Run in "sub":\nrm -r x'],
    [{ shell: "sh", login: true }, "Run by sh, after the profile files:\nrm -r x"],
  ] as const) {
    const permitted = await exec.permit?.({ command: "rm -r x", ...args } as never, context);
    expect(permitted).toEqual({ decision: "ask", what: wanted, reason: "it deletes" });
  }
});

test("exec() takes the original's other names for its parameters", () => {
  const { $schema: _, ...parameters } = toJsonSchema(exec.parameters) as Record<string, unknown>;
  const definition = { name: "exec", description: "", parameters: parameters as JsonObject };
  const known = new Map([["exec", { tool: exec, definition }]]);
  const prepare = (args: object) =>
    prepareCall({ id: "1", name: "exec", arguments: JSON.stringify(args) }, known);
  expect(prepare({ cmd: "ls", workdir: "sub", timeout: 5 })).toMatchObject({
    args: { command: "ls", working_dir: "sub", timeout: 5 },
  });
  expect(prepare({ command: "ls", cmd: "rm" })).toMatchObject({
    ok: false,
    problem: expect.stringContaining('"cmd" is not a parameter'),
  });
});

test("exec() with yield_time_ms gives the end of a command that ends by then", async () => {
  expect(await call(exec, { command: "echo hi; exit 3", yield_time_ms: 30_000 })).toEqual({
    ok: true,
    text: "hi\n\nExit code: 3",
    exitCode: 3,
  });
});

test("exec() with yield_time_ms lets a longer command go on as a session of the conversation", async () => {
  const result = await call(exec, { command: "exec sleep 100000", yield_time_ms: 0, working_dir: "." });
  expect(result).toEqual({
    ok: true,
    text: expect.stringMatching(
      /^\(No output\)\n\nThe command goes on as the session "s\d+"; write_stdin waits for/,
    ),
  });
  expect(ports.execSessions.list("cli:direct")).toMatchObject([
    { command: "exec sleep 100000", running: true, remainingMs: undefined },
  ]);
  expect(await ports.execSessions.endOf("cli:direct")).toBe(1);
});

test("exec() with yield_time_ms ends the command at the time limit of the call", async () => {
  const result = await call(exec, { command: "exec sleep 100000", yield_time_ms: 30_000, timeout: 1 });
  expect(result).toMatchObject({ ok: false, exitCode: null });
  expect(result.text).toStartWith("The command was ended after 1 s, before it finished\n");
});
