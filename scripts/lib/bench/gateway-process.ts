/** The gateway and its floors as processes: started, asked over HTTP, and looked at. */

import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { agentEnvironment } from "./chat.ts";
import type { Workbench } from "./workbench.ts";

export interface Service {
  readonly pid: number;
  readonly url: string;
  /** Milliseconds from its start to the first 200 on `/health`. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** Starts what serves `/health` on `port`, and resolves when it does. */
export async function startService(
  command: readonly string[],
  port: number,
  env: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const url = `http://127.0.0.1:${port}`;
  const began = performance.now();
  const child = Bun.spawn([...command], { env: { ...env }, stdio: ["ignore", "ignore", "pipe"] });
  const stderr = new Response(child.stderr).text();
  let isOver = false;
  void child.exited.then(() => {
    isOver = true;
  });
  while (!(await isWell(`${url}/health`))) {
    if (isOver) throw new Error(`${command.join(" ")} ended: ${await stderr}`);
  }
  return {
    pid: child.pid,
    url,
    startMs: performance.now() - began,
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Whether it answers with 200. */
async function isWell(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.text();
    if (response.status === 200) return true;
    await Bun.sleep(1);
    return false;
  } catch {
    // Nobody listens yet. A pause, so that the asking does not take the processor from who is asked.
    await Bun.sleep(0.5);
    return false;
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("There is no free port");
  return address.port;
}

/** MiB: a process's share of the memory. */
export function shareOfMemory(pid: number): number {
  const kilobytes = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
  return Number(kilobytes) / 1_024;
}

export interface GatewayHome {
  start(): Promise<Service>;
  /** Resolves when its channels take messages, too. */
  startReady(): Promise<Service>;
}

const PATIENCE_MS = 60_000;
const SECRET = "secret-of-the-bench-hook";

/** A folder in which the gateway runs, with the channels that are given. */
export async function gatewayHome(
  bench: Workbench,
  name: string,
  modelUrl: string,
  channels: Readonly<Record<string, unknown>> = {},
): Promise<GatewayHome> {
  const home = bench.folder(name);
  const port = await freePort();
  const config = {
    agents: { defaults: { model: "bench", provider: "bench", timezone: "UTC" } },
    providers: { bench: { apiBase: modelUrl, apiKey: "no-secret" } },
    gateway: { port },
    channels,
  };
  writeFileSync(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  const nanobot = await bench.nanobot();
  const start = () => startService([nanobot, "gateway"], port, agentEnvironment(home));
  return {
    start,
    async startReady() {
      const service = await start();
      while (!(await isWell(`${service.url}/ready`)));
      return service;
    },
  };
}

/** The `webhook` section with one hook, whose answers are posted to `replyUrl`. */
export function hookSection(replyUrl: string) {
  const hook = {
    secret: SECRET,
    scheme: "bearer",
    chatId: "{{chat}}",
    sessionKey: "webhook:{{chat}}",
    template: "{{text}}",
    replyUrl,
  };
  return { webhook: { enabled: true, allowFrom: ["*"], hooks: { bench: hook } } };
}

/** Posts a message to the hook, and resolves when its answer has come. */
export async function ask(url: string, box: AnswerBox, chat: string, text: string): Promise<void> {
  const answered = box.next(chat);
  const status = await post(url, chat, text);
  if (status < 200 || status > 299) throw new Error(`The gateway answered a message with ${status}`);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`The gateway did not answer in ${chat} within a minute`)),
    PATIENCE_MS,
  );
  await Promise.race([answered, late]).finally(() => clearTimeout(timer));
}

/** Posts a message to the hook; resolves to the status. */
export async function post(url: string, chat: string, text: string): Promise<number> {
  const response = await fetch(`${url}/webhook/in/bench`, {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
    body: JSON.stringify({ chat, text }),
  });
  await response.text();
  return response.status;
}

/** Where answers are posted to. */
export interface AnswerBox {
  readonly url: string;
  /** Resolves when the next answer for this chat has come. */
  next(chat: string): Promise<void>;
  /** How many have come. */
  readonly count: number;
  close(): Promise<void>;
}

export function openAnswerBox(): AnswerBox {
  const waiting = new Map<string, () => void>();
  let count = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { chatId } = (await request.json()) as { chatId: string };
      count += 1;
      waiting.get(chatId)?.();
      waiting.delete(chatId);
      return new Response("ok");
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/answers`,
    next: (chat) => new Promise((resolve) => void waiting.set(chat, resolve)),
    get count() {
      return count;
    },
    close: () => server.stop(true),
  };
}

/** `bytes` is how long an answer is. */
export async function startInstantModel(root: string, { delayMs = 0, bytes = 40 } = {}): Promise<Service> {
  const entry = join(root, "scripts/lib/bench/gateway-model.ts");
  const began = performance.now();
  const child = Bun.spawn([process.execPath, entry, "--delay", `${delayMs}`, "--bytes", `${bytes}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { value } = await child.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  if (!url.startsWith("http")) throw new Error("The model did not start");
  return {
    pid: child.pid,
    url,
    startMs: performance.now() - began,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}
