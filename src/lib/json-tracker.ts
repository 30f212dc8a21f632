/** Follows JSON text, however broken, and knows how deep it is nested and whether it stands inside a string. */

export interface JsonTracker {
  /** Goes on over `text`, however it is cut. */
  pass(text: string): void;
  readonly inString: boolean;
  /** The brackets that are open. What is closed too often does not count. */
  readonly depth: number;
}

export function createJsonTracker(): JsonTracker {
  let inString = false;
  let isEscaped = false;
  let depth = 0;

  function step(char: string): void {
    if (isEscaped) isEscaped = false;
    else if (char === '"') inString = !inString;
    else if (inString) isEscaped = char === "\\";
    else if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && depth > 0) depth--;
  }

  return {
    pass(text) {
      for (const char of text) step(char);
    },
    get inString() {
      return inString;
    },
    get depth() {
      return depth;
    },
  };
}
