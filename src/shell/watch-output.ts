/** Waits for a text in what a program says. */

import type { CapturedOutput, RunningProcess } from "../core/platform.ts";

export interface OutputWatch {
  readonly seen: Promise<void>;
  isSeen(): boolean;
  stop(): void;
}

/** Looks in what was said since the last `take`, and then in what comes, across the pieces in which it comes. */
export function watchOutput(program: RunningProcess, wanted: string): OutputWatch {
  const { promise: seen, resolve } = Promise.withResolvers<void>();
  let isSeen = false;
  /** The end of each stream, too short to hold the text. */
  const ends = { stdout: "", stderr: "" };

  function look(stream: keyof typeof ends, text: string): void {
    const whole = ends[stream] + text;
    if (whole.includes(wanted)) {
      isSeen = true;
      resolve();
    }
    ends[stream] = whole.slice(Math.max(0, whole.length - wanted.length + 1));
  }

  function lookBack(stream: keyof typeof ends, { head, tail, omittedBytes }: CapturedOutput): void {
    look(stream, head);
    if (omittedBytes > 0) ends[stream] = "";
    look(stream, tail);
  }

  const before = program.peek();
  lookBack("stdout", before.stdout);
  lookBack("stderr", before.stderr);
  const stop = program.onOutput(look);
  return { seen, isSeen: () => isSeen, stop };
}
