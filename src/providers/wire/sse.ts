/** Server-sent events from bytes that arrive in any pieces. Only `data` matters here. */

export interface SseParser {
  push(bytes: Uint8Array): void;
  /** Hands on an event whose closing blank line never came. */
  end(): void;
}

/** Calls `onData` with the data of each event, in order. A throw in it ends the `push` it happened in. */
export function createSseParser(onData: (data: string) => void): SseParser {
  const decoder = new TextDecoder();
  const lineEnd = /\r\n|\n|\r/g;
  let rest = "";
  let data: string | undefined;

  function takeLine(line: string): void {
    if (line === "") {
      if (data === undefined) return;
      const complete = data;
      data = undefined;
      onData(complete);
      return;
    }
    // Comments, which some servers send to keep the connection open, begin with a colon.
    if (!line.startsWith("data")) return;
    if (line.length > 4 && line[4] !== ":") return;
    const value = line.slice(line[5] === " " ? 6 : 5);
    data = data === undefined ? value : `${data}\n${value}`;
  }

  function takeLines(text: string, last: boolean): void {
    // What is left over holds no line end, but may end with the first half of a CRLF.
    const from = rest.endsWith("\r") ? rest.length - 1 : rest.length;
    rest += text;
    let start = 0;
    lineEnd.lastIndex = from;
    for (let match = lineEnd.exec(rest); match; match = lineEnd.exec(rest)) {
      if (!last && match[0] === "\r" && lineEnd.lastIndex === rest.length) break;
      const line = rest.slice(start, match.index);
      start = lineEnd.lastIndex;
      takeLine(line);
    }
    rest = rest.slice(start);
  }

  return {
    push: (bytes) => takeLines(decoder.decode(bytes, { stream: true }), false),
    end() {
      takeLines(`${decoder.decode()}\n\n`, true);
    },
  };
}
