/** How soon the user sees what a model sends, and whether a provider can cache what it is sent again. */

import { type ChatServer, type LoggedRequest, startChatServer } from "../../../tests/fakes/chat-server.ts";
import { agentEnvironment, configure, converse } from "./chat.ts";
import { median } from "./statistics.ts";
import type { Row } from "./table.ts";
import type { Workbench } from "./workbench.ts";

const WARM_UP_TURNS = 20;
const TURNS = 40;
/** Over these turns the beginning of the requests must not change. */
const CACHED_TURNS = 10;

const FIRST_LINE = "The first line is here.";

/** A model that waits for a word before its first delta, in this process, so that one clock sees both ends. */
async function startHeldServer() {
  let release = Promise.withResolvers<void>();
  const server = await startChatServer({
    script: () => ({
      text: [`${FIRST_LINE}\n`, "And the last."],
      // The first write says only who speaks.
      holdAfter: { writes: 1, until: release.promise },
    }),
  });
  return {
    server,
    /** Lets the first delta go; resolves to the moment it went. */
    async letGo(requests: number): Promise<number> {
      await server.received(requests);
      const now = performance.now();
      release.resolve();
      release = Promise.withResolvers();
      return now;
    },
  };
}

type HeldServer = Awaited<ReturnType<typeof startHeldServer>>;

/** The floor: a bare `fetch` in this process sees the first delta. */
async function bareDelays({ server, letGo }: HeldServer): Promise<readonly number[]> {
  const delays: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const asked = fetch(`${server.url}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "bench", stream: true, messages: [{ role: "user", content: "Hi" }] }),
    });
    const began = letGo(server.requests.length + 1);
    const body = (await asked).body?.pipeThrough(new TextDecoderStream());
    for await (const text of body ?? []) {
      if (!text.includes(FIRST_LINE)) continue;
      delays.push(performance.now() - (await began));
      break;
    }
  }
  return delays;
}

/** From the moment the delta is sent to the moment its line is on the terminal. */
async function shownDelays(command: string[], home: string, held: HeldServer): Promise<readonly number[]> {
  const { server, letGo } = held;
  const chat = await converse(command, agentEnvironment(home));
  const delays: number[] = [];
  for (let turn = -WARM_UP_TURNS; turn < TURNS; turn++) {
    const began = letGo(server.requests.length + 1);
    chat.send("Hi");
    const sent = await began;
    await chat.until(FIRST_LINE);
    if (turn >= 0) delays.push(performance.now() - sent);
    await chat.untilPrompt();
  }
  await chat.leave();
  return delays;
}

/** Of all bytes up to the end of the messages of each request, those that the next one does not begin with. */
export function changedPrefixBytes(requests: readonly Pick<LoggedRequest, "text">[]): number {
  let changed = 0;
  requests.slice(1).forEach(({ text }, index) => {
    const before = requests[index]?.text ?? "";
    const end = before.lastIndexOf('],"tools"');
    if (end < 0 || toolsOf(before) !== toolsOf(text)) changed += before.length;
    else changed += end - Math.min(end, commonPrefix(before, text));
  });
  return changed;
}

function toolsOf(text: string): string {
  return JSON.stringify((JSON.parse(text) as { tools?: unknown }).tools);
}

function commonPrefix(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}

export async function streaming(bench: Workbench): Promise<readonly Row[]> {
  const home = bench.folder("delta-home");
  const held = await startHeldServer();
  const { server }: { server: ChatServer } = held;
  try {
    configure(home, server.url);
    const command = [await bench.nanobot(), "agent", "--no-markdown", "-s", "bench:delta"];
    const shown = median(await shownDelays(command, home, held));
    const changed = changedPrefixBytes(server.requests.slice(0, CACHED_TURNS + 1));
    const bare = median(await bareDelays(held));
    return [
      { name: "first delta sent to shown, median", value: shown, floor: bare, unit: "ms" },
      {
        name: "first delta over a bare fetch",
        value: shown - bare,
        unit: "ms",
        bound: { of: "time", atMost: 5 },
      },
      {
        name: `changed bytes of the cached prefix over ${CACHED_TURNS} turns`,
        value: changed,
        unit: "bytes",
        bound: { of: "count", atMost: 0 },
      },
    ];
  } finally {
    await server.close();
  }
}
