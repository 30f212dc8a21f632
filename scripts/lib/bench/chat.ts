/** A model that answers at once, in a process of its own, and a conversation with the agent in a terminal. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { NEW_SESSION } from "../../../src/lib/phrases.ts";
import type { ScriptFile } from "../../../tests/fakes/chat-server.ts";

const ANSWER = "Nothing is new, and all of it is where you left it.";

export interface ModelServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** `root` is the repository; the script lies in `folder`. */
export async function startModelServer(root: string, folder: string): Promise<ModelServer> {
  const script = join(folder, "script.json");
  // In pieces, as a model sends it.
  const file: ScriptFile = { replies: [{ text: ANSWER.split(/(?= )/) }], loop: true };
  writeFileSync(script, JSON.stringify(file));
  const child = Bun.spawn([process.execPath, join(root, "tests/fakes/chat-server.ts"), "--script", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { value } = await child.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  if (!url.startsWith("http")) throw new Error("The fake model did not start");
  return {
    url,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

/** Makes the agent of the home folder `home` use the model at `url`. */
export function configure(home: string, url: string): void {
  const config = {
    agents: { defaults: { model: "bench" } },
    providers: { bench: { apiBase: url, apiKey: "no-secret" } },
  };
  writeFileSync(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
}

/** The agent in a home folder of its own, so that nothing of this machine decides the result. */
export function agentEnvironment(home: string): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: home, NANOBOT_HOME: home, TZ: "UTC" };
}

export interface Conversation {
  readonly pid: number;
  /** Resolves when the answer is shown and the next question can be typed. */
  ask(question: string): Promise<void>;
  /** Sends the question, and does not wait for its answer. */
  send(question: string): void;
  /** Resolves when `text` has been shown, behind what earlier calls waited for. */
  until(text: string): Promise<void>;
  /** Resolves when the next question can be typed. */
  untilPrompt(): Promise<void>;
  /** Begins a new session in the same process. */
  startAnew(): Promise<void>;
  /** Leaves, and resolves when the program has ended. */
  leave(): Promise<void>;
}

const PROMPT = "› ";

/** Resolves when the agent waits for the first question. */
export async function converse(command: string[], env: Record<string, string>): Promise<Conversation> {
  const decoder = new TextDecoder();
  let unread = "";
  let changed = Promise.withResolvers<void>();
  let isOver = false;

  function onChange(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  async function until(text: string): Promise<void> {
    for (let at = unread.indexOf(text); at < 0; at = unread.indexOf(text)) {
      if (isOver) throw new Error(`${command.join(" ")} ended without showing "${text}": ${unread}`);
      await changed.promise;
    }
    unread = unread.slice(unread.indexOf(text) + text.length);
  }

  const child = Bun.spawn(command, {
    env: { TERM: "xterm", ...env },
    terminal: {
      cols: 120,
      rows: 40,
      data(_terminal, bytes) {
        unread += decoder.decode(bytes, { stream: true });
        onChange();
      },
    },
  });
  child.exited.then(() => {
    isOver = true;
    onChange();
  });
  const { terminal } = child;
  if (terminal === undefined) throw new Error("Bun opened no terminal");

  /** Pasted, so that drawing each key press is not measured as part of the turn. */
  function send(text: string): void {
    terminal?.write(`\x1b[200~${text}\x1b[201~\r`);
  }
  const untilPrompt = () => until(PROMPT);
  async function say(text: string, answer: string): Promise<void> {
    send(text);
    await until(answer);
    await untilPrompt();
  }

  await untilPrompt();
  return {
    pid: child.pid,
    send,
    until,
    untilPrompt,
    ask: (question) => say(question, ANSWER),
    startAnew: () => say("/new", NEW_SESSION),
    async leave() {
      terminal.write("/exit\r");
      await child.exited;
    },
  };
}
