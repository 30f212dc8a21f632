/** The interactive chat: a prompt while nothing runs, a spinner while a turn runs, and the way out. */

import type { Channel, ChannelContext } from "../../core/channel.ts";
import { UserError } from "../../core/errors.ts";
import type { InboundId, OutboundMessage } from "../../core/messages.ts";
import type { Key } from "../../core/platform.ts";
import { never } from "../../lib/abort.ts";
import { oneLine } from "../../lib/text.ts";
import { activityOf, THINKING } from "./activity.ts";
import type { CliConfig } from "./config.ts";
import { applyKey, type EditorAction, type EditorState, emptyEditor, MAX_TEXT } from "./editor.ts";
import { createHistory } from "./history.ts";
import { createInbound } from "./inbound.ts";
import { drawInput, drawSubmitted } from "./input-line.ts";
import { createQuestions, isInterrupt } from "./question.ts";
import { columnsOf, createScreen } from "./screen.ts";
import { createSpinner } from "./spinner.ts";
import { createTranscript } from "./transcript.ts";

const EXIT_WORDS: ReadonlySet<string> = new Set(["exit", "quit", "/exit", "/quit", ":q"]);

/** Iterates `keys`, and calls `onListening` when the terminal already listens, so that no key is lost or echoed. */
async function* listening(keys: AsyncIterable<Key>, onListening: () => void): AsyncIterable<Key> {
  const iterator = keys[Symbol.asyncIterator]();
  try {
    const first = iterator.next();
    onListening();
    for (let next = await first; next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

/** What the agent answers beside a running turn, and the ways out: these lines do not wait for its end. */
const IMMEDIATE: ReadonlySet<string> = new Set(["/stop", "/status", "/help", "/new", ...EXIT_WORDS]);

const COMMAND = /^\s*\/[a-z][\w-]*(\s|$)/i;

/** Keys pressed while a turn runs. They are typed again when it has ended, commands aside. */
function createTypedAhead() {
  let keys: Key[] = [];
  let room = MAX_TEXT;
  let line = emptyEditor();
  let lineStart = 0;
  return {
    get keys(): readonly Key[] {
      return keys;
    },
    /** Returns the line that this key ends, if it is a command that acts at once. */
    add(key: Key): string | undefined {
      room -= key.text.length + 1;
      if (room <= 0) return undefined;
      keys.push(key);
      const { state, action } = applyKey(line, key);
      line = state;
      if (action?.type !== "submit") return undefined;
      const isCommand = IMMEDIATE.has(action.text.trim().toLowerCase());
      if (isCommand) keys = keys.slice(0, lineStart);
      lineStart = keys.length;
      return isCommand ? action.text : undefined;
    },
  };
}

/** The channel that reads messages from the keyboard until the user leaves. */
export function createChat(config: CliConfig, context: ChannelContext): Channel {
  const { terminal, clock, emit, files, log } = context;
  const color = config.color && terminal.stdoutIsTty;
  const screen = createScreen(terminal, { footer: "out" });
  const transcript = createTranscript({
    terminal,
    screen,
    answers: "stream",
    markdown: config.markdown,
    color: config.color,
    // Somebody who redirects stderr still has to see why there is no answer.
    asides: terminal.stderrIsTty ? "err" : "out",
  });
  const spinner = createSpinner(screen, terminal, clock, { preview: () => transcript.pending(), color });
  const history = createHistory(config.historyFile, files, log);
  const inbound = createInbound(config.session, context);
  const look = { width: (text: string) => terminal.width(text), color };
  const questions = createQuestions({
    terminal,
    screen,
    stream: "out",
    clock,
    color,
    onShow() {
      spinner.stop();
      transcript.end();
    },
    onGone() {
      if (pending.size > 0 && !leaving.signal.aborted) spinner.start(activity);
    },
    onInterrupt: interruptTurn,
    onOther(line) {
      if (IMMEDIATE.has(line.toLowerCase())) submit(line);
    },
  });

  const leaving = new AbortController();
  const settled = Promise.withResolvers<void>();
  /** What was emitted and is not answered; a turn runs as long as there is something. */
  const pending = new Set<InboundId>();
  /** Waits for the first message that is no command. */
  let media = config.media;
  let started = false;
  /** What the turn is doing. */
  let activity = THINKING;
  let editor: EditorState = emptyEditor();
  let ahead = createTypedAhead();
  /** The last key was a Ctrl-C that the next one turns into leaving. */
  let armed = false;
  let stored = Promise.resolve();
  let failure: { readonly error: unknown } | undefined;

  function showPrompt(): void {
    if (pending.size > 0 || leaving.signal.aborted) return;
    screen.setFooter((columns) => drawInput(editor, columns, look));
  }

  function fail(error: unknown): void {
    failure ??= { error };
    leaving.abort();
  }

  function leave(): void {
    if (leaving.signal.aborted) return;
    spinner.stop();
    transcript.end();
    terminal.err("Goodbye!\n");
    leaving.abort();
  }

  function begin(content: string): void {
    const isCommand = COMMAND.test(content);
    const message = inbound(content, isCommand ? [] : media);
    if (!isCommand) media = [];
    pending.add(message.id);
    emit(message, never).catch(fail);
  }

  function submit(text: string): void {
    screen.setFooter(undefined);
    screen.print(drawSubmitted(text, columnsOf(terminal), look), "out");
    if (EXIT_WORDS.has(text.trim().toLowerCase())) {
      leave();
      return;
    }
    stored = stored.then(() => history.add(text));
    activity = THINKING;
    spinner.start(activity);
    begin(text);
  }

  function act(action: EditorAction): void {
    switch (action.type) {
      case "submit":
        submit(action.text);
        break;
      case "leave":
        leave();
        break;
      case "interrupt":
        if (armed) leave();
        else transcript.say("Press Ctrl-C again to leave");
        break;
      case "clearScreen":
        screen.clear();
        break;
      case "tooLong":
        transcript.say(`Cannot take more than ${MAX_TEXT / 1024} KiB in one message`);
    }
  }

  function interruptTurn(): void {
    if (armed) {
      leave();
      return;
    }
    armed = true;
    spinner.say("stopping…");
    transcript.say("Stopping; press Ctrl-C again to leave");
    begin("/stop");
  }

  function onKey(key: Key): void {
    if (questions.press(key)) return;
    if (pending.size > 0) {
      if (isInterrupt(key)) {
        interruptTurn();
      } else {
        const command = ahead.add(key);
        if (command !== undefined) submit(command);
      }
      return;
    }
    const { state, action } = applyKey(editor, key);
    editor = state;
    if (action !== undefined) act(action);
    armed = action?.type === "interrupt";
  }

  function onTurnEnded(): void {
    spinner.stop();
    screen.print("\n", "out");
    const { keys } = ahead;
    ahead = createTypedAhead();
    for (const key of keys) onKey(key);
    showPrompt();
  }

  function greet(): void {
    if (config.notice !== undefined) transcript.say(oneLine(config.notice, 1_000));
    const model = config.modelLabel === undefined ? "" : ` · ${oneLine(config.modelLabel, 200)}`;
    if (media.length > 0) transcript.say(`Files that go with your first message: ${media.length}`);
    transcript.say(`nanobot 🐈${model} · /help, /exit`);
    showPrompt();
  }

  async function chat(ended: AbortSignal): Promise<void> {
    editor = emptyEditor(await history.load());
    if (ended.aborted) return;
    for await (const key of listening(terminal.keys(ended), greet)) {
      if (ended.aborted) return;
      onKey(key);
      showPrompt();
    }
  }

  async function present(message: OutboundMessage): Promise<void> {
    await questions.gone();
    activity = activityOf(message) ?? activity;
    if (!armed) spinner.say(activity);
    transcript.show(message);
  }

  return {
    async start(signal) {
      if (config.json) throw new UserError("Cannot chat in JSON", { hint: "Give a message with -m" });
      if (!terminal.stdinIsTty || !terminal.stdoutIsTty) {
        throw new UserError("Cannot chat without a terminal", {
          hint: "Give a message with -m, or pipe it in",
        });
      }
      started = true;
      try {
        await chat(AbortSignal.any([signal, leaving.signal]));
        if (failure !== undefined && !signal.aborted) throw failure.error;
      } finally {
        leaving.abort();
        questions.inputEnded();
        spinner.stop();
        transcript.end();
        screen.close();
        await stored;
        await history.close();
        await terminal.flush();
        settled.resolve();
      }
    },

    async stop() {
      leaving.abort();
      if (started) await settled.promise;
    },

    ask: questions.ask,

    show: present,

    async send({ message }) {
      await present(message);
      if (message.kind !== "final") return "";
      const running = pending.size > 0;
      for (const id of message.answers) pending.delete(id);
      if (running && pending.size === 0 && !leaving.signal.aborted) onTurnEnded();
      await terminal.flush();
      return "";
    },
  };
}
