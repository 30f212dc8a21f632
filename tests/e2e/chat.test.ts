/** The interactive chat in a real terminal: what a person types, and what the screen shows. */

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json.ts";
import type { ChatServer } from "../fakes/chat-server.ts";
import type { PseudoTerminal } from "../platform/pseudo-terminal.ts";
import {
  binary,
  commandInTerminal,
  endToEnd,
  type Home,
  inTerminal,
  modelAt,
  newHome,
  newMilestone,
  REACH_MILESTONE,
  screenOf,
  sessionOf,
  startModel,
  untilNoProcess,
  unusualSleep,
} from "./harness.ts";

endToEnd();

const PROMPT = "› ";
const ENTER = "\r";
const CTRL_C = "\x03";
const CTRL_D = "\x04";
const UP = "\x1b[A";
const BACKSPACE = "\x7f";

interface Chat extends PseudoTerminal {
  readonly home: Home;
  readonly server: ChatServer;
  /** Types a message and waits for `answer`, and for the next prompt. */
  say(message: string, answer: string): Promise<void>;
  /** Ctrl-D; resolves to the exit code. */
  leave(): Promise<number>;
}

/** Only one tool can be called, and must be. */
function isForced(body: JsonObject): boolean {
  return typeof body["tool_choice"] === "object";
}

async function openChat(
  script: Parameters<typeof startModel>[0],
  { home, env }: { home?: Home; env?: Record<string, string> } = {},
): Promise<Chat> {
  const server = await startModel(script);
  const place = home ?? newHome(modelAt(server.url));
  const terminal = inTerminal(["agent"], place, env);
  await terminal.until("/help, /exit");
  await terminal.until(PROMPT);
  return Object.assign(terminal, {
    home: place,
    server,
    async say(message: string, answer: string) {
      terminal.type(message + ENTER);
      await terminal.until(answer);
      await terminal.until(PROMPT);
    },
    leave() {
      terminal.type(CTRL_D);
      return terminal.exited;
    },
  });
}

/** What the user said in the last request, without the context in front. */
function lastSaid({ requests }: ChatServer): string {
  const messages = (requests.at(-1)?.body["messages"] ?? []) as readonly JsonObject[];
  const content = String(messages.findLast(({ role }) => role === "user")?.["content"]);
  return content.slice(content.indexOf("[/Runtime Context]\n\n") + "[/Runtime Context]\n\n".length);
}

describe("nanobot agent in a terminal", () => {
  test("greets with the model and leaves on Ctrl-D", async () => {
    const chat = await openChat([]);
    expect(screenOf(chat).join("\n")).toContain("nanobot 🐈 · fake-model · /help, /exit");
    expect(await chat.leave()).toBe(0);
    expect(chat.shown).toContain("Goodbye!");
  });

  test.each(["/exit", "exit", ":q"])("leaves on %s", async (word) => {
    const chat = await openChat([]);
    chat.type(word + ENTER);
    expect(await chat.exited).toBe(0);
  });

  test("shows a turn: what was said, the tool call, the answer as it streams", async () => {
    const rest = Promise.withResolvers<void>();
    const chat = await openChat([
      { toolCalls: [{ name: "exec", arguments: { command: "echo 42" } }] },
      {
        text: ["## Result\n\n- it is **42**\n\n", "and `nothing` else\n"],
        holdAfter: { writes: 2, until: rest.promise },
      },
    ]);
    chat.type(`run it${ENTER}`);
    await chat.until("42");
    await chat.until("Result");
    expect(chat.shown).not.toContain("nothing");
    rest.resolve();
    await chat.until("nothing");
    await chat.until(PROMPT);
    const screen = screenOf(chat);
    expect(screen).toContain("› run it");
    expect(screen).toContain('↳ exec("echo 42")');
    expect(screen.join("\n")).toContain("it is 42");
    expect(screen.join("\n")).not.toContain("**");
    expect(screen.filter((line) => line.includes("and nothing else"))).toHaveLength(1);
    // The last thing is the prompt, and no spinner stands around.
    expect(screen.at(-1)?.trim()).toBe(PROMPT.trim());
    expect(screen.join("\n")).not.toContain("thinking");
    expect(await chat.leave()).toBe(0);
  });

  test("answers /help, /status and unknown commands without the model", async () => {
    const chat = await openChat([]);
    await chat.say("/help", "/stop - ");
    await chat.say("/status", "Session: cli:direct");
    await chat.say("/sttus", "Did you mean /status?");
    expect(chat.shown).toContain("fake-model");
    expect(chat.server.requests).toEqual([]);
    expect(await chat.leave()).toBe(0);
  });

  test("begins anew with /new and keeps the old conversation in the archive", async () => {
    const remembered = { history_entry: "They spoke of the first thing." };
    const chat = await openChat((body) => {
      // What was said is put into memory beside the chat.
      if (isForced(body)) return { toolCalls: [{ name: "save_memory", arguments: remembered }] };
      return { text: [JSON.stringify(body["messages"]).includes("the second thing") ? "two" : "one"] };
    });
    await chat.say("the first thing", "one");
    await chat.say("/new", "New session started.");
    await chat.say("the second thing", "two");
    const asked = chat.server.requests.filter(({ body }) => !isForced(body));
    expect(asked).toHaveLength(2);
    expect(asked[1]?.text).not.toContain("the first thing");
    expect(await chat.leave()).toBe(0);
    expect((await sessionOf(chat.home)).map(({ content }) => content)).toEqual(["the second thing", "two"]);
    const archive = join(chat.home.workspace, "sessions/archive");
    const [file = ""] = readdirSync(archive);
    expect(readFileSync(join(archive, file), "utf8")).toContain("the first thing");
  });

  test("goes on after an error of the model", async () => {
    const chat = await openChat([
      { status: 400, body: { error: { message: "I am tired" } } },
      { text: "rested" },
    ]);
    await chat.say("hello", "I am tired");
    await chat.say("and now?", "rested");
    expect(chat.server.invalid).toEqual([]);
    expect(await chat.leave()).toBe(0);
  });
});

