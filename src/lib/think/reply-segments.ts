/** Collects what a reply turns out to consist of, and knows whether anything of it can be seen yet. */

export interface Segment {
  /** `toolCall` is the inside of one `<tool_call>`; text and reasoning come in any number of pieces. */
  readonly kind: "text" | "reasoning" | "toolCall";
  readonly text: string;
}

export interface Segments {
  readonly atStart: boolean;
  /** White space behind a block at the start is dropped. */
  say(text: string): void;
  think(text: string): void;
  call(inside: string): void;
  /** Something that is not shown has ended here. */
  endBlock(): void;
  /** What has come since the last time. */
  take(): readonly Segment[];
}

export function createSegments(): Segments {
  let ready: Segment[] = [];
  let atStart = true;
  let isBehindBlock = false;

  function add(kind: "text" | "reasoning", text: string): void {
    const last = ready.at(-1);
    if (text === "") return;
    if (last?.kind === kind) ready[ready.length - 1] = { kind, text: last.text + text };
    else ready.push({ kind, text });
  }

  function endBlock(): void {
    if (atStart) isBehindBlock = true;
  }

  return {
    get atStart() {
      return atStart;
    },
    say(text) {
      if (atStart) {
        const visible = text.trimStart();
        atStart = visible === "";
        add("text", isBehindBlock ? visible : text);
      } else add("text", text);
    },
    think: (text) => add("reasoning", text),
    call(inside) {
      ready.push({ kind: "toolCall", text: inside });
      endBlock();
    },
    endBlock,
    take() {
      const taken = ready;
      ready = [];
      return taken;
    },
  };
}
