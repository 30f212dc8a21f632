/** Runs a program in a real terminal, and waits for what it shows instead of for time. */

export interface PseudoTerminal {
  /** All that was shown so far. */
  readonly shown: string;
  /** Resolves when `text` has been shown since the last call that resolved. */
  until(text: string): Promise<void>;
  type(text: string): void;
  resize(columns: number): void;
  /** Hangs up. */
  close(): void;
  readonly exited: Promise<number>;
}

export function openPseudoTerminal(command: string[], env: Record<string, string> = {}): PseudoTerminal {
  const decoder = new TextDecoder();
  let shown = "";
  let seen = 0;
  let changed = Promise.withResolvers<void>();
  let isOver = false;

  function onChange(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  const child = Bun.spawn(command, {
    // Without a home Bun would keep its cache in the current folder.
    env: { PATH: process.env["PATH"], TERM: "xterm", BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0", ...env },
    terminal: {
      cols: 80,
      rows: 24,
      data(_terminal, bytes) {
        shown += decoder.decode(bytes, { stream: true });
        onChange();
      },
    },
  });
  const terminal = child.terminal;
  if (terminal === undefined) throw new Error("Bun opened no terminal");
  child.exited.then(() => {
    isOver = true;
    onChange();
  });

  return {
    get shown() {
      return shown;
    },
    async until(text) {
      for (;;) {
        const at = shown.indexOf(text, seen);
        if (at >= 0) {
          seen = at + text.length;
          return;
        }
        if (isOver)
          throw new Error(`It ended without showing ${JSON.stringify(text)}: ${JSON.stringify(shown)}`);
        await changed.promise;
      }
    },
    type: (text) => void terminal.write(text),
    resize: (columns) => terminal.resize(columns, 24),
    close: () => terminal.close(),
    exited: child.exited,
  };
}