describe("Ctrl-C in the chat", () => {
  test("stops a turn whose model hangs, and the chat goes on", async () => {
    const chat = await openChat([{ never: true }, { text: "back again" }]);
    chat.type(`hang${ENTER}`);
    const [request] = await chat.server.received(1);
    chat.type(CTRL_C);
    await chat.until("Stopped 1 task.");
    expect(await request?.over).toBe("gone");
    await chat.until(PROMPT);
    await chat.say("are you there?", "back again");
    expect(chat.server.invalid).toEqual([]);
    expect(await chat.leave()).toBe(0);
  });

  test("stops a turn in the middle of its answer", async () => {
    const never = new Promise<void>(() => {});
    const chat = await openChat([
      { text: ["Once upon a time\n\n", "there was"], holdAfter: { writes: 2, until: never } },
      { text: "the end" },
    ]);
    chat.type(`a story${ENTER}`);
    await chat.until("Once upon a time");
    chat.type(CTRL_C);
    await chat.until("Stopped 1 task.");
    await chat.until(PROMPT);
    await chat.say("finish", "the end");
    expect(await chat.leave()).toBe(0);
  });

  test("ends the command of a turn", async () => {
    const sleep = unusualSleep();
    const command = `${REACH_MILESTONE}; ${sleep}`;
    const chat = await openChat([
      { toolCalls: [{ name: "exec", arguments: { command } }] },
      { text: "well" },
    ]);
    const milestone = newMilestone(chat.home);
    chat.type(`sleep${ENTER}`);
    await milestone.reached;
    chat.type(CTRL_C);
    await chat.until("Stopped 1 task.");
    await chat.until(PROMPT);
    await untilNoProcess(sleep);
    await chat.say("go on", "well");
    expect(chat.server.invalid).toEqual([]);
    expect(await chat.leave()).toBe(0);
  });

  test("leaves when it is pressed twice at the prompt", async () => {
    const chat = await openChat([]);
    chat.type(CTRL_C);
    await chat.until("Press Ctrl-C again to leave");
    chat.type(CTRL_C);
    expect(await chat.exited).toBe(0);
  });

  test("leaves when it is pressed twice in a turn", async () => {
    const chat = await openChat([{ never: true }]);
    chat.type(`hang${ENTER}`);
    await chat.server.received(1);
    chat.type(CTRL_C + CTRL_C);
    expect(await chat.exited).toBe(0);
    // What was asked is not lost.
    expect((await sessionOf(chat.home)).map(({ content }) => content)).toEqual(["hang"]);
  });

  test("clears a text that was begun", async () => {
    const chat = await openChat([{ text: "heard" }]);
    chat.type(`wrong${CTRL_C}`);
    await chat.say("right", "heard");
    expect(lastSaid(chat.server)).toBe("right");
    expect(await chat.leave()).toBe(0);
  });
});

