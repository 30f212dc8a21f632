import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../../../src/core/errors.ts";
import { open, setUp } from "./setup.ts";

const folder = mkdtempSync(join(tmpdir(), "nanobot-"));
afterAll(() => rmSync(folder, { recursive: true }));

const GREETING = "nanobot 🐈 · /help, /exit";

test("createChat() greets and shows a prompt", async () => {
  const { emulator } = await open({ modelLabel: "m\x1b[31model", notice: "Offline" });
  expect(emulator.rows).toEqual(["Offline", "nanobot 🐈 · model · /help, /exit", "›"]);
  expect(emulator.cursor).toEqual({ row: 2, column: 2 });
});

test("createChat() listens before it shows the prompt", async () => {
  let listeningAtPrompt: boolean | undefined;
  const setup = await setUp(
    {},
    {
      tty: true,
      onWrite: (text) => {
        if (text.includes("›")) listeningAtPrompt ??= setup.terminal.listening;
      },
    },
  );
  const ended = setup.channel.start(new AbortController().signal);
  await setup.terminal.press("ctrl-d");
  await ended;
  expect(listeningAtPrompt).toBe(true);
});

test("createChat() shows a turn and then the prompt again", async () => {
  const chat = await open();
  await chat.terminal.type("hello");
  expect(chat.rows()).toEqual(["› hello"]);
  await chat.terminal.press("return");
  const turn = await chat.nextEmitted(0);
  expect(turn.content).toBe("hello");
  expect(chat.rows()).toEqual(["› hello"]);
  await chat.hint(turn, 'read_file("notes.md")');
  await chat.stream(turn, "It says\n\n", "hi");
  await chat.streamEnd(turn, false);
  await chat.answer(turn, "It says\n\nhi");
  expect(chat.rows()).toEqual(["› hello", '↳ read_file("notes.md")', "It says", "", "hi", "", "›"]);
});

test("createChat() spins while a turn runs and erases it before other output", async () => {
  const chat = await open();
  await chat.terminal.type("hello");
  await chat.terminal.press("return");
  const turn = await chat.nextEmitted(0);
  await chat.clock.advance(3_050);
  expect(chat.rows()[1]).toMatch(/^[⠀-⣿] thinking… [23] s$/);
  await chat.hint(turn, "exec()");
  await chat.clock.advance(100);
  expect(chat.rows()[1]).toBe("↳ exec()");
  expect(chat.rows()[2]).toMatch(/^[⠀-⣿] exec\(\)$/);
  await chat.answer(turn, "done");
  expect(chat.rows()).toEqual(["› hello", "↳ exec()", "done", "", "›"]);
  expect(chat.clock.pending).toBe(0);
});

test("createChat() keeps what is typed during a turn and plays it back after", async () => {
  const chat = await open();
  await chat.terminal.type("one");
  await chat.terminal.press("return");
  const first = await chat.nextEmitted(0);
  await chat.terminal.type("two");
  await chat.terminal.press("return");
  await chat.terminal.type("thr");
  expect(chat.rows()).toEqual(["› one"]);
  await chat.answer(first, "1");
  const second = await chat.nextEmitted(1);
  expect(second.content).toBe("two");
  await chat.answer(second, "2");
  expect(chat.rows()).toEqual(["› one", "1", "", "› two", "2", "", "› thr"]);
  expect(chat.emitted).toHaveLength(2);
});

test("createChat() does nothing on a blank line", async () => {
  const chat = await open();
  await chat.terminal.press("return");
  await chat.terminal.type("  ");
  await chat.terminal.press("return");
  expect(chat.emitted).toEqual([]);
  expect(chat.rows()).toEqual(["›"]);
});

test("createChat() sends a paste of several lines as one message", async () => {
  const chat = await open();
  await chat.terminal.paste("a\nb\n");
  expect(chat.emitted).toEqual([]);
  await chat.terminal.press("return");
  expect((await chat.nextEmitted(0)).content).toBe("a\nb\n");
});

test("createChat() passes commands it does not know on to the agent", async () => {
  const chat = await open();
  await chat.terminal.type("/new");
  await chat.terminal.press("return");
  const turn = await chat.nextEmitted(0);
  expect(turn.content).toBe("/new");
  await chat.answer(turn, "A new session", { outcome: "command" });
  expect(chat.rows()).toEqual(["› /new", "A new session", "", "›"]);
});

for (const word of ["/exit", "/quit", "exit", "quit", ":q", " exit ", "/EXIT", "Quit"]) {
  test(`createChat() leaves on "${word}"`, async () => {
    const chat = await open();
    await chat.terminal.type(word);
    await chat.terminal.press("return");
    await chat.ended;
    expect(chat.emitted).toEqual([]);
    expect(chat.terminal.stderr).toEndWith("Goodbye!\n");
    expect(chat.terminal.listening).toBe(false);
  });
}

