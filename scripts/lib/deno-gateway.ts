/** Runs the gateway under Deno: whether it says that it lives, and answers a webhook from end to end. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ScriptFunction } from "../../tests/fakes/chat-scenarios.ts";
import { startChatServer } from "../../tests/fakes/chat-server.ts";

const SECRET = "a-secret-for-this-run";
const ANSWER = "This is the answer.";
const PATIENCE_MS = 60_000;

/** Rejects, with what went wrong, unless both work. */
export async function checkDenoGateway(deno: readonly string[], home: string): Promise<void> {
  await withDenoGateway(deno, { home, script: () => ({ text: [ANSWER] }) }, async (url) => {
    const health = await fetch(`${url}/health`);
    if (health.status !== 200) throw new Error(`/health answered ${health.status}`);
    const answer = await answerOf(url, "hello");
    if (answer !== ANSWER) throw new Error(`the webhook was told ${JSON.stringify(answer)}`);
  });
}

interface DenoGateway {
  readonly home: string;
  /** Of the model that it talks to. */
  readonly script: ScriptFunction;
}

/** Runs a gateway with one webhook for as long as `work` takes. */
export async function withDenoGateway(
  deno: readonly string[],
  { home, script }: DenoGateway,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const model = await startChatServer({ script });
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.json"), JSON.stringify(configFor(model.url)));
  const child = Bun.spawn([...deno, "run", "-A", "--quiet", "src/main.ts", "gateway"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, HOME: home, NANOBOT_HOME: home },
    // Whatever stands between this process and Deno ends with it.
    detached: true,
  });
  const end = () => {
    if (child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  };
  const timer = setTimeout(end, PATIENCE_MS);
  try {
    await work(await addressOf(child.stderr));
  } finally {
    clearTimeout(timer);
    end();
    await child.exited;
    await model.close();
  }
}

function configFor(modelUrl: string): object {
  const hooks = { try: { secret: SECRET, scheme: "bearer", template: "{{text}}", wait: 30 } };
  return {
    providers: { fake: { apiBase: modelUrl, apiKey: "key-of-the-fake" } },
    agents: { defaults: { provider: "fake", model: "fake-model" } },
    gateway: { port: 0 },
    channels: { webhook: { enabled: true, hooks } },
  };
}

/** What the webhook is answered. */
export async function answerOf(url: string, text: string): Promise<unknown> {
  const response = await fetch(`${url}/webhook/in/try`, {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET}`, "idempotency-key": text },
    body: JSON.stringify({ text }),
  });
  return ((await response.json()) as { content?: unknown }).content;
}

async function addressOf(stderr: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let said = "";
  for await (const chunk of stderr) {
    said += decoder.decode(chunk, { stream: true });
    const address = /listens on (http:\S+?),/.exec(said)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error(`it ended before it listened: ${said}`);
}
