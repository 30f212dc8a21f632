/** What Bun and Deno answer differently. */

import type { HttpListener } from "./http-listener.ts";
import type { TerminalText } from "./terminal.ts";

export interface Runtime extends TerminalText {
  /** For people: `Bun 1.4.5`. */
  readonly name: string;
  /** The folder that holds `skills/` and `workspace/`. */
  readonly assetsRoot: string;
  /** The program is an executable of its own, and no script that the runtime runs. */
  readonly isExecutable: boolean;
  collectGarbage(): void;
  httpListener(): Promise<HttpListener>;
}
