import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProcessSpec } from "../../src/core/platform.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createProcesses } from "../../src/platform/processes.ts";
import { freshSleep, runningWith } from "./programs-that-run.ts";

const folder = mkdtempSync(join(tmpdir(), "nanobot-"));
const never = new AbortController().signal;
const processes = createProcesses(systemClock);
/** Programs take their time on a busy machine. */
const PATIENCE_MS = 60_000;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function shell(script: string, options: Partial<ProcessSpec> = {}, signal = never) {
  const env = { PATH: process.env["PATH"] ?? "" };
  return processes.run(
    { file: "/bin/sh", args: ["-c", script], cwd: folder, env, timeoutMs: 0, keepBytes: 1000, ...options },
    signal,
  );
}

async function failureCode(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "none",
    (error: { code?: unknown }) => error.code,
  );
}

/** Resolves when `path` is there: the program has come that far. */
async function appears(path: string): Promise<void> {
  while (!existsSync(path)) await new Promise((resolve) => setImmediate(resolve));
}

describe("run()", () => {
  test("gives exit code and both streams", async () => {
    expect(await shell("echo out; echo err >&2; exit 3")).toEqual({
      exitCode: 3,
      signal: null,
      ended: undefined,
      stdout: { head: "out\n", tail: "", omittedBytes: 0 },
      stderr: { head: "err\n", tail: "", omittedBytes: 0 },
    });
  });

  test("gives the signal of a program that ended by one", async () => {
    expect(await shell("kill -KILL $$")).toMatchObject({
      exitCode: null,
      signal: "SIGKILL",
      ended: undefined,
    });
  });

  test("gives the program the environment it was given and no more", async () => {
    const { stdout } = await processes.run(
      { file: "/usr/bin/env", args: [], cwd: folder, env: { ONLY: "this" }, timeoutMs: 0, keepBytes: 1000 },
      never,
    );
    expect(stdout.head).toBe("ONLY=this\n");
  });

  test("runs in the folder it was given, with an input that is at its end", async () => {
    expect((await shell("pwd -P; cat")).stdout.head.trim()).toBe(folder);
  });

  test("decodes a character that came in two pieces, and bytes that are none", async () => {
    const { stdout } = await shell("printf 'a\\342'; sleep 0.05; printf '\\200\\224b\\377\\000c'");
    expect(stdout.head).toBe("a—b\ufffd\0c");
  });

  test("keeps beginning and end of a long output", async () => {
    const { stdout } = await shell("seq 1 100000", { keepBytes: 10 });
    expect(stdout).toEqual({ head: "1\n2\n3\n4\n5\n", tail: "99\n100000\n", omittedBytes: 588_875 });
  });

  test("rejects when there is no such program, no such folder, or no permission", async () => {
    const spec = { args: [], cwd: folder, env: {}, timeoutMs: 0, keepBytes: 10 };
    expect(await failureCode(processes.run({ ...spec, file: join(folder, "none") }, never))).toBe("ENOENT");
    expect(await failureCode(shell("true", { cwd: join(folder, "none") }))).toBe("ENOENT");
    expect(await failureCode(processes.run({ ...spec, file: "/etc/passwd" }, never))).toBe("EACCES");
  });

  test("does not start a program whose signal has aborted", async () => {
    const path = join(folder, "never-made");
    expect(await shell(`touch ${path}`, {}, AbortSignal.abort())).toMatchObject({
      ended: "aborted",
      exitCode: null,
    });
    expect(existsSync(path)).toBe(false);
  });

  test(
    "ends the whole group at the time limit",
    async () => {
      const sleep = freshSleep();
      const result = await shell(`sleep ${sleep} & sleep ${sleep}`, { timeoutMs: 50 });
      expect(result).toMatchObject({ exitCode: null, signal: "SIGTERM", ended: "timeout" });
      expect(runningWith(sleep)).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    "ends a group that refuses to end, and keeps what it said",
    async () => {
      const sleep = freshSleep();
      const script = `trap 'echo no' TERM; echo ready; sleep ${sleep} & while :; do wait; done`;
      const result = await shell(script, { timeoutMs: 200 });
      expect(result).toMatchObject({ exitCode: null, signal: "SIGKILL", ended: "timeout" });
      expect(runningWith(sleep)).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    "ends the whole group when aborted",
    async () => {
      const sleep = freshSleep();
      const ready = join(folder, `ready-${sleep}`);
      const abort = new AbortController();
      const running = shell(`sleep ${sleep} & echo begun; touch ${ready}; wait`, {}, abort.signal);
      await appears(ready);
      abort.abort();
      expect(await running).toMatchObject({ ended: "aborted", stdout: { head: "begun\n" } });
      expect(runningWith(sleep)).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    "ends what a program leaves in the background, also when that refuses to end",
    async () => {
      const sleep = freshSleep();
      const result = await shell(
        `sleep ${sleep} & (trap '' TERM; sleep ${sleep}; sleep ${sleep}) & echo done`,
      );
      expect(result).toMatchObject({ exitCode: 0, ended: undefined, stdout: { head: "done\n" } });
      expect(runningWith(sleep)).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    "does not wait for a program that left the group with our pipe",
    async () => {
      const sleep = freshSleep();
      const ready = join(folder, `ready-${sleep}`);
      const leaver = `setsid sh -c 'touch ${ready}; exec sleep ${sleep}'`;
      const result = await shell(`${leaver} & while [ ! -e ${ready} ]; do :; done; echo done`);
      expect(result).toMatchObject({ exitCode: 0, stdout: { head: "done\n" } });
      // The shell has yet to become the sleep.
      while (runningWith(sleep).length === 0) await new Promise((resolve) => setImmediate(resolve));
      for (const pid of runningWith(sleep)) process.kill(Number(pid), "SIGKILL");
    },
    PATIENCE_MS,
  );

  test(
    "ends a program that floods",
    async () => {
      const result = await shell("yes");
      expect(result.ended).toBe("flood");
      expect(result.stdout.omittedBytes).toBeGreaterThan(60 * 1024 * 1024);
    },
    PATIENCE_MS,
  );
});

describe("endAll()", () => {
  test(
    "ends every group that runs",
    async () => {
      const sleep = freshSleep();
      const others = createProcesses(systemClock);
      const start = (ready: string) =>
        others.run(
          {
            file: "/bin/sh",
            args: ["-c", `trap '' TERM; sleep ${sleep} & touch ${ready}; wait`],
            cwd: folder,
            env: { PATH: process.env["PATH"] ?? "" },
            timeoutMs: 0,
            keepBytes: 10,
          },
          never,
        );
      const files = [join(folder, "one"), join(folder, "two")];
      const running = files.map(start);
      for (const file of files) await appears(file);
      others.endAll();
      for (const result of await Promise.all(running)) expect(result.signal).toBe("SIGKILL");
      expect(runningWith(sleep)).toEqual([]);
    },
    PATIENCE_MS,
  );
});
