/** Exit codes, and what goes to which stream: what scripts that call the program rely on. */

import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../fakes/temp.ts";
import {
  ask,
  binary,
  endToEnd,
  inTerminal,
  modelAt,
  newHome,
  newMilestone,
  REACH_MILESTONE,
  run,
  sessionOf,
  start,
  startCommand,
  startModel,
  untilNoProcess,
  unusualSleep,
} from "./harness.ts";

endToEnd();

const HOSTILE = "\x1b]0;title\x07\x1b[31mred\x1b[2J \x9b5m **bold** \u202eevil";

describe("nanobot with wrong arguments", () => {
  test.each([
    { args: ["agnt"], says: ["agnt", 'Did you mean "agent"?'] },
    { args: ["sessions", "shw"], says: ["shw", 'Did you mean "sessions show"?'] },
    { args: ["agent", "--jsn"], says: ["--jsn", 'Did you mean "--json"?'] },
    { args: ["agent", "-m"], says: ["-m"] },
    { args: ["agent", "-m", " \n "], says: ["empty"] },
    { args: ["agent"], says: ["empty"] },
    { args: ["sessions", "show"], says: ["KEY"] },
    { args: ["sessions", "show", "cli:nobody"], says: ["cli:nobody"] },
    { args: ["sessions"], says: ["show"] },
  ])("$args ends with 2 and explains itself on stderr", async ({ args, says }) => {
    const { code, stdout, stderr } = await run(args, { home: newHome() });
    expect(stdout).toBe("");
    for (const text of says) expect(stderr).toContain(text);
    expect(stderr).not.toContain("this is a bug");
    expect(code).toBe(2);
  });

  test.each([["--help"], ["agent", "--help"], ["sessions", "--help"], []])(
    "%j prints help on stdout",
    async (...args) => {
      const { code, stdout, stderr } = await run(args, { home: newHome() });
      expect(stdout).toContain("Usage: nanobot");
      expect(stderr).toBe("");
      expect(code).toBe(0);
    },
  );

  test("--version prints one line", async () => {
    const { code, stdout, stderr } = await run(["--version"], { home: newHome() });
    expect(stdout).toMatch(/^🐈 nanobot v\d+\.\d+\.\d+\n$/);
    expect(stderr).toBe("");
    expect(code).toBe(0);
  });
});

describe("nanobot agent -m", () => {
  test("prints the answer alone on stdout and ends with 0", async () => {
    const server = await startModel([{ text: ["Good ", "morning"] }]);
    const outcome = await ask("hello", newHome(modelAt(server.url)));
    expect(outcome).toEqual({ code: 0, stdout: "Good morning\n", stderr: "" });
  });

  test("ends with 1 and nothing on stdout when the model fails", async () => {
    const server = await startModel([{ status: 400, body: { error: { message: "no" } } }]);
    const home = newHome(modelAt(server.url));
    const { code, stdout, stderr } = await ask("hello", home);
    expect(stdout).toBe("");
    expect(stderr).toContain("no");
    expect(code).toBe(1);
    expect((await sessionOf(home)).map(({ role }) => role)).toEqual(["user"]);
  });

  test("ends with 1 when there is nobody at the model's address", async () => {
    const server = await startModel([]);
    await server.close();
    const { code, stdout, stderr } = await ask("hello", newHome(modelAt(server.url)));
    expect(stdout).toBe("");
    expect(stderr).not.toBe("");
    expect(code).toBe(1);
  });

  test("lets no control character of the model through a pipe", async () => {
    const server = await startModel([{ text: [HOSTILE] }, { text: [HOSTILE] }]);
    const home = newHome(modelAt(server.url));
    const plain = await ask("hello", home);
    const json = await ask("hello", home, "--json");
    const shown = await run(["sessions", "show", "cli:direct"], { home });
    for (const { code, stdout, stderr } of [plain, json, shown]) {
      expect(stdout + stderr).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
      expect(stdout).toContain("bold");
      expect(code).toBe(0);
    }
    // The conversation itself keeps what the model said.
    expect(JSON.parse(json.stdout).content).toBe(HOSTILE);
  });

  test("survives a reader that leaves", async () => {
    const text = Array.from({ length: 20_000 }, (_, line) => `line ${line}\n`).join("");
    const server = await startModel([{ text }]);
    const home = newHome(modelAt(server.url));
    const code = join(tempFolder(), "code");
    const script = `{ "$1" agent -m hello; echo $? > "$2"; } | head -n 1`;
    const outcome = await startCommand(["sh", "-c", script, "sh", binary(), code], { home }).outcome;
    expect(outcome).toEqual({ code: 0, stdout: "line 0\n", stderr: "" });
    expect(readFileSync(code, "utf8")).toBe("0\n");
    expect((await sessionOf(home)).at(-1)?.content).toBe(text);
  });

  test("ends with 130 on Ctrl-C while the model is silent", async () => {
    const server = await startModel([{ never: true }]);
    const home = newHome(modelAt(server.url));
    const program = start(["agent", "-m", "hello"], { home });
    const [request] = await server.received(1);
    program.signal("SIGINT");
    const { code, stdout, stderr } = await program.outcome;
    expect(await request?.over).toBe("gone");
    expect(stdout).toBe("");
    expect(stderr).not.toContain("bug");
    expect(code).toBe(130);
  });

  test("ends even a deaf command on an impatient Ctrl-C", async () => {
    const sleep = unusualSleep();
    const command = `trap '' TERM; ${REACH_MILESTONE}; ${sleep}`;
    const server = await startModel([
      { toolCalls: [{ name: "exec", arguments: { command } }] },
      { text: "going on" },
    ]);
    const home = newHome(modelAt(server.url));
    const milestone = newMilestone(home);
    const program = start(["agent", "-m", "hello"], { home });
    await milestone.reached;
    program.signal("SIGINT");
    program.signal("SIGTERM");
    expect((await program.outcome).code).toBe(130);
    await untilNoProcess(sleep);
    expect((await ask("go on", home)).stdout).toBe("going on\n");
    expect(server.invalid).toEqual([]);
  });

  test("ends the running command on Ctrl-C and closes its call in the session", async () => {
    const sleep = unusualSleep();
    const command = `${REACH_MILESTONE}; ${sleep}`;
    const calls = [
      { name: "exec", arguments: { command } },
      { name: "exec", arguments: { command: "echo never > never" } },
    ];
    const server = await startModel([{ toolCalls: calls }, { text: "going on" }]);
    const home = newHome(modelAt(server.url));
    const milestone = newMilestone(home);
    const program = start(["agent", "-m", "hello"], { home });
    await milestone.reached;
    program.signal("SIGINT");
    expect((await program.outcome).code).toBe(130);
    await untilNoProcess(sleep);

    const lines = await sessionOf(home);
    const asked = lines.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
    const answered = lines.flatMap(({ tool_call_id }) => tool_call_id ?? []);
    expect(answered).toEqual(asked);
    expect((await ask("go on", home)).stdout).toBe("going on\n");
    expect(server.invalid).toEqual([]);
  });
});

