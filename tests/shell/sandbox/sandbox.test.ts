/** What decides whether there is a sandbox, with a bubblewrap that answers as told. */

import { expect, test } from "bun:test";
import { join } from "node:path";
import type { ProcessResult, ProcessSpec } from "../../../src/core/platform.ts";
import type { SandboxOptions } from "../../../src/shell/sandbox/sandbox.ts";
import { system } from "../../tools/fixture.ts";
import { createPlace, type Place, sandboxIn } from "./fixture.ts";

const nothing = { head: "", tail: "", omittedBytes: 0 };

/** A machine where `bwrap` is there or not, and ends as `answer` says. */
function machine(answer: (args: readonly string[]) => Partial<ProcessResult>, installed = true) {
  const specs: ProcessSpec[] = [];
  const stat: typeof system.stat = async (path) => {
    if (!path.endsWith("/bwrap")) return system.stat(path);
    return installed ? { kind: "file", bytes: 1, modifiedMs: 0, mode: 0o755, inode: 1 } : undefined;
  };
  const options: Partial<SandboxOptions> = {
    os: "linux",
    files: { ...system, stat },
    processes: {
      async run(spec) {
        specs.push(spec);
        const result = { exitCode: 0, signal: null, ended: undefined, stdout: nothing, stderr: nothing };
        return { ...result, ...answer(spec.args) };
      },
    },
  };
  return { options, specs };
}

const says = (head: string) => ({ stdout: { ...nothing, head } });
const fails = (head: string) => ({ exitCode: 1, stderr: { ...nothing, head } });
const works = () => says("1000\n");

async function stateWith(options: Partial<SandboxOptions>) {
  return (await sandboxIn(createPlace(), options)).state();
}

test("createSandbox() tries bubblewrap once, at the first need", async () => {
  const { options, specs } = machine(works);
  const sandbox = await sandboxIn(createPlace(), options);
  expect(specs).toEqual([]);
  expect(await Promise.all([sandbox.state(), sandbox.state()])).toEqual([
    { kind: "bwrap", hasProc: true },
    { kind: "bwrap", hasProc: true },
  ]);
  expect(specs).toHaveLength(1);
  expect(specs[0]).toMatchObject({ file: "/usr/bin/bwrap", env: {} });
});

test("createSandbox() goes without /proc where nobody may mount one", async () => {
  const { options } = machine((args) =>
    args.includes("--proc") ? fails("bwrap: Can't mount proc") : works(),
  );
  const place = createPlace();
  const sandbox = await sandboxIn(place, options);
  expect(await sandbox.state()).toEqual({ kind: "bwrap", hasProc: false });
  const wrapped = await sandbox.wrap({ file: "/bin/sh", args: [] }, { cwd: place.workspace, owner: "own" });
  expect(wrapped?.args).not.toContain("--proc");
});

test.each([
  [
    fails("bwrap: No permissions to create a new namespace\nmore"),
    "bwrap: does not work here: No permissions to create a new namespace",
  ],
  [{ exitCode: 3 }, "bwrap: does not work here: it ended with 3"],
  [{ exitCode: null, ended: "timeout" as const }, "bwrap: does not work here: it did not end within 10 s"],
])("createSandbox() says why bubblewrap that ends with %j is not used", async (result, why) => {
  expect(await stateWith(machine(() => result).options)).toEqual({ kind: "none", why });
});

test("createSandbox() says that bubblewrap is not there, cannot be started, or is for another system", async () => {
  const missing = machine(works, false);
  expect(await stateWith(missing.options)).toEqual({ kind: "none", why: "bwrap: not installed" });
  expect(missing.specs).toEqual([]);
  const broken = machine(() => {
    throw new Error("spawn EACCES");
  });
  expect(await stateWith(broken.options)).toEqual({
    kind: "none",
    why: "bwrap: does not work here: spawn EACCES",
  });
  expect(await stateWith({ ...machine(works).options, os: "darwin" })).toEqual({
    kind: "none",
    why: "bwrap: needs Linux",
  });
});

