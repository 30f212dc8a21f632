/** What a simple command turns out to run. */

import type { SimpleCommand, Stdin, Suspicion } from "./parsed.ts";
import type { Word } from "./word.ts";

export type Found =
  | {
      readonly kind: "command";
      readonly via: string;
      readonly words: readonly Word[];
      readonly changes?: Partial<SimpleCommand>;
    }
  | {
      readonly kind: "code";
      readonly via: string;
      readonly text: string;
      readonly remote?: boolean;
      /** What it reads, where that is not what the command reads. */
      readonly stdin?: Stdin;
      /** It looks like code, and whether it is run cannot be told. */
      readonly supposed?: boolean;
    }
  | { readonly kind: "opaque"; readonly via: string; readonly text: string | undefined }
  | { readonly kind: "suspicion"; readonly suspicion: Suspicion };
