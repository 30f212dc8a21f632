/** What a tool call can do to the machine: processes it leaves, memory it takes. */

import { describe, expect, test } from "bun:test";
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import {
  endToEnd,
  type Home,
  newHome,
  newMilestone,
  REACH_MILESTONE,
  run,
  start,
  untilNoProcess,
  unusualSleep,
} from "./harness.ts";

endToEnd();

function call(name: string, args: unknown, home: Home) {
  return start(["tools", "call", name, JSON.stringify(args)], { home });
}

/** The sandbox ends everything at once, and where there is none the group has to. */
describe.each(["auto", "none"])("nanobot tools call exec, with the sandbox %s", (sandbox) => {
  const config = { tools: { exec: { sandbox } } };

  test.each([
    { name: "background", command: (sleep: string) => `${sleep} & ${sleep}` },
    { name: "nested", command: (sleep: string) => `sh -c 'sh -c "${sleep} & wait" & wait'` },
    { name: "deaf", command: (sleep: string) => `trap '' TERM; sh -c '${sleep}; ${sleep}'` },
    { name: "piped", command: (sleep: string) => `${sleep} | cat | ${sleep}` },
  ])("leaves no $name process behind after its timeout", async ({ command }) => {
    const sleep = unusualSleep();
    const { code, stdout } = await call("exec", { command: command(sleep), timeout: 1 }, newHome(config))
      .outcome;
    expect(stdout).toStartWith("Error: ");
    expect(stdout).toContain("ended after 1 s");
    expect(code).toBe(1);
    await untilNoProcess(sleep);
  });

  test("leaves no background process behind after its end", async () => {
    const sleep = unusualSleep();
    const { code, stdout } = await call("exec", { command: `${sleep} & echo done` }, newHome(config)).outcome;
    expect(stdout).toBe("done\n\nExit code: 0\n");
    expect(code).toBe(0);
    await untilNoProcess(sleep);
  });

  test("takes what is piped in, and says that a session ends with it", async () => {
    const sleep = unusualSleep();
    const stdin = JSON.stringify({ command: sleep, yield_time_ms: 0 });
    const { code, stdout, stderr } = await run(["tools", "call", "exec"], { home: newHome(config), stdin });
    expect([code, stderr]).toEqual([
      0,
      "The session ends with this command: only a conversation keeps one\n",
    ]);
    expect(stdout).toContain("The command goes on as the session");
    await untilNoProcess(sleep);
  });

  test.each([
    { name: "SIGINT", signals: ["SIGINT"] },
    { name: "SIGTERM", signals: ["SIGTERM"] },
    { name: "an impatient SIGINT", signals: ["SIGINT", "SIGTERM", "SIGINT"] },
  ] as const)("leaves no process behind after $name", async ({ signals }) => {
    const home = newHome(config);
    const milestone = newMilestone(home);
    const sleep = unusualSleep();
    // Deaf to the polite signal, which what it starts inherits.
    const command = `trap '' TERM; ${sleep} & ${REACH_MILESTONE}; ${sleep}`;
    const program = call("exec", { command }, home);
    await milestone.reached;
    for (const signal of signals) program.signal(signal);
    expect((await program.outcome).code).toBe(130);
    await untilNoProcess(sleep);
  });

  test("leaves no session behind when the program ends", async () => {
    const sleep = unusualSleep();
    const command = `trap '' TERM; ${sleep} & ${sleep}`;
    const { code, stdout } = await call("exec", { command, yield_time_ms: 0 }, newHome(config)).outcome;
    expect(stdout).toContain("The command goes on as the session");
    expect(code).toBe(0);
    await untilNoProcess(sleep);
  });

  test("ends a command that floods its output", async () => {
    const { code, stdout } = await call("exec", { command: "yes flood" }, newHome(config)).outcome;
    expect(stdout).toContain("wrote too much");
    expect(stdout.length).toBeLessThan(20_000);
    expect(code).toBe(1);
  });
});

