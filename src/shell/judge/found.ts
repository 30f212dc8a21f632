/** What a simple command turns out to run. */

import type { SimpleCommand, Stdin, Suspicion } from "./parsed.ts";
import type { Word } from "./word.ts";

export interface InnerCommand {
  readonly kind: "command";
  readonly via: string;
  readonly words: readonly Word[];
  readonly changes?: Partial<SimpleCommand>;
}

export interface Code {
  readonly kind: "code";
  readonly via: string;
  readonly text: string;
  readonly remote?: boolean;
  /** What it reads, where that is not what the command reads. */
  readonly stdin?: Stdin;
  /** It looks like code, and whether it is run cannot be told. */
  readonly supposed?: boolean;
}

export type Found =
  | InnerCommand
  | Code
  | { readonly kind: "opaque"; readonly via: string; readonly text: string | undefined }
  | { readonly kind: "suspicion"; readonly suspicion: Suspicion };

export function foundCommand(via: string, words: readonly Word[]): readonly InnerCommand[] {
  return words.length === 0 ? [] : [{ kind: "command", via, words }];
}
