import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProcessSpec, RunningProcess } from "../../src/core/platform.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createProcesses } from "../../src/platform/processes.ts";
import { freshSleep, runningWith } from "./programs-that-run.ts";

const folder = mkdtempSync(join(tmpdir(), "nanobot-"));
const processes = createProcesses(systemClock);
/** Programs take their time on a busy machine. */
const PATIENCE_MS = 60_000;

afterAll(() => {
  processes.endAll();
  rmSync(folder, { recursive: true, force: true });
});

function start(script: string, options: Partial<ProcessSpec> = {}): Promise<RunningProcess> {
  const env = { PATH: process.env["PATH"] ?? "" };
  const shell = { file: "/bin/sh", args: ["-c", script], cwd: folder, env };
  return processes.start({ ...shell, timeoutMs: 0, keepBytes: 1000, ...options });
}

/** Resolves when `text` has been said, in all that is said from now on. */
function says(program: RunningProcess, text: string): Promise<void> {
  return new Promise((resolve) => {
    let said = program.peek().stdout.head;
    const look = () => {
      if (!said.includes(text)) return;
      stop();
      resolve();
    };
    const stop = program.onOutput((_, more) => {
      said += more;
      look();
    });
    look();
  });
}

const nothing = { head: "", tail: "", omittedBytes: 0 };
const text = (head: string) => ({ head, tail: "", omittedBytes: 0 });

/** One letter for each, as proc(5) has them. */
function statesOfChildren(parent: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      const [state = "", of] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return of === parent ? [state] : [];
    } catch {
      // It is no process, or ended since it was listed.
      return [];
    }
  });
}

