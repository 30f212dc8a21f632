/** Lays out JSON for reading, without a look at its values: long numbers and doubled keys stay as they are. */

const DEEPEST_INDENT = 20;
const token = /\s*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+)/gy;

/** `undefined` for what is no JSON. What is beyond `maxChars` is not laid out. */
export function layOutJson(text: string, maxChars: number): string | undefined {
  if (!isJson(text)) return undefined;
  const parts: string[] = [];
  let length = 0;
  let depth = 0;
  /** Nothing stands yet between the bracket that was opened last and what comes. */
  let isEmpty = false;

  function put(part: string): void {
    parts.push(part);
    length += part.length;
  }
  const newLine = () => put(`\n${"  ".repeat(Math.min(depth, DEEPEST_INDENT))}`);

  token.lastIndex = 0;
  for (let match = token.exec(text); match !== null && length < maxChars; match = token.exec(text)) {
    const part = match[1] ?? "";
    if (part === "}" || part === "]") {
      depth -= 1;
      if (!isEmpty) newLine();
      put(part);
      isEmpty = false;
    } else if (part === ",") {
      put(part);
      newLine();
    } else if (part === ":") {
      put(": ");
    } else {
      if (isEmpty) newLine();
      put(part);
      isEmpty = part === "{" || part === "[";
      if (isEmpty) depth += 1;
    }
  }
  return parts.join("");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // It is what the question was.
    return false;
  }
}
