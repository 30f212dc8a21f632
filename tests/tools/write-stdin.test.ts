import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Permit, ToolResult } from "../../src/core/tool.ts";
import { createCommandGuard } from "../../src/shell/command-guard.ts";
import { createInputGuard } from "../../src/shell/input-guard.ts";
import { exec } from "../../src/tools/exec.ts";
import { listExecSessions } from "../../src/tools/list-exec-sessions.ts";
import { permitStdin } from "../../src/tools/stdin-permit.ts";
import { writeStdin } from "../../src/tools/write-stdin.ts";
import { commandPorts, isRunning } from "./commands.ts";
import { createFixture, system } from "./fixture.ts";

/** Far longer than anything here takes: every wait ends with what it waits for. */
const LONG_MS = 120_000;

setDefaultTimeout(LONG_MS);

const ports = commandPorts();
const { call, workspace, context } = createFixture({ ports });
const guard = createCommandGuard({
  files: system,
  web: { whyRefused: async () => undefined },
  sandbox: { state: async () => ({ kind: "none", why: "a test" }), allowedPaths: async () => [] },
  policy: "guarded",
  allowPatterns: [],
  denyPatterns: [],
  restrictToWorkspace: true,
  workspace,
  home: undefined,
  configFile: "/none/config.json",
  ownResults: ".nanobot/tool-results/x",
});

afterAll(() => ports.processes.endAll());

async function begin(command: string): Promise<string> {
  const { text } = await call(exec, { command, yield_time_ms: 0 });
  const id = /session "(\w+)"/.exec(text)?.[1];
  if (id === undefined) throw new Error(`No session: ${text}`);
  return id;
}

const write = (id: string, args: object = {}): Promise<ToolResult> =>
  call(writeStdin, { session_id: id, ...args });
const waitFor = (text: string) => ({ wait_for: text, wait_timeout_ms: LONG_MS });

describe("write_stdin()", () => {
  test("writes, waits for an answer, and tells only what is new", async () => {
    const id = await begin('while read -r x; do echo "got $x"; done; echo bye; exit 3');
    const answer = await write(id, { chars: "one ✓\n", ...waitFor("one ✓\n") });
    expect(answer).toEqual({
      ok: true,
      text: expect.stringMatching(/^got one ✓\n\nThe command goes on as the session/),
    });
    expect(await write(id, { close_stdin: true, ...waitFor("never said") })).toEqual({
      ok: true,
      text: "bye\n\nExit code: 3",
      exitCode: 3,
    });
    expect((await write(id)).text).toStartWith(`There is no session "${id}"`);
  });

  test("waits no longer than it was told, and says that the text was not there", async () => {
    const id = await begin("exec sleep 100000");
    expect((await write(id, { wait_for: "x", wait_timeout_ms: 0 })).text).toEndWith(
      '"x" was not in the output yet.',
    );
    expect((await write(id, { yield_time_ms: 0 })).text).not.toContain("was not in");
    await write(id, { terminate: true });
  });

  test("ends a command with all that it started, and tells what it said last", async () => {
    const id = await begin("trap '' TERM; read -r go; sleep 100000 & echo $!; wait");
    const { text } = await write(id, { chars: "go\n", ...waitFor("\n") });
    const pid = Number(text.split("\n")[0]);
    expect(isRunning(pid)).toBe(true);
    expect(await write(id, { terminate: true })).toEqual({
      ok: true,
      text: "The command was ended as you asked\n(No output)\n\nExit code: none",
      exitCode: null,
    });
    expect(isRunning(pid)).toBe(false);
  });

  test("says that the input is closed, with what the command said", async () => {
    const id = await begin("cat; echo rest; exec sleep 100000");
    await write(id, { close_stdin: true, ...waitFor("rest") });
    const result = await write(id, { chars: "x\n", yield_time_ms: 30_000 });
    expect(result).toMatchObject({ ok: false });
    expect(result.text).toStartWith(`Cannot write to the session "${id}": its input is closed\n(No output)`);
    await write(id, { terminate: true });
  });

  test("reaches no session of another conversation", async () => {
    const id = await begin("exec sleep 100000");
    const other = createFixture({ ports });
    const reach = (args: object) =>
      writeStdin.execute({ session_id: id, ...args } as never, { ...other.context, sessionKey: "cli:other" });
    expect(await reach({ terminate: true })).toMatchObject({ ok: false });
    expect((await reach({ chars: "x" })).text).toStartWith(`There is no session "${id}"`);
    expect(ports.execSessions.list("cli:direct").find((one) => one.id === id)?.running).toBe(true);
    await write(id, { terminate: true });
  });

  test("says where a long output is to be cut, running and ended", async () => {
    const id = await begin("read -r go; seq 1 100; exec sleep 100000");
    const said = { chars: "go\n", ...waitFor("\n100\n"), max_output_chars: 1000 };
    expect(await write(id, said)).toMatchObject({ ok: true, limit: 1000 });
    expect(await write(id, { terminate: true, max_output_chars: 2000 })).toMatchObject({ limit: 2000 });
  });

  test("quotes no more of what it waited for than leaves room for the rest", async () => {
    const id = await begin("exec sleep 100000");
    const { text } = await write(id, { wait_for: "x".repeat(1_000), wait_timeout_ms: 0 });
    expect(text).toContain('…" was not in the output yet.');
    expect(text.length).toBeLessThan(300);
    await write(id, { terminate: true });
  });
});

