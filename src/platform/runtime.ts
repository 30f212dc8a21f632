/** What Bun and Deno answer differently. */

import type { TerminalText } from "./terminal.ts";

export interface Runtime extends TerminalText {
  /** For people: `Bun 1.4.5`. */
  readonly name: string;
  /** The folder that holds `skills/` and `workspace/`. */
  readonly assetsRoot: string;
}
