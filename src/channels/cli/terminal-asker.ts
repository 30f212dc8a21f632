/** Asks the person at the terminal where no conversation is held. */

import type { AskOwner } from "../../core/approval.ts";
import type { Clock, Terminal } from "../../core/platform.ts";
import { askWithKeys, createQuestions } from "./question.ts";
import { createScreen } from "./screen.ts";

export interface TerminalAskerOptions {
  readonly terminal: Terminal;
  readonly clock: Pick<Clock, "after">;
  /** False where the user set `NO_COLOR`. */
  readonly color: boolean;
  readonly onInterrupt: () => void;
}

/** `undefined` where nobody can type, or see the question. */
export function createTerminalAsker({
  terminal,
  clock,
  color,
  onInterrupt,
}: TerminalAskerOptions): AskOwner | undefined {
  if (!terminal.stdinIsTty || !terminal.stderrIsTty) return undefined;
  const screen = createScreen(terminal, { footer: "err" });
  const questions = createQuestions({ terminal, screen, stream: "err", clock, color, onInterrupt });
  const ask = askWithKeys(questions, terminal);
  return (question, signal) => ask(question, signal).finally(screen.close);
}