describe("nanobot agent -m in a terminal", () => {
  test("obeys NO_COLOR", async () => {
    const server = await startModel([{ text: HOSTILE }, { text: HOSTILE }]);
    const home = newHome(modelAt(server.url));
    const colored = inTerminal(["agent", "-m", "hello"], home);
    const plain = inTerminal(["agent", "-m", "hello"], home, { NO_COLOR: "1" });
    expect(await Promise.all([colored.exited, plain.exited])).toEqual([0, 0]);
    // Bold and colour; without any it would prove nothing that the other has none.
    expect(colored.shown).toMatch(/\x1b\[[\d;]*m/);
    expect(plain.shown).not.toMatch(/\x1b\[[\d;]*m/);
    for (const { shown } of [colored, plain]) {
      expect(shown).toContain("bold");
      expect(shown).not.toContain("title");
      expect(shown).not.toContain("\x1b[2J");
      expect(shown).not.toMatch(/[\x9b\u202e]/);
    }
  });

  test("ends with 130 on Ctrl-C", async () => {
    const server = await startModel([{ never: true }]);
    const terminal = inTerminal(["agent", "-m", "hello"], newHome(modelAt(server.url)));
    await server.received(1);
    terminal.type("\x03");
    expect(await terminal.exited).toBe(130);
  });
});

describe("nanobot tools call", () => {
  test("ends with 0 and the result on stdout", async () => {
    const outcome = await run(["tools", "call", "exec", '{"command":"echo out"}'], { home: newHome() });
    expect(outcome).toEqual({ code: 0, stdout: "out\n\nExit code: 0\n", stderr: "" });
  });

  test.each([
    ["read_file", '{"path":"missing.txt"}', "missing.txt"],
    ["read_file", "{}", "path"],
    ["read_file", "not JSON", "JSON"],
    ["raed_file", "{}", 'did you mean "read_file"'],
  ])("%s with %j ends with 1", async (name, json, says) => {
    const { code, stdout, stderr } = await run(["tools", "call", name, json], { home: newHome() });
    expect(stdout).toStartWith("Error: ");
    expect(stdout).toContain(says);
    expect(stderr).toBe("");
    expect(code).toBe(1);
  });

  test("gives the model what the file holds, and a pipe no escape sequences", async () => {
    const home = newHome();
    await run(["tools", "call", "list_dir", '{"path":"."}'], { home });
    writeFileSync(join(home.workspace, "colours.txt"), "\x1b[31mred\x1b[0m\n");
    const { stdout } = await run(["tools", "call", "exec", '{"command":"cat colours.txt"}'], { home });
    expect(stdout).toBe("red\n\nExit code: 0\n");
  });
});
