import { expect, test } from "bun:test";
import type { ProcessSpec } from "../../src/core/platform.ts";
import { createToolShell, type ToolShellOptions } from "../../src/lib/shell.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createProcesses } from "../../src/platform/processes.ts";
import { createFixture } from "../tools/fixture.ts";

async function environmentOf(options: Partial<ToolShellOptions>): Promise<Record<string, string>> {
  const { context } = createFixture();
  const shell = createToolShell({
    processes: createProcesses(systemClock),
    env: {},
    home: "/home/somebody",
    defaultTimeoutSeconds: 60,
    os: "linux",
    ...options,
  });
  const cwd = await context.ports.files.resolve(".", "read");
  const result = await shell.run("env -0", { cwd, timeoutSeconds: 60, signal: context.signal });
  const entries = result.stdout.head.split("\0").filter((line) => line !== "");
  const own = ["PWD", "OLDPWD", "SHLVL", "_"]; // What the shell itself adds.
  return Object.fromEntries(
    entries
      .map((line): [string, string] => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)])
      .filter(([key]) => !own.includes(key)),
  );
}

/** Programs that are there or not, as told. */
function shellWith(present: readonly string[], os = "linux") {
  const specs: ProcessSpec[] = [];
  const nothing = { head: "", tail: "", omittedBytes: 0 };
  const shell = createToolShell({
    processes: {
      async run(spec) {
        specs.push(spec);
        if (!present.includes(spec.file)) throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
        return { exitCode: 0, signal: null, ended: undefined, stdout: nothing, stderr: nothing };
      },
      endAll() {},
    },
    env: {},
    home: undefined,
    defaultTimeoutSeconds: 5,
    os,
  });
  return { shell, specs };
}

async function cwd() {
  return createFixture().context.ports.files.resolve(".", "read");
}

test("createToolShell() gives commands a short environment with defaults", async () => {
  expect(await environmentOf({})).toEqual({
    HOME: "/home/somebody",
    LANG: "C.UTF-8",
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    PYTHONUNBUFFERED: "1",
    TERM: "dumb",
  });
});

test("createToolShell() keeps this process's secrets from commands", async () => {
  const env = {
    OPENAI_API_KEY: "sk-test-123",
    NANOBOT_X__Y: "secret",
    PATH: "/usr/bin:/bin",
    LANG: "de_DE.UTF-8",
  };
  const seen = await environmentOf({
    env: { ...env, TZ: "Asia/Tokyo", USER: "somebody", TMPDIR: "/var/tmp" },
  });
  expect(JSON.stringify(seen)).not.toContain("sk-test-123");
  expect(Object.keys(seen).sort()).toEqual([
    "HOME",
    "LANG",
    "PATH",
    "PYTHONUNBUFFERED",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
  ]);
  expect(seen).toMatchObject({
    PATH: "/usr/bin:/bin",
    LANG: "de_DE.UTF-8",
    TZ: "Asia/Tokyo",
    TMPDIR: "/var/tmp",
  });
});

test("createToolShell() inherits nothing from the real environment", async () => {
  process.env["NANOBOT_TEST_LEAK"] = "leaked";
  expect(Object.keys(await environmentOf({}))).not.toContain("NANOBOT_TEST_LEAK");
  delete process.env["NANOBOT_TEST_LEAK"];
});

test("createToolShell() hands on the keys the owner named, and those that change programs never", async () => {
  const env = { GH_TOKEN: "gh-1", BUN_OPTIONS: "--x", BUN_BE_BUN: "1", LD_PRELOAD: "/x.so", TERM: "xterm" };
  const seen = await environmentOf({ env, allowedEnvKeys: [...Object.keys(env), "MISSING", "__proto__"] });
  expect(seen).toMatchObject({ GH_TOKEN: "gh-1", TERM: "xterm" });
  for (const key of ["BUN_OPTIONS", "BUN_BE_BUN", "LD_PRELOAD", "MISSING"])
    expect(seen).not.toHaveProperty(key);
});

test("createToolShell() puts folders around PATH, also around an allowed one", async () => {
  const seen = await environmentOf({
    env: { PATH: "/usr/bin:/bin" },
    pathPrepend: "/opt/first",
    pathAppend: "/opt/last",
    allowedEnvKeys: ["PATH"],
  });
  expect(seen["PATH"]).toBe("/opt/first:/usr/bin:/bin:/opt/last");
});

test("createToolShell() leaves HOME out when nobody knows it", async () => {
  expect(await environmentOf({ home: undefined })).not.toHaveProperty("HOME");
});

test("createToolShell() prefers bash and takes sh where there is none", async () => {
  const options = { cwd: await cwd(), timeoutSeconds: 7, signal: new AbortController().signal };
  const both = shellWith(["/bin/bash", "/bin/sh"]);
  await both.shell.run("x", options);
  expect(both.specs.map((spec) => spec.file)).toEqual(["/bin/bash"]);
  const small = shellWith(["/bin/sh"]);
  await small.shell.run("x y", options);
  expect(small.specs.at(-1)).toMatchObject({ file: "/bin/sh", args: ["-c", "x y"], timeoutMs: 7000 });
});

test("createToolShell() says what the system says when there is no shell, or the folder is gone", async () => {
  const options = { cwd: await cwd(), timeoutSeconds: 7, signal: new AbortController().signal };
  await expect(shellWith([]).shell.run("x", options)).rejects.toThrow("ENOENT");
  const { context } = createFixture();
  const gone = await context.ports.files.resolve("gone", "read");
  await expect(context.ports.shell.run("true", { ...options, cwd: gone })).rejects.toThrow("ENOENT");
});

test("createToolShell() refuses on Windows", async () => {
  const { shell, specs } = shellWith(["/bin/bash"], "win32");
  const options = { cwd: await cwd(), timeoutSeconds: 7, signal: new AbortController().signal };
  await expect(shell.run("x", options)).rejects.toThrow("exec is off on Windows");
  expect(specs).toEqual([]);
});
