import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../../fakes/temp.ts";
import { openPseudoTerminal } from "../../platform/pseudo-terminal.ts";

const program = join(import.meta.dir, "programs/ask.ts");
const bun = process.execPath;
/** Programs take their time on a busy machine. */
const PATIENCE_MS = 60_000;
const PROMPT = "Run it? [y/N] ";

function open(what = "rm -r build") {
  return openPseudoTerminal([bun, program, what]);
}

describe("createTerminalAsker()", () => {
  test(
    "takes a yes that is typed at its prompt, and leaves the terminal as it was",
    async () => {
      const script =
        '"$0" "$1" "rm -r build"; stty -a | tr " ;" "\\n\\n" | grep -x -e "-*icanon" -e "-*echo"';
      const terminal = openPseudoTerminal(["sh", "-c", script, bun, program]);
      await terminal.until("exec asks for your permission: it deletes");
      await terminal.until("│ rm -r build");
      await terminal.until(PROMPT);
      terminal.type("y\r");
      await terminal.until('<answer {"granted":true,"by":"terminal"} >');
      await terminal.until("icanon");
      await terminal.until("echo");
      await terminal.exited;
      expect(terminal.shown).not.toMatch(/-icanon|-echo\r/);
    },
    PATIENCE_MS,
  );

  test(
    "takes for an answer neither what was typed before it began nor what is typed before its prompt",
    async () => {
      const go = join(tempFolder(), "go");
      const script = 'echo waiting; until test -e "$2"; do sleep 0.01; done; exec "$0" "$1" "rm -r build"';
      const terminal = openPseudoTerminal(["sh", "-c", script, bun, program, go]);
      await terminal.until("waiting");
      terminal.type("y\r");
      // The terminal has it, and shows it itself.
      await terminal.until("y");
      writeFileSync(go, "");
      await terminal.until("│ rm -r build");
      terminal.type("y\r");
      await terminal.until(PROMPT);
      terminal.type("\r");
      await terminal.until('<answer {"granted":false,"why":"denied","by":"terminal"} >');
      expect(await terminal.exited).toBe(0);
    },
    PATIENCE_MS,
  );

  test(
    "denies on Ctrl-C and says so, and shows what a command hides",
    async () => {
      const terminal = open("true \u202e\x1b[2J");
      await terminal.until("│ true ⟨U+202E⟩⟨U+001B⟩[2J");
      await terminal.until(PROMPT);
      terminal.type("\x03");
      await terminal.until('<answer {"granted":false,"why":"denied","by":"terminal"} c>');
      expect(terminal.shown).not.toContain("\u202e");
      expect(await terminal.exited).toBe(0);
    },
    PATIENCE_MS,
  );

  test("has nobody to ask in a pipe", () => {
    const { stdout } = Bun.spawnSync([bun, program, "x"], { stdin: "ignore" });
    expect(stdout.toString()).toBe('<answer "nobody" >\n');
  });
});
