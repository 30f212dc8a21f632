/** The name by which a simple command is judged. */

import type { SimpleCommand } from "./parsed.ts";
import { staticText } from "./word.ts";

/** Without folder, `.exe` and capitals, which some systems do not tell apart. `undefined` where it is not known. */
export function programName({ words }: Pick<SimpleCommand, "words">): string | undefined {
  const [first] = words;
  if (first === undefined || first.glob) return undefined;
  const text = staticText(first);
  if (text === undefined) return undefined;
  const name = text.slice(Math.max(text.lastIndexOf("/"), text.lastIndexOf("\\")) + 1);
  return name.replace(/\.exe$/i, "").toLowerCase();
}
