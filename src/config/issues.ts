/** What the schema found wrong, in words that say the place and the kind of value, and never the value. */

import type * as v from "valibot";
import { type AnySchema, expected, found, type Path, schemaAt } from "./shape.ts";

export interface Issue {
  readonly path: Path;
  readonly text: string;
}

export function explainIssue(root: AnySchema, issue: v.BaseIssue<unknown>): Issue {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === "number" ? key : String(key)));
  if (issue.type === "safe_integer") {
    return { path, text: "the number is too long to be exact; put it in quotes" };
  }
  const schema = schemaAt(root, path) ?? root;
  return { path, text: `expected ${expected(schema)}, found ${foundIn(issue)}` };
}

/** `another` where the kind was right and the value was not. */
function foundIn(issue: v.BaseIssue<unknown>): string {
  const noun = found(issue.input);
  const isKindRight =
    issue.kind === "validation" || (issue.type === "picklist" && typeof issue.input === "string");
  return isKindRight ? noun.replace(/^a /, "another ") : noun;
}