describe("start()", () => {
  test("gives what a program says, and its end", async () => {
    const program = await start("echo out; echo err >&2; exit 3");
    expect(await program.exited).toEqual({ exitCode: 3, signal: null, ended: undefined });
    expect(program.take()).toEqual({ stdout: text("out\n"), stderr: text("err\n") });
    expect(program.take()).toEqual({ stdout: nothing, stderr: nothing });
  });

  test.skipIf(process.platform !== "linux" || Bun.which("setsid") === null)(
    "does not wait for a zombie that nobody reaps (skipped where setsid is not in PATH)",
    async () => {
      let slept = 0;
      const clock: typeof systemClock = {
        ...systemClock,
        sleep(ms, signal) {
          slept++;
          return systemClock.sleep(ms, signal);
        },
      };
      const mark = freshSleep();
      // The second becomes a program in a session of its own that never asks how the first ended.
      const leaver = `exec setsid sh -c ': >ready-${mark}; exec sleep ${mark}'`;
      const script = `(true & ${leaver}) >/dev/null 2>&1 & while [ ! -e ready-${mark} ]; do :; done`;
      const program = await createProcesses(clock).start({
        ...{ file: "/bin/sh", args: ["-c", script], cwd: folder },
        ...{ env: { PATH: process.env["PATH"] ?? "" }, timeoutMs: 0, keepBytes: 1000 },
      });
      await program.exited;
      const naps = slept;
      let parents: string[] = [];
      while (parents.length === 0) parents = runningWith(mark);
      const [parent = ""] = parents;
      const children = statesOfChildren(parent);
      process.kill(Number(parent));
      expect(children).toEqual(["Z"]);
      expect(naps).toBe(0);
    },
  );

  test("rejects when there is no such program", async () => {
    const code = await start("", { file: join(folder, "none") }).then(
      () => "started",
      (error: { code?: unknown }) => error.code,
    );
    expect(code).toBe("ENOENT");
  });

  test(
    "feeds a program, which answers, until its input is closed",
    async () => {
      const program = await start('while read -r line; do echo "got $line"; done; echo end');
      expect(await program.write("one\n")).toBe("written");
      await says(program, "got one\n");
      expect(program.take().stdout).toEqual(text("got one\n"));
      expect(await program.write("two ✓\n")).toBe("written");
      await says(program, "got two ✓\n");
      program.closeInput();
      expect(await program.write("three\n")).toBe("closed");
      expect(await program.exited).toMatchObject({ exitCode: 0 });
      expect(program.take().stdout).toEqual(text("got two ✓\nend\n"));
    },
    PATIENCE_MS,
  );

  test(
    "leaves a character whose end has not come for the next time",
    async () => {
      const go = join(folder, "go");
      const program = await start(`printf 'a\\342'; while [ ! -e ${go} ]; do :; done; printf '\\200\\224b'`);
      const heard: string[] = [];
      program.onOutput((_, piece) => heard.push(piece));
      await says(program, "a");
      expect(program.take().stdout).toEqual(text("a"));
      writeFileSync(go, "");
      await program.exited;
      expect(program.take().stdout).toEqual(text("—b"));
      expect(heard.join("")).toBe("a—b");
    },
    PATIENCE_MS,
  );

  test(
    "keeps beginning and end of what was said between two readings",
    async () => {
      const program = await start("seq 1 100000; read -r line; seq 1 100000", { keepBytes: 10 });
      await says(program, "\n100000\n");
      const shown = { head: "1\n2\n3\n4\n5\n", tail: "99\n100000\n", omittedBytes: 588_875 };
      expect(program.take().stdout).toEqual(shown);
      await program.write("\n");
      await program.exited;
      expect(program.take().stdout).toEqual(shown);
    },
    PATIENCE_MS,
  );

  test(
    "outlives a program that closes its input or ends with text unread",
    async () => {
      const deaf = await start("exec <&-; echo closed; read -r line; exit 0");
      await says(deaf, "closed");
      await deaf.write("x\n");
      await deaf.write("y".repeat(500_000));
      await deaf.exited;
      const unread = await start("echo ready; exit 0");
      await unread.write("z".repeat(500_000));
      expect(await unread.exited).toMatchObject({ exitCode: 0 });
      expect(await unread.write("x\n")).toBe("closed");
    },
    PATIENCE_MS,
  );

  test(
    "takes no more text when much of it waits unread",
    async () => {
      const program = await start("exec sleep 100000");
      const outcomes: string[] = [];
      for (let round = 0; round < 4; round++) outcomes.push(await program.write("x".repeat(500_000)));
      expect(outcomes[0]).toBe("written");
      expect(outcomes.at(-1)).toBe("full");
      program.end("aborted");
      await program.exited;
    },
    PATIENCE_MS,
  );

  test(
    "ends the whole group when told to, also when it refuses, and tells the first reason",
    async () => {
      const sleep = freshSleep();
      const program = await start(`trap '' TERM; sleep ${sleep} & echo ready; sleep ${sleep}; wait`);
      await says(program, "ready");
      program.end("aborted");
      program.end("flood");
      expect(await program.exited).toEqual({ exitCode: null, signal: "SIGKILL", ended: "aborted" });
      expect(runningWith(sleep)).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    "ends the whole group at its time limit",
    async () => {
      const sleep = freshSleep();
      const program = await start(`sleep ${sleep} & sleep ${sleep}`, { timeoutMs: 50 });
      expect(await program.exited).toMatchObject({ exitCode: null, ended: "timeout" });
      expect(runningWith(sleep)).toEqual([]);
    },
    PATIENCE_MS,
  );

  test(
    "ends a program that floods while nobody asks",
    async () => {
      const program = await start("yes");
      expect(await program.exited).toMatchObject({ ended: "flood" });
    },
    PATIENCE_MS,
  );

  test(
    "lets a program write without end whose output is taken",
    async () => {
      const program = await start("head -c 100000000 /dev/zero");
      const stop = program.onOutput(() => void program.take());
      expect(await program.exited).toMatchObject({ exitCode: 0, ended: undefined });
      stop();
    },
    PATIENCE_MS,
  );
});

describe("endAll()", () => {
  test(
    "ends what was started",
    async () => {
      const sleep = freshSleep();
      const others = createProcesses(systemClock);
      const program = await others.start({
        file: "/bin/sh",
        args: ["-c", `trap '' TERM; sleep ${sleep} & echo ready; wait`],
        cwd: folder,
        env: { PATH: process.env["PATH"] ?? "" },
        timeoutMs: 0,
        keepBytes: 10,
      });
      await says(program, "ready");
      others.endAll();
      expect(await program.exited).toMatchObject({ signal: "SIGKILL" });
      expect(runningWith(sleep)).toEqual([]);
    },
    PATIENCE_MS,
  );
});
