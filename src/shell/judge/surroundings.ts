/** What is true of a command because of where it stands. */

import type { Certainty, Stdin } from "./parsed.ts";
import type { Dialect } from "./syntax.ts";

export interface Surroundings {
  readonly depth: number;
  readonly via: readonly string[];
  readonly within: readonly string[];
  readonly concurrent: boolean;
  readonly remote: boolean;
  readonly stdin: Stdin;
  readonly certainty: Certainty;
  readonly repeats: boolean;
  readonly feeds: boolean;
  readonly kept: boolean;
  readonly dialect: Dialect;
  readonly supposed: boolean;
  /** How this tree was read, where a shell may read it in more than one way. */
  readonly reading: Dialect;
  /** Between double quotes, or in a here-document. */
  readonly quoted: boolean;
}

export const topLevel: Surroundings = {
  depth: 0,
  via: [],
  within: [],
  concurrent: false,
  remote: false,
  stdin: { kind: "inherited" },
  certainty: "gate",
  repeats: false,
  feeds: false,
  kept: false,
  dialect: "bash",
  supposed: false,
  reading: "bash",
  quoted: false,
};