test("createSandbox() is nobody where nanobot is root, as far as that works", async () => {
  const asRoot = (args: readonly string[]) => says(args.includes("--uid") ? "65534\n" : "0\n");
  const place = createPlace();
  const argsWith = async (options: Partial<SandboxOptions>) => {
    const sandbox = await sandboxIn(place, options);
    return (
      await sandbox.wrap({ file: "/bin/sh", args: [] }, { cwd: place.workspace, owner: "own" })
    )?.args.join(" ");
  };
  expect(await argsWith(machine(asRoot).options)).toContain("--uid 65534 --gid 65534");
  expect(await argsWith(machine(works).options)).not.toContain("--uid");
  const onlyRoot = (args: readonly string[]) => (args.includes("--uid") ? fails("bwrap: no") : says("0\n"));
  expect(await argsWith(machine(onlyRoot).options)).not.toContain("--uid");
});

test("createSandbox() does without where root alone could change the workspace of somebody else", async () => {
  expect(await stateWith(machine(() => says("0\nclosed\n")).options)).toEqual({
    kind: "none",
    why: "bwrap: does not work here: the workspace belongs to another user than root",
  });
});

test("createSandbox() tries nothing that it was told not to use", async () => {
  const { options, specs } = machine(works);
  expect(await stateWith({ ...options, mode: "none" })).toEqual({
    kind: "none",
    why: "tools.exec.sandbox is none",
  });
  expect(await stateWith({ ...options, restrictToWorkspace: false })).toEqual({
    kind: "none",
    why: "tools.restrictToWorkspace is false",
  });
  expect(specs).toEqual([]);
});

test("createSandbox() is used where it is demanded, restricted or not, and without it nothing runs", async () => {
  const demanded = { mode: "bwrap", restrictToWorkspace: false } as const;
  expect(await stateWith({ ...machine(works).options, ...demanded })).toEqual({
    kind: "bwrap",
    hasProc: true,
  });
  const place = createPlace();
  const without = await sandboxIn(place, { ...machine(works, false).options, ...demanded });
  expect(await without.state()).toEqual({ kind: "refused", why: "bwrap: not installed" });
  const wrapped = without.wrap({ file: "/bin/sh", args: [] }, { cwd: place.workspace, owner: "own" });
  await expect(wrapped).rejects.toThrow("bwrap: not installed");
});

test("createSandbox() changes nothing of a command that runs without one", async () => {
  const place = createPlace();
  const sandbox = await sandboxIn(place, { mode: "none" });
  expect(await sandbox.wrap({ file: "/bin/sh", args: [] }, { cwd: "/", owner: "own" })).toBeUndefined();
});

test("createSandbox() lets commands use the binds only where it is in force", async () => {
  const place = createPlace();
  const [tools, outside] = [join(place.base, "tools"), join(place.base, "outside")];
  const given = { allowedPaths: ["~/outside", "/proc/self"], roBinds: [tools] };
  const paths = async (options: Partial<SandboxOptions>) => (await sandboxIn(place, options)).allowedPaths();
  expect(await paths({ ...given, ...machine(works).options })).toEqual([outside, tools]);
  expect(await paths({ ...given, ...machine(works, false).options })).toEqual([outside]);
});

test.each<[string, (place: Place) => Partial<SandboxOptions>, string]>([
  ["the root", () => ({ roBinds: ["/"] }), "tools.exec.sandboxRoBinds[0]"],
  ["the home folder", () => ({ roBinds: ["/usr", "~"] }), "tools.exec.sandboxRoBinds[1]"],
  ["the folder of the workspace", ({ home }) => ({ rwBinds: [home] }), "tools.exec.sandboxRwBinds[0]"],
  [
    "the configuration",
    ({ configFile }) => ({ rwBinds: [configFile] }),
    "it contains the configuration file",
  ],
  [
    "the folder of a configuration elsewhere",
    ({ put, base, configFile }) => ({
      configFile: put(join(base, "elsewhere/c.json"), "{}"),
      roBinds: [join(base, "elsewhere"), configFile],
    }),
    "sandboxRoBinds[0]",
  ],
  ["what is nanobot's own", () => ({ rwBinds: [".nanobot/tool-results"] }), "it is nanobot's own"],
])("createSandbox() refuses to bind %s", async (_, optionsFor, message) => {
  const place = createPlace();
  await expect(sandboxIn(place, optionsFor(place))).rejects.toThrow(message);
});
