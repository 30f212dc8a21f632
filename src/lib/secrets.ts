/** The secrets that a process knows, for everything that must not show them. */

import { maskSecrets, type SecretSpellings, secretSpellings } from "./mask.ts";
import { createMaskStream, type MaskStream } from "./mask-stream.ts";

export interface Secrets {
  add(secrets: Iterable<string>): void;
  /** A text without them, in whatever spelling. */
  mask(text: string): string;
  /** The same for a text that comes in pieces. */
  maskStream(): MaskStream;
}

export function createSecrets(): Secrets {
  const secrets = new Set<string>();
  let known: SecretSpellings | undefined;
  return {
    add(added) {
      for (const secret of added) secrets.add(secret);
      known = secretSpellings(secrets);
    },
    mask: (text) => maskSecrets(text, known),
    maskStream: () => createMaskStream(() => known),
  };
}
