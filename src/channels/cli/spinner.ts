/** What is being written, and a line that says what is being done and for how long, while a turn runs. */

import type { Clock, Terminal } from "../../core/platform.ts";
import type { Screen } from "./screen.ts";
import { clipCells, dim } from "./style.ts";
import { type Row, wrapLine } from "./wrap.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;
const FRAME_MS = 100;

/** An answer that comes at once should not flicker. */
const DELAY_MS = 150;

const PREVIEW_ROWS = 6;

export interface SpinnerOptions {
  /** Text without controls whose last rows are shown above the line. Asked for only when there is a drawing. */
  readonly preview: () => string;
  readonly color: boolean;
}

export interface Spinner {
  start(label: string): void;
  /** Says something else. Does nothing while stopped, and nothing to the time shown when it is the same. */
  say(label: string): void;
  stop(): void;
}

/** A stopped spinner that draws itself as the footer of `screen`. */
export function createSpinner(
  screen: Screen,
  terminal: Terminal,
  clock: Clock,
  { preview, color }: SpinnerOptions,
): Spinner {
  let label: string | undefined;
  let since = 0;
  let frame = 0;
  let cancel = () => {};
  const width = (text: string) => terminal.width(text);

  function previewed(columns: number): Row[] {
    const text = preview();
    if (text.trim() === "") return [];
    const rows: Row[] = [];
    for (const line of text.split("\n").slice(-PREVIEW_ROWS)) {
      for (const row of wrapLine(line, 0, Math.max(1, columns - 1), width)) rows.push(row);
    }
    // In a very narrow terminal one grapheme can be too wide.
    const shown = rows.filter(({ cells }) => cells < columns).slice(-PREVIEW_ROWS);
    return shown.map((row) => ({ ...row, text: dim(row.text, color) }));
  }

  function paint(columns: number) {
    const seconds = Math.floor((clock.now() - since) / 1_000);
    const time = seconds > 0 ? ` ${seconds} s` : "";
    const room = Math.max(0, columns - 1 - 2 - width(time));
    const said = clipCells(label ?? "", room, width);
    const text = clipCells(`${FRAMES[frame % FRAMES.length]} ${said}${time}`, columns - 1, width);
    const cells = width(text);
    const above = previewed(columns);
    return { rows: [...above, { text, cells }], cursorRow: above.length, cursorColumn: cells };
  }

  function tick(): void {
    frame += 1;
    screen.setFooter(paint);
    cancel = clock.after(FRAME_MS, tick);
  }

  return {
    start(first) {
      cancel();
      label = first;
      since = clock.now();
      frame = -1;
      cancel = clock.after(DELAY_MS, tick);
    },
    say(next) {
      if (label === undefined || label === next) return;
      label = next;
      since = clock.now();
    },
    stop() {
      cancel();
      cancel = () => {};
      label = undefined;
      screen.setFooter(undefined);
    },
  };
}