describe("typing in the chat", () => {
  test("takes a pasted text of several lines as one message", async () => {
    const chat = await openChat([{ text: "read" }]);
    const pasted = "line one\n\tline two\n/exit\n\nline five";
    chat.type(`\x1b[200~${pasted.replaceAll("\n", "\r")}\x1b[201~`);
    await chat.until("line five");
    expect(chat.server.requests).toEqual([]);
    await chat.say("", "read");
    expect(lastSaid(chat.server)).toBe(pasted);
    expect(await chat.leave()).toBe(0);
  });

  test("continues a line that ends with a backslash", async () => {
    const chat = await openChat([{ text: "read" }]);
    chat.type(`first\\${ENTER}`);
    await chat.say("second", "read");
    expect(lastSaid(chat.server)).toBe("first\nsecond");
    expect(await chat.leave()).toBe(0);
  });

  test("brings back with arrow up what an earlier chat said", async () => {
    const first = await openChat([{ text: "one" }, { text: "two" }]);
    await first.say("the older 🐈", "one");
    await first.say("the newer", "two");
    expect(await first.leave()).toBe(0);

    const server = await startModel([{ text: "again" }]);
    const second = inTerminal(["agent"], first.home, {
      NANOBOT_PROVIDERS__FAKE__API_BASE: server.url,
    });
    await second.until(PROMPT);
    second.type(UP);
    await second.until("the newer");
    second.type(UP);
    await second.until("the older 🐈");
    second.type(ENTER);
    await second.until("again");
    expect(lastSaid(server)).toBe("the older 🐈");
    await second.until(PROMPT);
    second.type(CTRL_D);
    expect(await second.exited).toBe(0);
  });

  test("takes Chinese, Japanese and emoji, and deletes what a person sees as one character", async () => {
    const chat = await openChat([{ text: "听到了 👍🏽" }]);
    const family = "👨‍👩‍👧";
    chat.type(`你好，こんにちは${family}${BACKSPACE}🐈`);
    await chat.until("🐈");
    expect(screenOf(chat).at(-1)).toBe(`${PROMPT}你好，こんにちは🐈`);
    await chat.say("", "听到了 👍🏽");
    expect(lastSaid(chat.server)).toBe("你好，こんにちは🐈");
    expect(await chat.leave()).toBe(0);
  });

  test("keeps what is typed while a turn runs for after it", async () => {
    const release = Promise.withResolvers<void>();
    const chat = await openChat([{ text: "one", hold: release.promise }, { text: "two" }]);
    chat.type(`first${ENTER}`);
    await chat.server.received(1);
    chat.type(`second${ENTER}`);
    release.resolve();
    await chat.until("one");
    await chat.until("two");
    expect(lastSaid(chat.server)).toBe("second");
    await chat.until(PROMPT);
    expect(await chat.leave()).toBe(0);
  });

  test("redraws a long line for a narrower terminal", async () => {
    const chat = await openChat([{ text: "read" }]);
    const text = "word ".repeat(30).trim();
    chat.type(text);
    await chat.until("word word");
    chat.resize(40);
    await chat.say("", "read");
    expect(lastSaid(chat.server)).toBe(text);
    expect(await chat.leave()).toBe(0);
  });
});

describe("the terminal after the chat", () => {
  /** Shows the modes of the terminal, runs the chat, and shows them again. */
  function betweenModes(home: Home): PseudoTerminal {
    const script = `echo "before $(stty -g)"; sh -c 'echo "pid $$"; exec "$0" agent' "$1"; echo "left with $?"; echo "after $(stty -g)"`;
    return commandInTerminal(["sh", "-c", script, "sh", binary()], home);
  }

  function expectRestored({ shown }: PseudoTerminal): void {
    const before = /before (\S+)/.exec(shown)?.[1];
    expect(before).toBeDefined();
    expect(/after (\S+)/.exec(shown)?.[1]).toBe(before as string);
    expect(shown.lastIndexOf("\x1b[?2004l")).toBeGreaterThan(shown.lastIndexOf("\x1b[?2004h"));
    expect(shown.lastIndexOf("\x1b[?25h")).toBeGreaterThanOrEqual(shown.lastIndexOf("\x1b[?25l"));
  }

  test("has its modes again after Ctrl-D", async () => {
    const server = await startModel([{ text: "good morning" }]);
    const terminal = betweenModes(newHome(modelAt(server.url)));
    await terminal.until("\x1b[?2004h");
    await terminal.until(PROMPT);
    terminal.type(`hello${ENTER}`);
    await terminal.until("good morning");
    await terminal.until(PROMPT);
    terminal.type(CTRL_D);
    await terminal.until("left with 0");
    expect(await terminal.exited).toBe(0);
    expectRestored(terminal);
  });

  test("has its modes again after SIGTERM in a turn", async () => {
    const server = await startModel([{ never: true }]);
    const terminal = betweenModes(newHome(modelAt(server.url)));
    await terminal.until("\x1b[?2004h");
    await terminal.until(PROMPT);
    terminal.type(`hang${ENTER}`);
    await server.received(1);
    const pid = Number(/pid (\d+)/.exec(terminal.shown)?.[1]);
    process.kill(pid, "SIGTERM");
    await terminal.until("left with 130");
    expect(await terminal.exited).toBe(0);
    expectRestored(terminal);
  });

  test("is left by a turn that was running when the window closed", async () => {
    const sleep = unusualSleep();
    const command = `${REACH_MILESTONE}; ${sleep}`;
    const chat = await openChat([{ toolCalls: [{ name: "exec", arguments: { command } }] }]);
    const milestone = newMilestone(chat.home);
    chat.type(`sleep${ENTER}`);
    await milestone.reached;
    chat.close();
    expect(await chat.exited).toBe(130);
    await untilNoProcess(sleep);
    expect((await sessionOf(chat.home)).map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  });

  test("may go away when nohup says so", async () => {
    const release = Promise.withResolvers<void>();
    const server = await startModel([{ text: "done all the same", hold: release.promise }]);
    const home = newHome(modelAt(server.url));
    const script = 'cd "$NANOBOT_HOME" && exec nohup "$0" agent -m "take your time"';
    const terminal = commandInTerminal(["sh", "-c", script, binary()], home);
    await server.received(1);
    terminal.close();
    release.resolve();
    expect(await terminal.exited).toBe(0);
    expect(readFileSync(join(home.folder, "nohup.out"), "utf8")).toContain("done all the same");
  });
});
