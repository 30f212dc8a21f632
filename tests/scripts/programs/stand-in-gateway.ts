/**
 * The least gateway that keeps the promise, for webhooks only, to judge the crash test by: it must find nothing wrong
 * here, and what is wrong with `--fault forget` (accepted before it is kept), `--fault again` (calls that were cut off
 * are run again) and `--fault keyless` (answers whose key changes).
 */

import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Event {
  readonly id: string;
  readonly chat: string;
  readonly text: string;
}

interface Call {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

interface Line {
  readonly role: "user" | "assistant" | "tool";
  readonly content: string;
  readonly inbound?: string;
  readonly turn?: string;
  readonly tool_calls?: readonly Call[];
  readonly tool_call_id?: string;
}

const [, , ...args] = process.argv;
const fault = args[args.indexOf("--fault") + 1];
const home = process.env["NANOBOT_HOME"] ?? "";
const config = JSON.parse(readFileSync(join(home, "config.json"), "utf8"));
const { replyUrl, secret } = config.channels.webhook.hooks.crash;
const { apiBase } = config.providers.crash;
const workspace = join(home, "workspace");
const inbox = join(home, "inbox.jsonl");
mkdirSync(join(workspace, "sessions"), { recursive: true });

const lines = <T>(path: string): T[] =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as T)
    : [];
const add = (path: string, value: unknown) => appendFileSync(path, `${JSON.stringify(value)}\n`);

const known = new Set<string>();
const lanes = new Map<string, Promise<void>>();

function enqueue(event: Event): void {
  known.add(event.id);
  lanes.set(
    event.chat,
    (lanes.get(event.chat) ?? Promise.resolve()).then(() => answer(event)),
  );
}

async function answer({ id, chat, text }: Event): Promise<void> {
  const path = join(workspace, "sessions", `${chat}.jsonl`);
  const session = lines<Line>(path);
  const append = (line: Line) => {
    session.push(line);
    add(path, line);
  };
  if (!session.some((line) => line.inbound === id))
    append({ role: "user", content: text, inbound: id, turn: id });
  const finished = new Set(session.map((line) => line.tool_call_id));
  for (const call of session.flatMap((line) => line.tool_calls ?? [])) {
    if (finished.has(call.id)) continue;
    const result = fault === "again" ? await run(call) : "Error: interrupted, outcome unknown.";
    append({ role: "tool", content: result, tool_call_id: call.id });
  }
  let last = session.at(-1);
  while (last?.role !== "assistant" || last.tool_calls !== undefined) {
    const reply = await ask(session);
    append({ role: "assistant", turn: id, ...reply });
    for (const call of reply.tool_calls ?? [])
      append({ role: "tool", content: await run(call), tool_call_id: call.id });
    last = session.at(-1);
  }
  const key = fault === "keyless" ? crypto.randomUUID() : id;
  const body = JSON.stringify({ id: `${id}/final`, inReplyTo: id, chatId: chat, content: last.content });
  const headers = { "idempotency-key": key, "content-type": "application/json" };
  let isTaken = false;
  while (!isTaken) isTaken = (await fetch(replyUrl, { method: "POST", headers, body })).ok;
  add(inbox, { done: id });
}

async function ask(session: readonly Line[]): Promise<Pick<Line, "content" | "tool_calls">> {
  const messages = session.map(({ inbound: _, turn: __, ...line }) => line);
  const tools = [
    { type: "function", function: { name: "exec", parameters: { type: "object", properties: {} } } },
  ];
  for (;;) {
    const response = await fetch(`${apiBase}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "crash-model", messages, tools }),
    });
    if (response.ok) {
      const { choices } = (await response.json()) as { choices: { message: Line }[] };
      const { content = "", tool_calls } = choices[0]?.message ?? {};
      return { content, ...(tool_calls === undefined ? {} : { tool_calls }) };
    }
    await response.text();
    if (response.status === 400) return { content: "The model refused that." };
  }
}

async function run(call: Call): Promise<string> {
  const { command } = JSON.parse(call.function.arguments) as { command: string };
  const child = Bun.spawn(["sh", "-c", command], { cwd: workspace });
  return `Exit code: ${await child.exited}`;
}

const records = lines<Event & { done?: string }>(inbox);
const done = new Set(records.map((record) => record.done));
for (const record of records) if (record.done === undefined) known.add(record.id);
for (const record of records) if (record.done === undefined && !done.has(record.id)) enqueue(record);

Bun.serve({
  hostname: "127.0.0.1",
  port: config.gateway.port,
  async fetch(request) {
    if (new URL(request.url).pathname === "/health") return new Response("ok");
    if (request.headers.get("authorization") !== `Bearer ${secret}`) return new Response("", { status: 401 });
    const { chat, text } = (await request.json()) as { chat: string; text: string };
    const event = { id: request.headers.get("idempotency-key") ?? crypto.randomUUID(), chat, text };
    if (known.has(event.id)) return new Response("ok");
    if (fault !== "forget") add(inbox, event);
    enqueue(event);
    return new Response("ok");
  },
});
process.on("SIGTERM", () => process.exit(0));
