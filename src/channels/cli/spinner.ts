/** One line that says what is being done and for how long, while a turn runs. */

import type { Clock, Terminal } from "../../core/platform.ts";
import type { Screen } from "./screen.ts";
import { clipCells } from "./style.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;
const FRAME_MS = 100;

/** An answer that comes at once should not flicker. */
const DELAY_MS = 150;

export interface Spinner {
  start(label: string): void;
  /** Says something else. Does nothing while stopped, and nothing to the time shown when it is the same. */
  say(label: string): void;
  stop(): void;
}

/** A stopped spinner that draws itself as the footer of `screen`. */
export function createSpinner(screen: Screen, terminal: Terminal, clock: Clock): Spinner {
  let label: string | undefined;
  let since = 0;
  let frame = 0;
  let cancel = () => {};
  const width = (text: string) => terminal.width(text);

  function paint(columns: number) {
    const seconds = Math.floor((clock.now() - since) / 1_000);
    const time = seconds > 0 ? ` ${seconds} s` : "";
    const room = Math.max(0, columns - 1 - 2 - width(time));
    const said = clipCells(label ?? "", room, width);
    const text = clipCells(`${FRAMES[frame % FRAMES.length]} ${said}${time}`, columns - 1, width);
    const cells = width(text);
    return { rows: [{ text, cells }], cursorRow: 0, cursorColumn: cells };
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
