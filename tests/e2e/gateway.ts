/** A gateway that runs, as a program of its own, and what it needs around it. */

import type { JsonObject } from "../../src/core/json.ts";
import type { Reply } from "../fakes/chat-reply.ts";
import type { TelegramServer } from "../fakes/telegram-server.ts";
import { binary, type Home, modelAt, newHome } from "./harness.ts";

export interface Gateway {
  /** Where it listens: `http://127.0.0.1:40123`. */
  readonly url: string;
  readonly pid: number;
  /** All that it said so far. */
  stderr(): string;
  signal(name: NodeJS.Signals): void;
  /** As a shell shows it. */
  readonly exited: Promise<number>;
}

export interface StartGatewayOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The program and its first arguments, in the place of the executable. */
  readonly command?: readonly string[];
}

const running = new Set<Bun.Subprocess>();

/** For `afterEach`. */
export async function killGateways(): Promise<void> {
  for (const child of running) child.kill("SIGKILL");
  await Promise.all([...running].map((child) => child.exited));
  running.clear();
}

/** Resolves when it listens. Rejects, with what it said, when it ends before. */
export async function startGateway(home: Home, options: StartGatewayOptions = {}): Promise<Gateway> {
  const { args = [], env = {}, command = [binary()] } = options;
  const child = Bun.spawn([...command, "gateway", ...args], {
    cwd: home.folder,
    env: { ...home.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  running.add(child);
  let said = "";
  const listening = Promise.withResolvers<string>();
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) {
      said += decoder.decode(chunk, { stream: true });
      const address = /listens on (http:\S+?),/.exec(said)?.[1];
      if (address !== undefined) listening.resolve(address);
    }
  })();
  const exited = Promise.all([child.exited, reading]).then(([code]) => {
    running.delete(child);
    listening.reject(new Error(`The gateway ended with ${code}: ${said}`));
    return code;
  });
  const url = await listening.promise;
  return { url, pid: child.pid, stderr: () => said, signal: (name) => child.kill(name), exited };
}

/** A home whose Telegram is the fake one, and whose model answers at `modelUrl`. 1, 2 and 3 may talk. */
export function telegramHome(
  server: TelegramServer,
  modelUrl: string,
  telegram: object = {},
  more: object = {},
): Home {
  return newHome({
    ...modelAt(modelUrl),
    gateway: { port: 0 },
    channels: {
      telegram: {
        enabled: true,
        token: server.token,
        apiRoot: server.url,
        allowFrom: ["1", "2", "3"],
        reactEmoji: "",
        ...telegram,
      },
    },
    ...more,
  });
}

/** A port that nobody has, for what must know its address before it listens. */
export async function freePort(): Promise<number> {
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port = 0 } = probe;
  await probe.stop(true);
  return port;
}

/** The text of the last user message, without the block in front of it. */
export function lastSaid(body: JsonObject): string {
  const messages = body["messages"] as readonly { role: string; content: unknown }[];
  const content = messages.findLast(({ role }) => role === "user")?.content;
  const text = Array.isArray(content)
    ? content.map((part) => (part as { text?: string }).text ?? "").join("\n")
    : String(content);
  return text.trimEnd().split("\n\n").at(-1) ?? "";
}

/** A model that repeats what it hears. */
export function echo(body: JsonObject): Reply {
  return { text: [`echo: ${lastSaid(body)}`] };
}

/** Waits for what another process does. Rejects when it takes too long for anything that works. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`It never came about: ${condition}`);
    await Bun.sleep(5);
  }
}