describe("permitStdin()", () => {
  async function judge(id: string, chars: string, permit = guard): Promise<Permit> {
    const shell = { ...ports.shell, permit, permitInput: createInputGuard(permit) };
    return permitStdin({ session_id: id, chars }, { ...context, ports: { ...context.ports, shell } });
  }

  test.each([
    ["bash", "rm -rf /\n"],
    ["sh -i", "shutdown now\n"],
    ["cd . && exec env X=1 bash -s", "rm -rf ~\n"],
    ["sudo -s", "rm -rf /\n"],
    ["python3 -i", "import shutil; shutil.rmtree('/')\n"],
    ["bash", "echo 'unfinished\n"],
    ["bash", "cat .nanobot/audit.jsonl\n"],
  ])("denies %j the text %j", async (command, chars) => {
    const id = await begin(`true || ${command}; exec cat`);
    expect(await judge(id, chars)).toMatchObject({ decision: "deny" });
    await write(id, { terminate: true });
  });

  test.each([
    ["bash", "ls -l\necho done\n"],
    ["sh", "cat > notes.txt <<'X'\nEND_OF_INPUT\nX\n"],
    ["python3 -i", "print(1)\n"],
    ["cat > list", "rm -rf /\n"],
    ["npm init", "shutdown\n"],
  ])("allows %j the text %j", async (command, chars) => {
    const id = await begin(`true || ${command}; exec cat`);
    expect(await judge(id, chars)).toEqual({ decision: "allow" });
    await write(id, { terminate: true });
  });

  test("judges a command as a whole that comes in pieces", async () => {
    const id = await begin("exec bash");
    expect(await judge(id, "rm build/cache -r")).toEqual({ decision: "allow" });
    await write(id, { chars: "rm build/cache -r", yield_time_ms: 0 });
    expect(await judge(id, "f /\n")).toMatchObject({ decision: "deny" });
    expect(await judge(id, "\n")).toEqual({ decision: "allow" });
    await write(id, { terminate: true });
  });

  test("asks about what is written, and not about the shell", async () => {
    const id = await begin("exec bash");
    const permit = await judge(id, "make\n", async (what) => ({ decision: "ask", what, reason: "because" }));
    expect(permit).toEqual({ decision: "ask", what: "Write to `exec bash`:\nmake\n", reason: "because" });
    await write(id, { terminate: true });
  });

  test("denies a shell to which too much was written to judge it", async () => {
    const id = await begin("exec bash");
    await write(id, { chars: `: ${"x".repeat(65_000)}\n`, yield_time_ms: 0 });
    await write(id, { chars: `: ${"x".repeat(1_000)}\n`, yield_time_ms: 0 });
    expect(await judge(id, "ls\n")).toMatchObject({
      decision: "deny",
      reason: expect.stringContaining("more was written"),
    });
    await write(id, { terminate: true });
  });

  test("leaves what is not there, and what writes nothing, to the tool", async () => {
    const id = await begin("exec bash");
    const never = async () => {
      throw new Error("Nothing was to be judged");
    };
    expect(await judge("none", "rm -rf /\n", never)).toEqual({ decision: "allow" });
    expect(await judge(id, "", never)).toEqual({ decision: "allow" });
    await write(id, { terminate: true });
  });
});

describe("list_exec_sessions()", () => {
  test("shows the sessions of the conversation on two lines each, and says when there are none", async () => {
    expect((await call(listExecSessions, {})).text).toBe("There are no sessions");
    const long = `exec sleep 100000 # ${"x".repeat(200)}\nsecond line`;
    const id = await begin(long);
    const { text } = await call(listExecSessions, {});
    const [first = "", second = "", ...more] = text.split("\n");
    expect(first).toStartWith(`${id}: exec sleep 100000 # xxx`);
    expect(first).toHaveLength(id.length + 2 + 120);
    expect(second).toMatch(/^ {2}running, started \d+ s ago, last asked for \d+ s ago, in \S+$/);
    expect(more).toEqual([]);
    await write(id, { terminate: true });
  });
});