test("createChat() leaves on Ctrl-D and when stdin ends, with a clean screen", async () => {
  const first = await open();
  await first.terminal.press("ctrl-d");
  await first.ended;
  expect(first.rows()).toEqual(["Goodbye!"]);
  const second = await open();
  await second.terminal.type("unsent");
  second.terminal.endInput();
  await second.ended;
  expect(second.rows()).toEqual([]);
});

test("createChat() warns on the first Ctrl-C and leaves on the second", async () => {
  const chat = await open();
  await chat.terminal.press("ctrl-c");
  expect(chat.rows()).toEqual(["Press Ctrl-C again to leave", "›"]);
  await chat.terminal.press("ctrl-c");
  await chat.ended;
  expect(chat.rows()).toEqual(["Press Ctrl-C again to leave", "Goodbye!"]);
});

test("createChat() forgets a Ctrl-C when another key follows, and clears the line with one", async () => {
  const chat = await open();
  await chat.terminal.press("ctrl-c");
  await chat.terminal.type("text");
  await chat.terminal.press("ctrl-c");
  expect(chat.rows().at(-1)).toBe("›");
  await chat.terminal.press("ctrl-c");
  expect(chat.terminal.listening).toBe(true);
  expect(chat.rows().filter((row) => row.startsWith("Press"))).toHaveLength(2);
});

test("createChat() stops the turn on Ctrl-C and leaves on a second one", async () => {
  const chat = await open();
  await chat.terminal.type("hello");
  await chat.terminal.press("return");
  const turn = await chat.nextEmitted(0);
  await chat.terminal.press("ctrl-c");
  const stop = await chat.nextEmitted(1);
  expect([stop.content, stop.sessionKey]).toEqual(["/stop", turn.sessionKey]);
  await chat.answer(turn, "Stopped.", { outcome: "stopped", answers: [turn.id, stop.id] });
  expect(chat.rows()).toEqual(["› hello", "Stopping; press Ctrl-C again to leave", "Stopped.", "", "›"]);
  await chat.terminal.press("ctrl-c");
  await chat.ended;
  expect(chat.emitted).toHaveLength(2);
});

test("createChat() leaves on a second Ctrl-C also while the turn still runs", async () => {
  const chat = await open();
  await chat.terminal.type("hello");
  await chat.terminal.press("return");
  await chat.clock.advance(500);
  await chat.terminal.press("ctrl-c", "ctrl-c");
  await chat.ended;
  expect(chat.rows()).toEqual(["› hello", "Stopping; press Ctrl-C again to leave", "Goodbye!"]);
  expect(chat.clock.pending).toBe(0);
});

test("createChat() waits for the answers to the turn and to the stop", async () => {
  const chat = await open();
  await chat.terminal.type("hello");
  await chat.terminal.press("return");
  const turn = await chat.nextEmitted(0);
  await chat.terminal.press("ctrl-c");
  const stop = await chat.nextEmitted(1);
  await chat.answer(turn, "Stopped.", { outcome: "stopped" });
  expect(chat.rows().at(-1)).toBe("Stopped.");
  await chat.answer(stop, "One turn was stopped.", { outcome: "command" });
  expect(chat.rows().at(-1)).toBe("›");
});

test("createChat() shows what arrives at the prompt above it and keeps what is being typed", async () => {
  const chat = await open();
  await chat.terminal.type("half a thou");
  await chat.send({
    id: "out:n" as never,
    channel: "cli",
    chatId: "direct",
    turn: "subagent:1" as never,
    kind: "final",
    outcome: "answer",
    answers: [],
    media: [],
    content: "The task is done.",
    metadata: {},
  });
  expect(chat.rows()).toEqual(["The task is done.", "› half a thou"]);
});

test("createChat() shows errors where the person looks when stderr is redirected", async () => {
  const chat = await open({}, { stderrIsTty: false });
  await chat.terminal.type("hello");
  await chat.terminal.press("return");
  await chat.answer(await chat.nextEmitted(0), "The model is down", { outcome: "error" });
  expect(chat.terminal.stdout).toContain("The model is down\n");
  expect(chat.terminal.stderr).toBe("");
});

test("createChat() works at 20 columns with wide characters", async () => {
  const chat = await open({}, { columns: 20 });
  await chat.terminal.type("日本語日本語日本語👩‍👧");
  await chat.terminal.press("left", "left");
  await chat.terminal.type("x");
  expect(chat.rows()).toEqual(["› 日本語日本語日本x", "  語👩‍👧"]);
  await chat.terminal.press("return");
  const turn = await chat.nextEmitted(0);
  await chat.clock.advance(1_000);
  await chat.answer(turn, "はい");
  expect(chat.rows()).toEqual(["› 日本語日本語日本x", "  語👩‍👧", "はい", "", "›"]);
});

test("createChat() draws the prompt anew when the terminal is resized", async () => {
  const chat = await open();
  await chat.terminal.type("a text that will need more rows");
  chat.emulator.resize(20);
  chat.terminal.resize(20);
  expect(chat.emulator.rows.slice(-2)).toEqual(["› a text that will", "  need more rows"]);
});

