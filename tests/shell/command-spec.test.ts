import { expect, test } from "bun:test";
import { systemClock } from "../../src/platform/clock.ts";
import { createProcesses } from "../../src/platform/processes.ts";
import { type CommandSpecOptions, createCommandSpec } from "../../src/shell/command-spec.ts";
import { makeFolder, system } from "../tools/fixture.ts";

const place = { cwd: makeFolder(), timeoutSeconds: 7, owner: "cli:direct" };

function specWith(options: Partial<CommandSpecOptions> = {}) {
  return createCommandSpec({ files: system, env: {}, home: "/home/somebody", os: "linux", ...options });
}

async function environmentOf(options: Partial<CommandSpecOptions>): Promise<Record<string, string>> {
  const spec = await specWith(options)("env -0", place);
  const { stdout } = await createProcesses(systemClock).run(spec, new AbortController().signal);
  const own = ["PWD", "OLDPWD", "SHLVL", "_"]; // What the shell itself adds.
  return Object.fromEntries(
    stdout.head
      .split("\0")
      .filter((line) => line !== "")
      .map((line): [string, string] => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)])
      .filter(([key]) => !own.includes(key)),
  );
}

/** Programs that are there or not, as told. */
function machineWith(present: readonly string[]) {
  const asked: string[] = [];
  const stat: CommandSpecOptions["files"]["stat"] = async (path) => {
    asked.push(path);
    if (!present.includes(path)) return undefined;
    return { kind: "file", bytes: 1, modifiedMs: 0, mode: 0o755, inode: 1 };
  };
  return { spec: specWith({ files: { stat } }), asked };
}

test("createCommandSpec() gives commands a short environment with defaults", async () => {
  expect(await environmentOf({})).toEqual({
    HOME: "/home/somebody",
    LANG: "C.UTF-8",
    NANOBOT_TOOL: "1",
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    PYTHONUNBUFFERED: "1",
    TERM: "dumb",
  });
});

test("createCommandSpec() keeps this process's secrets from commands", async () => {
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
    "NANOBOT_TOOL",
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

test("createCommandSpec() inherits nothing from the real environment", async () => {
  process.env["NANOBOT_TEST_LEAK"] = "leaked";
  expect(Object.keys(await environmentOf({}))).not.toContain("NANOBOT_TEST_LEAK");
  delete process.env["NANOBOT_TEST_LEAK"];
});

test("createCommandSpec() hands on the keys the owner named, and those that change programs never", async () => {
  const env = { GH_TOKEN: "gh-1", BUN_OPTIONS: "--x", BUN_BE_BUN: "1", LD_PRELOAD: "/x.so", TERM: "xterm" };
  const seen = await environmentOf({ env, allowedEnvKeys: [...Object.keys(env), "MISSING", "__proto__"] });
  expect(seen).toMatchObject({ GH_TOKEN: "gh-1", TERM: "xterm" });
  for (const key of ["BUN_OPTIONS", "BUN_BE_BUN", "LD_PRELOAD", "MISSING"])
    expect(seen).not.toHaveProperty(key);
});

test("createCommandSpec() puts folders around PATH, also around an allowed one", async () => {
  const seen = await environmentOf({
    env: { PATH: "/usr/bin:/bin" },
    pathPrepend: "/opt/first",
    pathAppend: "/opt/last",
    allowedEnvKeys: ["PATH"],
  });
  expect(seen["PATH"]).toBe("/opt/first:/usr/bin:/bin:/opt/last");
});

test("createCommandSpec() leaves HOME out when nobody knows it", async () => {
  expect(await environmentOf({ home: undefined })).not.toHaveProperty("HOME");
});

test("createCommandSpec() prefers bash, takes sh where there is none, and looks once", async () => {
  const both = machineWith(["/usr/bin/bash", "/usr/bin/sh"]);
  expect((await both.spec("x", place)).file).toBe("/usr/bin/bash");
  await both.spec("x", place);
  expect(both.asked).toEqual(["/usr/bin/bash"]);
  const small = await machineWith(["/bin/sh"]).spec("x y", place);
  expect(small).toMatchObject({ file: "/bin/sh", args: ["-c", "x y"], timeoutMs: 7000, cwd: place.cwd });
});

test("createCommandSpec() takes the shell that is asked for, with its profile if it is to", async () => {
  const { spec } = machineWith(["/bin/bash", "/bin/sh", "/usr/bin/zsh"]);
  expect(await spec("x", { ...place, shell: "zsh" })).toMatchObject({
    file: "/usr/bin/zsh",
    // Without it zsh reads ~/.zshenv, which tools could have written.
    args: ["-f", "-c", "x"],
  });
  expect(await spec("x", { ...place, shell: "zsh", login: true })).toMatchObject({ args: ["-l", "-c", "x"] });
  expect(await spec("x", { ...place, shell: "sh", login: true })).toMatchObject({
    file: "/bin/sh",
    args: ["-l", "-c", "x"],
  });
});

test("createCommandSpec() refuses a shell that is not there", async () => {
  const { spec } = machineWith(["/bin/sh"]);
  await expect(spec("x", { ...place, shell: "zsh" })).rejects.toThrow("there is no zsh on this machine");
  await expect(machineWith([]).spec("x", place)).rejects.toThrow("there is no sh on this machine");
});

test("createCommandSpec() refuses on Windows", async () => {
  await expect(specWith({ os: "win32" })("x", place)).rejects.toThrow("exec is off on Windows");
});

test("createCommandSpec() starts what the sandbox makes of a command, with what differs there", async () => {
  const spec = specWith({
    sandbox: {
      wrap: async ({ file, args }, { owner }) => ({
        file: "/usr/bin/bwrap",
        args: [owner, file, ...args],
        env: { HOME: "/ws" },
      }),
    },
  });
  const { file, args, env } = await spec("x", place);
  expect([file, ...args]).toEqual(["/usr/bin/bwrap", "cli:direct", "/usr/bin/bash", "-c", "x"]);
  expect(env).toMatchObject({ HOME: "/ws", TERM: "dumb" });
});
