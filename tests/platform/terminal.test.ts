import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openPseudoTerminal } from "./pseudo-terminal.ts";

const keysProgram = join(import.meta.dir, "programs/keys.ts");
const outputProgram = join(import.meta.dir, "programs/output.ts");
/** Programs take their time on a busy machine. */
const PATIENCE_MS = 60_000;
const bun = process.execPath;

function openKeys(rounds: number, ending: "return" | "exit" | "throw") {
  return openPseudoTerminal([bun, keysProgram, String(rounds), ending]);
}

/** The same, in a shell that says afterwards how the program ended and how it left the terminal. */
function openKeysInShell(ending: "return" | "exit" | "throw") {
  const script = `"$0" "$1" 1 ${ending}; echo "<exit $?>"; stty -a | tr ' ;' '\\n\\n' | grep -x -e -*icanon -e -*echo -e -*isig`;
  return openPseudoTerminal(["sh", "-c", script, bun, keysProgram]);
}

function shell(script: string, ...args: string[]) {
  const { stdout, stderr, exitCode } = Bun.spawnSync(["sh", "-c", script, bun, outputProgram, ...args], {
    stdin: "ignore",
  });
  return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
}

function readAll(input: Uint8Array | "ignore", maxBytes: number): string {
  return Bun.spawnSync([bun, outputProgram, "read", String(maxBytes)], { stdin: input }).stdout.toString();
}

describe("keys()", () => {
  test(
    "gives every key as it is pressed, Ctrl-C among them",
    async () => {
      const terminal = openKeys(1, "return");
      await terminal.until("<ready 1>");
      terminal.type("é");
      await terminal.until('"text":"é"');
      terminal.type("\x1b[A");
      await terminal.until('"name":"up"');
      terminal.type("\x03");
      await terminal.until('"name":"c","text":"","ctrl":true');
      terminal.type("q");
      await terminal.until("<over 1>");
      expect(await terminal.exited).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    "gives a lone ESC without another key",
    async () => {
      const terminal = openKeys(1, "return");
      await terminal.until("<ready 1>");
      terminal.type("\x1b");
      await terminal.until('"name":"escape"');
      terminal.type("q");
      expect(await terminal.exited).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    "asks for bracketed paste, gives it as one key, and calls it off at the end",
    async () => {
      const terminal = openKeys(1, "return");
      await terminal.until("\x1b[?2004h");
      await terminal.until("<ready 1>");
      terminal.type("\x1b[200~two\r\nlines q\x1b[201~");
      await terminal.until('"name":"paste","text":"two\\nlines q"');
      terminal.type("q");
      await terminal.until("\x1b[?2004l");
      expect(await terminal.exited).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    "can be asked for again after an abort",
    async () => {
      const terminal = openKeys(3, "return");
      for (const round of [1, 2, 3]) {
        await terminal.until(`<ready ${round}>`);
        terminal.type(`${round}`);
        await terminal.until(`"text":"${round}"`);
        terminal.type("q");
        await terminal.until(`<over ${round}>`);
      }
      expect(await terminal.exited).toBe(0);
    },
    PATIENCE_MS,
  );

  test.each(["return", "exit", "throw"] as const)(
    "leaves the terminal as it was when the program ends by %s",
    async (ending) => {
      const terminal = openKeysInShell(ending);
      await terminal.until("<ready 1>");
      terminal.type("q");
      await terminal.until("\x1b[?2004l");
      await terminal.until(`<exit ${ending === "throw" ? 1 : 0}>`);
      for (const flag of ["isig", "icanon", "echo"]) await terminal.until(`\n${flag}\r`);
      expect(await terminal.exited).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    "ends when the terminal hangs up",
    async () => {
      const terminal = openKeys(1, "return");
      await terminal.until("<ready 1>");
      terminal.close();
      // By the signal of the hang-up or by the end of the input, whichever comes first.
      expect([0, 129]).toContain(await terminal.exited);
    },
    PATIENCE_MS,
  );

  test("gives what a pipe holds as keys and ends with it", () => {
    const { stdout } = Bun.spawnSync([bun, keysProgram, "1"], { stdin: new TextEncoder().encode("a\x1b") });
    const names = [...stdout.toString().matchAll(/"name":"([^"]*)"/g)].map((match) => match[1]);
    expect(names).toEqual(["a", "escape"]);
    expect(stdout.toString()).toEndWith("<over 1>");
    expect(stdout.toString()).not.toContain("\x1b");
  });
});

describe("columns and onResize()", () => {
  test(
    "follow the terminal",
    async () => {
      const terminal = openPseudoTerminal([bun, outputProgram, "resize"]);
      await terminal.until("<at 80 true true true>");
      terminal.resize(101);
      await terminal.until("<now 101>");
      terminal.type("q");
      expect(await terminal.exited).toBe(0);
    },
    PATIENCE_MS,
  );

  test("are 80 and nothing without a terminal", () => {
    const { stderr } = shell('"$0" "$1" state < /dev/null > /dev/null');
    expect(JSON.parse(stderr)).toEqual({
      stdinIsTty: false,
      stdoutIsTty: false,
      stderrIsTty: false,
      columns: 80,
    });
  });

  test("take a closed stdin and stdout for no terminal", () => {
    const { stderr } = shell('"$0" "$1" state <&- >&-');
    expect(JSON.parse(stderr)).toMatchObject({ stdinIsTty: false, stdoutIsTty: false });
  });
});

describe("out(), err() and flush()", () => {
  test("lose nothing to a slow reader before the process exits", () => {
    const { stdout, stderr, exitCode } = shell('"$0" "$1" big | (sleep 0.1; wc -c)');
    expect([stdout.trim(), stderr, exitCode]).toEqual([String(4096 * 1024), "end\n", 0]);
  });

  test("go on when the reader has gone", () => {
    const { stdout, stderr } = shell('{ "$0" "$1" head; echo "exit $?" >&2; } | head -c 5');
    expect([stdout, stderr]).toEqual(["xxxxx", "still here\nexit 0\n"]);
  });

  test("throw when the disk is full, so that nobody takes a cut file for a whole one", () => {
    expect(shell('"$0" "$1" head > /dev/full').exitCode).toBe(1);
  });
});

describe("readAll()", () => {
  test("gives all of it, with bytes that are no text replaced", () => {
    expect(readAll(new Uint8Array([0xe2, 0x80, 0x94, 0xff, 0]), 5)).toBe(JSON.stringify("—\ufffd\0"));
  });

  test("gives nothing for an empty input", () => {
    expect(readAll("ignore", 5)).toBe('""');
  });

  test("refuses more than it may take", () => {
    expect(readAll(new Uint8Array(1_000_000), 999_999)).toBe(
      "UserError: Cannot read more than 999999 bytes from standard input",
    );
  });

  test("gives nothing for a closed input", () => {
    expect(shell('"$0" "$1" read 5 <&-').stdout).toBe('""');
  });
});
