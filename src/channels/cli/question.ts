/** Puts a question to the person at the keyboard, and makes sure that only a key pressed after it answers it. */

import type { ApprovalAnswer, ApprovalQuestion, AskOwner } from "../../core/approval.ts";
import type { Clock, Key, Terminal } from "../../core/platform.ts";
import { abortable } from "../../lib/abort.ts";
import { head, stripControls } from "../../lib/text.ts";
import { drawQuestion, RUN_IT } from "./question-text.ts";
import { columnsOf, type Picture, type Screen, type Stream } from "./screen.ts";
import { clipCells } from "./style.ts";

/**
 * Whoever is typing when a question appears is not answering it: keys count only when none came for this
 * many ticks. Ticks and not one wait, so that between two of them keys that the terminal kept are read.
 */
const QUIET_TICKS = 5;
const TICK_MS = 100;

const LONGEST_ANSWER = 200;
const BY = "terminal";

export interface QuestionOptions {
  readonly terminal: Terminal;
  readonly screen: Screen;
  /** That of the screen's footer. */
  readonly stream: Stream;
  readonly clock: Pick<Clock, "after">;
  readonly color: boolean;
  /** The question is about to be shown: time to clear the place. */
  readonly onShow?: () => void;
  /** It is gone. */
  readonly onGone?: () => void;
  /** Ctrl-C, which denies, means more. */
  readonly onInterrupt: () => void;
  /** An answer that was neither yes nor no, which denies, may be a command. */
  readonly onOther?: (line: string) => void;
}

export interface Questions {
  /** One at a time. */
  readonly ask: AskOwner;
  /** Whether `key` was for a question. */
  press(key: Key): boolean;
  /** Nothing will be typed any more. */
  inputEnded(): void;
  /** Resolves when no question is shown: what the agent says meanwhile must not stand between it and the answer. */
  gone(): Promise<void>;
}

interface Asked {
  /** Not shown yet, shown and waiting for quiet, or taking an answer. */
  stage: "coming" | "shown" | "listening";
  quiet: number;
  line: string;
  callOff: () => void;
  readonly answer: PromiseWithResolvers<boolean>;
  readonly gone: PromiseWithResolvers<void>;
}

export function isInterrupt({ name, ctrl }: Key): boolean {
  return ctrl && name === "c";
}

function isEnter({ name }: Key): boolean {
  return name === "return" || name === "enter";
}

/** The answer after `key`. A paste is not typed, so it answers nothing. */
function typed(line: string, { name, text, ctrl, meta }: Key): string {
  if (name === "backspace") return [...line].slice(0, -1).join("");
  if (ctrl && name === "u") return "";
  if (ctrl || meta || name === "paste") return line;
  return head(line + stripControls(text), LONGEST_ANSWER);
}

export function createQuestions(options: QuestionOptions): Questions {
  const { terminal, screen, stream, clock, color, onShow, onGone, onInterrupt, onOther } = options;
  const width = (text: string) => terminal.width(text);
  let asked: Asked | undefined;

  function paint({ line }: Asked, columns: number): Picture {
    const text = clipCells(RUN_IT + line, Math.max(0, columns - 1), width);
    const cells = width(text);
    return { rows: [{ text, cells }], cursorRow: 0, cursorColumn: cells };
  }

  function listen(current: Asked): void {
    current.stage = "listening";
    screen.setFooter((columns) => paint(current, columns));
  }

  /** What was said before the call comes by another way, and has been shown when the first tick ends. */
  function tick(current: Asked, question: ApprovalQuestion): void {
    if (current.stage === "coming") {
      onShow?.();
      current.stage = "shown";
      screen.print(drawQuestion(question, columnsOf(terminal), { width, color }), stream);
    } else {
      current.quiet += 1;
    }
    if (current.quiet < QUIET_TICKS) current.callOff = clock.after(TICK_MS, () => tick(current, question));
    else listen(current);
  }

  /** At once, so that no key that comes behind the answer is taken for a part of it. */
  function settle(current: Asked, granted?: boolean): void {
    if (asked !== current) return;
    asked = undefined;
    current.callOff();
    if (current.stage !== "coming") {
      screen.setFooter(undefined);
      screen.print(RUN_IT + (granted === undefined ? "(no answer)" : current.line), stream);
      onGone?.();
    }
    current.gone.resolve();
    if (granted !== undefined) current.answer.resolve(granted);
  }

  const ask: AskOwner = async (question, signal): Promise<ApprovalAnswer> => {
    signal.throwIfAborted();
    if (asked !== undefined) return { granted: false, why: "nobody" };
    const current: Asked = {
      stage: "coming",
      quiet: 0,
      line: "",
      callOff: clock.after(TICK_MS, () => tick(current, question)),
      answer: Promise.withResolvers(),
      gone: Promise.withResolvers(),
    };
    asked = current;
    try {
      const granted = await abortable(current.answer.promise, signal);
      return granted ? { granted, by: BY } : { granted, why: "denied", by: BY };
    } finally {
      settle(current);
    }
  };

  function answerWith(current: Asked): void {
    const line = current.line.trim();
    const said = line.toLowerCase();
    const granted = said === "y" || said === "yes";
    settle(current, granted);
    if (!granted && said !== "" && said !== "n" && said !== "no") onOther?.(line);
  }

  return {
    ask,

    press(key) {
      const current = asked;
      if (current === undefined) return false;
      if (isInterrupt(key)) {
        settle(current, false);
        onInterrupt();
        return true;
      }
      if (current.stage !== "listening") {
        current.quiet = 0;
        return false;
      }
      const isEnd = key.name === "escape" || (key.ctrl && key.name === "d");
      if (isEnd) settle(current, false);
      else if (isEnter(key)) answerWith(current);
      else {
        current.line = typed(current.line, key);
        screen.setFooter((columns) => paint(current, columns));
      }
      return true;
    },

    inputEnded() {
      if (asked !== undefined) settle(asked, false);
    },

    async gone() {
      if (asked !== undefined && asked.stage !== "coming") await asked.gone.promise;
    },
  };
}

/** Asks where nobody reads keys otherwise: they are read, and kept from the screen, while there is a question. */
export function askWithKeys(questions: Questions, terminal: Terminal): AskOwner {
  async function read(signal: AbortSignal): Promise<void> {
    try {
      for await (const key of terminal.keys(signal)) questions.press(key);
    } finally {
      questions.inputEnded();
    }
  }

  return async (question, signal) => {
    signal.throwIfAborted();
    const answered = new AbortController();
    const asking = questions.ask(question, signal);
    const reading = read(answered.signal);
    try {
      return await asking;
    } finally {
      answered.abort();
      await reading;
    }
  };
}
