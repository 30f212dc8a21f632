/** The program under test: started, watched and killed. */

import { createWriteStream } from "node:fs";

export interface GatewayOptions {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly baseUrl: string;
  /** Where all that it writes to stderr is kept. */
  readonly logFile: string;
}

export interface RunningGateway {
  readonly pid: number;
  /** Resolves to whether it answers before it ends. */
  readonly ready: Promise<boolean>;
  /** Resolves to the exit code, 128 and the signal's number when one ended it. */
  readonly exited: Promise<number>;
  /** Sends SIGKILL; nothing of it runs when this returns and `exited` resolved. */
  kill(): void;
  terminate(): void;
}

export interface Gateway {
  start(): RunningGateway;
  /** Lines of stderr that no good day has. */
  readonly complaints: readonly string[];
  /** The newest lines of stderr. */
  lastLines(): readonly string[];
  close(): void;
}

const POLL_MS = 4;
const KEPT_LINES = 40;
const KEPT_COMPLAINTS = 100;

export function createGateway({ command, env, cwd, baseUrl, logFile }: GatewayOptions): Gateway {
  const log = createWriteStream(logFile, { flags: "a" });
  const complaints: string[] = [];
  let newest: string[] = [];

  function note(line: string): void {
    log.write(`${line}\n`);
    newest = [...newest.slice(1 - KEPT_LINES), line];
    if (isComplaint(line) && complaints.length < KEPT_COMPLAINTS) complaints.push(line);
  }

  async function follow(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of stream) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) note(line);
    }
    if (rest !== "") note(rest);
  }

  async function becomesReady(isOver: () => boolean): Promise<boolean> {
    while (!isOver()) {
      const status = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(1_000) }).then(
        (response) => response.status,
        // It does not listen yet.
        () => 0,
      );
      if (status === 200) return !isOver();
      await Bun.sleep(POLL_MS);
    }
    return false;
  }

  return {
    start() {
      note("--- started");
      const child = Bun.spawn([...command], { cwd, env: { ...env }, stdio: ["ignore", "ignore", "pipe"] });
      let isOver = false;
      const followed = follow(child.stderr);
      const exited = child.exited.then(async (code) => {
        isOver = true;
        // What it started may hold its stderr open.
        await Promise.race([followed, Bun.sleep(500)]);
        return code;
      });
      return {
        pid: child.pid,
        ready: becomesReady(() => isOver),
        exited,
        kill: () => child.kill("SIGKILL"),
        terminate: () => child.kill("SIGTERM"),
      };
    },
    complaints,
    lastLines: () => newest,
    close: () => log.end(),
  };
}

/** A line of level error, or about what nobody caught. */
export function isComplaint(line: string): boolean {
  return /unhandled|uncaught|panic/i.test(line) || /^\S+ (ERROR|FATAL) /.test(line);
}
