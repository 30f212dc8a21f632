/** Cuts a streamed text into pieces that can be shown for good: lines, or Markdown blocks. */

export interface Splitter {
  /** Takes the next piece of the text; returns what is complete. */
  push(text: string): readonly string[];
  /** What `push` has taken and not returned, because it is not complete. */
  held(): string;
  /** Returns the rest, and begins anew. */
  end(): readonly string[];
}

/** Complete lines, each with its newline. */
export function createLineSplitter(): Splitter {
  let rest = "";
  return {
    push(text) {
      const end = text.lastIndexOf("\n") + 1;
      if (end === 0) {
        rest += text;
        return [];
      }
      const lines = rest + text.slice(0, end);
      rest = text.slice(end);
      return [lines];
    },
    held: () => rest,
    end() {
      const lines = rest === "" ? [] : [rest];
      rest = "";
      return lines;
    },
  };
}

const listItem = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;

/** The fence that `line` opens, as the beginning of the line that closes it. */
function openedFence(line: string): string | undefined {
  const fence = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})/.exec(line);
  return fence?.[1];
}

function closesFence(line: string, fence: string): boolean {
  const marks = line.trim();
  return marks.startsWith(fence) && marks === fence.charAt(0).repeat(marks.length);
}

/**
 * Blocks end at a blank line outside a code fence. A list is held back until the text after the blank
 * line has begun: when it is indented it belongs to the list and would look like code on its own.
 */
export function createBlockSplitter(): Splitter {
  let block = "";
  let line = "";
  let fence: string | undefined;
  let list = false;
  let afterBlank = false;

  function take(): string[] {
    const taken = block;
    block = "";
    list = false;
    afterBlank = false;
    return taken.trim() === "" ? [] : [taken];
  }

  /** What the beginning of a line already decides. */
  function lineBegan(): string[] {
    return afterBlank && /^\S/.test(line) ? take() : [];
  }

  function lineEnded(): string[] {
    const text = line;
    block += `${text}\n`;
    line = "";
    if (fence !== undefined) {
      if (closesFence(text, fence)) fence = undefined;
      return [];
    }
    if (text.trim() === "") {
      if (!list) return take();
      afterBlank = true;
      return [];
    }
    afterBlank = false;
    fence = openedFence(text);
    list ||= listItem.test(text);
    return [];
  }

  return {
    push(text) {
      const blocks: string[] = [];
      const parts = text.split("\n");
      parts.forEach((part, index) => {
        line += part;
        blocks.push(...lineBegan());
        if (index < parts.length - 1) blocks.push(...lineEnded());
      });
      return blocks;
    },
    held: () => block + line,
    end() {
      block += line;
      line = "";
      fence = undefined;
      return take();
    },
  };
}