/** The most memory a process ever used, in MB, read until it ends. Linux only. */
async function peakMemory(pid: number): Promise<number> {
  let peak = 0;
  for (;;) {
    const kib = /VmHWM:\s+(\d+) kB/.exec(statusOf(pid))?.[1];
    if (kib === undefined) return peak / 1024;
    peak = Number(kib);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return ""; // It has ended.
  }
}

const LIMIT_MB = 300;
const SPARSE_BYTES = 3 * 1024 ** 3;

/** A file that would take 3 GB of memory and takes none of the disk. */
function sparseFile(path: string, begin = ""): void {
  const file = openSync(path, "w");
  writeSync(file, begin);
  ftruncateSync(file, SPARSE_BYTES);
  closeSync(file);
}

async function bounded(name: string, args: unknown, home: Home) {
  const program = call(name, args, home);
  if (process.platform === "linux") {
    const peak = await peakMemory(program.pid);
    expect(peak).toBeGreaterThan(1);
    expect(peak).toBeLessThan(LIMIT_MB);
  }
  return program.outcome;
}

function homeWithWorkspace(config?: unknown): Home {
  const home = newHome(config);
  mkdirSync(home.workspace);
  return home;
}

describe("nanobot tools call read_file in bounded memory", () => {
  test("refuses a file of 3 GB of zeros", async () => {
    const home = homeWithWorkspace();
    sparseFile(join(home.workspace, "zeros"));
    const { code, stdout } = await bounded("read_file", { path: "zeros" }, home);
    expect(stdout).toStartWith("Error: ");
    expect(code).toBe(1);
  });

  test.each([{ offset: 1 }, { offset: 900 }, { offset: 1_000_000_000, limit: 5 }])(
    "reads %j of a file of 3 GB that begins as text",
    async (range) => {
      const home = homeWithWorkspace();
      const lines = Array.from({ length: 1_000 }, (_, line) => `line ${line + 1}\n`).join("");
      sparseFile(join(home.workspace, "huge.txt"), lines.repeat(20));
      const { code, stdout } = await bounded("read_file", { path: "huge.txt", ...range }, home);
      expect(stdout.length).toBeLessThan(200_000);
      if (code === 0) expect(stdout).toContain(`line ${range.offset}`);
      else expect(stdout).toStartWith("Error: ");
    },
  );

  test.each(["zero", "null", "tty"])("refuses a link to /dev/%s", async (device) => {
    const home = homeWithWorkspace({ tools: { restrictToWorkspace: false } });
    const { code, stdout } = await bounded("read_file", { path: `/dev/${device}` }, home);
    expect(stdout).toStartWith("Error: ");
    expect(stdout).toContain(device);
    expect(code).toBe(1);
  });

  test("refuses a FIFO without waiting for a writer", async () => {
    const home = homeWithWorkspace();
    expect(Bun.spawnSync(["mkfifo", join(home.workspace, "pipe")]).success).toBe(true);
    const { code, stdout } = await bounded("read_file", { path: "pipe" }, home);
    expect(stdout).toStartWith("Error: ");
    expect(code).toBe(1);
  });

  test.each([
    { tool: "edit_file", args: { path: "zeros", old_text: "a", new_text: "b" } },
    { tool: "list_dir", args: { path: ".", recursive: true } },
  ])("$tool does not read it either", async ({ tool, args }) => {
    const home = homeWithWorkspace();
    sparseFile(join(home.workspace, "zeros"));
    await bounded(tool, args, home);
  });
});

describe("nanobot tools list", () => {
  test("prints the tools that tools call takes", async () => {
    const home = newHome();
    const { code, stdout } = await run(["tools", "list", "--json"], { home });
    const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual([
      "apply_patch",
      "cron",
      "edit_file",
      "exec",
      "find_files",
      "grep",
      "list_dir",
      "list_exec_sessions",
      "memory_search",
      "message",
      "read_file",
      "spawn",
      "web_fetch",
      "web_search",
      "write_file",
      "write_stdin",
    ]);
    expect(code).toBe(0);
  });
});
