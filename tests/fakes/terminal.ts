/** A terminal without a screen: it records what is written and is fed keys. */

import type { Key, Terminal } from "../../src/core/platform.ts";
import { stripControls } from "../../src/lib/text.ts";

export interface FakeTerminalOptions {
  readonly stdinIsTty?: boolean;
  readonly stdoutIsTty?: boolean;
  readonly stderrIsTty?: boolean;
  /** All three at once, unless one is set by itself. */
  readonly tty?: boolean;
  readonly columns?: number;
  /** What `readAll` gives. */
  readonly stdin?: string;
  readonly renderMarkdown?: Terminal["renderMarkdown"];
  /** Called with everything that is written, as it is written. */
  readonly onWrite?: (text: string, stream: "out" | "err") => void;
}

export interface FakeTerminal extends Terminal {
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams, in the order of writing. */
  readonly written: string;
  /** Somebody iterates `keys`: a real terminal would be in raw mode. */
  readonly listening: boolean;
  /**
   * Feeds keys, each given as `return`, `ctrl-c`, `alt-shift-left`, … or whole. Resolves when they were
   * taken and the next one is awaited, or when nobody listens any more.
   */
  press(...keys: (string | Key)[]): Promise<void>;
  /** Feeds one key for each character. */
  type(text: string): Promise<void>;
  paste(text: string): Promise<void>;
  /** Stdin is at its end. */
  endInput(): void;
  resize(columns: number): void;
}

/** The key that `spec` names: modifiers, then the name, with `-` between them. */
export function key(spec: string): Key {
  const parts = spec.split("-");
  const name = parts.at(-1) ?? "";
  const modifiers = new Set(parts.slice(0, -1));
  return {
    name,
    text: "",
    ctrl: modifiers.has("ctrl"),
    meta: modifiers.has("alt"),
    shift: modifiers.has("shift"),
  };
}

/** The key that types `text`. */
export function typed(text: string): Key {
  return { name: text.toLowerCase(), text, ctrl: false, meta: false, shift: false };
}

/** The key that pastes `text`. */
export function pasted(text: string): Key {
  return { name: "paste", text, ctrl: false, meta: false, shift: false };
}

export function createFakeTerminal({
  tty = false,
  stdinIsTty = tty,
  stdoutIsTty = tty,
  stderrIsTty = tty,
  columns: initialColumns = 80,
  stdin = "",
  renderMarkdown = (text) => stripControls(text),
  onWrite = () => {},
}: FakeTerminalOptions = {}): FakeTerminal {
  const texts = { out: "", err: "" };
  let written = "";
  let columns = initialColumns;
  const resizeListeners = new Set<() => void>();

  const queue: Key[] = [];
  let ended = false;
  let listening = false;
  let wake = () => {};
  let drained = Promise.withResolvers<void>();

  function write(text: string, stream: "out" | "err"): void {
    texts[stream] += text;
    written += text;
    onWrite(text, stream);
  }

  async function* keys(signal: AbortSignal): AsyncIterable<Key> {
    const onAbort = () => wake();
    signal.addEventListener("abort", onAbort);
    listening = true;
    try {
      while (!signal.aborted) {
        const next = queue.shift();
        if (next !== undefined) {
          yield next;
          continue;
        }
        if (ended) return;
        drained.resolve();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      listening = false;
      signal.removeEventListener("abort", onAbort);
      drained.resolve();
    }
  }

  function press(...specs: (string | Key)[]): Promise<void> {
    queue.push(...specs.map((spec) => (typeof spec === "string" ? key(spec) : spec)));
    drained = Promise.withResolvers();
    wake();
    return drained.promise;
  }

  return {
    stdinIsTty,
    stdoutIsTty,
    stderrIsTty,
    get columns() {
      return columns;
    },
    get stdout() {
      return texts.out;
    },
    get stderr() {
      return texts.err;
    },
    get written() {
      return written;
    },
    get listening() {
      return listening;
    },
    out: (text) => write(text, "out"),
    err: (text) => write(text, "err"),
    readAll: async (maxBytes) => stdin.slice(0, maxBytes),
    keys,
    renderMarkdown,
    width: (text) => Bun.stringWidth(text),
    onResize(listener) {
      resizeListeners.add(listener);
      return () => void resizeListeners.delete(listener);
    },
    flush: async () => {},
    press,
    type: (text) => press(...[...text].map(typed)),
    paste: (text) => press(pasted(text)),
    endInput() {
      ended = true;
      wake();
    },
    resize(next) {
      columns = next;
      for (const listener of resizeListeners) listener();
    },
  };
}