test("createChat() remembers what was sent, and not how it was left", async () => {
  const historyFile = join(folder, "history.jsonl");
  const first = await open({ historyFile });
  await first.terminal.type("hello");
  await first.terminal.press("return");
  await first.answer(await first.nextEmitted(0), "hi");
  await first.terminal.type("/exit");
  await first.terminal.press("return");
  await first.ended;
  expect(readFileSync(historyFile, "utf8")).toBe('"hello"\n');
  const second = await open({ historyFile });
  await second.terminal.press("up");
  expect(second.rows()).toEqual(["› hello"]);
});

test("createChat() ends with a clean screen when its signal aborts in the middle of a turn", async () => {
  const chat = await open();
  await chat.terminal.type("hello");
  await chat.terminal.press("return");
  await chat.clock.advance(500);
  chat.controller.abort();
  await chat.ended;
  expect(chat.rows()).toEqual(["› hello"]);
  expect([chat.terminal.listening, chat.clock.pending]).toEqual([false, 0]);
});

test("createChat() is at its end when stop() resolves", async () => {
  const chat = await open();
  await chat.terminal.type("text");
  await chat.channel.stop();
  expect([chat.terminal.listening, chat.rows()]).toEqual([false, []]);
  await chat.ended;
});

test("createChat() prints an answer that arrives after it ended, and no prompt", async () => {
  const chat = await open();
  await chat.terminal.type("hello");
  await chat.terminal.press("return");
  const turn = await chat.nextEmitted(0);
  await chat.terminal.press("ctrl-c", "ctrl-c");
  await chat.ended;
  await chat.answer(turn, "late");
  expect(chat.rows().slice(-2)).toEqual(["Goodbye!", "late"]);
});

test("createChat() writes no colour when it is not wanted, and some when it is", async () => {
  for (const color of [false, true]) {
    const chat = await open({ color });
    await chat.terminal.press("ctrl-c");
    expect(/\x1b\[[0-9;]*m/.test(chat.terminal.written)).toBe(color);
  }
});

test("createChat() rejects, with the terminal as it was, when a message cannot be published", async () => {
  const publish = () => Promise.reject(new Error("disk full"));
  const { channel, terminal } = await setUp({}, { tty: true }, { publish });
  const started = channel.start(new AbortController().signal);
  const failed = started.catch((error: unknown) => error);
  await terminal.press();
  await terminal.type("hello");
  await terminal.press("return");
  expect(await failed).toEqual(new Error("disk full"));
  expect(terminal.listening).toBe(false);
});

test("createChat() refuses to chat without a terminal or in JSON", async () => {
  for (const [config, options] of [
    [{}, { stdinIsTty: true }],
    [{}, { stdoutIsTty: true }],
    [{ json: true }, { tty: true }],
  ] as const) {
    const { channel, terminal } = await setUp(config, options);
    await expect(channel.start(new AbortController().signal)).rejects.toBeInstanceOf(UserError);
    expect(terminal.written).toBe("");
  }
});

test("createChat() greets in one line where there is no model to name", async () => {
  const { emulator } = await open();
  expect(emulator.rows[0]).toBe(GREETING);
});

test("createChat() sends a command that is typed during a turn at once, and other lines after it", async () => {
  const chat = await open();
  await chat.terminal.type("hello");
  await chat.terminal.press("return");
  const turn = await chat.nextEmitted(0);
  await chat.terminal.type("later");
  await chat.terminal.press("return");
  await chat.terminal.type("/status");
  await chat.terminal.press("return");
  const command = await chat.nextEmitted(1);
  expect(command.content).toBe("/status");
  await chat.answer(command, "all well");
  await chat.answer(turn, "hi");
  expect((await chat.nextEmitted(2)).content).toBe("later");
});

test("createChat() keeps the lines of a command's reply", async () => {
  const chat = await open({ markdown: true }, { renderMarkdown: (text) => text.replaceAll("\n", " ") });
  await chat.terminal.type("/help");
  await chat.terminal.press("return");
  await chat.answer(await chat.nextEmitted(0), "/new - one\n/stop - two", { outcome: "command" });
  expect(chat.rows()).toEqual(["› /help", "/new - one", "/stop - two", "", "›"]);
});

test("createChat() sends its media with the first message that is no command, and says that they wait", async () => {
  const media = [{ path: "/ws/media/cli/0a.png", mime: "image/png" }];
  const { emulator, terminal, emitted, answer, nextEmitted } = await open({ media });
  expect(emulator.rows[0]).toBe("Files that go with your first message: 1");
  for (const [index, text] of ["/status", "/home/me is where it was", "and again"].entries()) {
    await terminal.type(text);
    await terminal.press("return");
    await answer(await nextEmitted(index), "done");
  }
  expect(emitted.map((message) => message.media)).toEqual([[], media, []]);
});
