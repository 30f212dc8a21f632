/** What a search of the memory takes over as many messages as somebody writes in years. */

import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { agentEnvironment } from "./chat.ts";
import { compareWall, outputOf, type Program, peakMemory } from "./programs.ts";
import type { Row } from "./table.ts";
import { settleDisk, type Workbench } from "./workbench.ts";

const MESSAGES = 100_000;
const FEWER_MESSAGES = 20_000;
/** One message in so many holds the rare word. */
const HOLDING = 1_000;
const RARE = "lighthouse";
/** In two languages of three, in all of their messages. */
const COMMON = "kettle 水壶";

const SENTENCES = [
  "The kettle for the office arrived; see notes/café.md, 3 of 14 items are left 🐈",
  "Müllers kettle steht in der Straße hinter dem Café, und übermorgen kommt der Rest",
  "我们明天上午十点开会，讨论办公室的水壶。请大家准备好材料，谢谢！",
] as const;

/** About 17 MB for 100,000 messages, with two fifths of the bytes in Chinese. */
function writeConversation(folder: string, messages: number): void {
  mkdirSync(folder, { recursive: true });
  const file = openSync(join(folder, "cli=3adirect.jsonl"), "w", 0o600);
  const state = { key: "cli:direct", metadata: {}, last_consolidated: 0 };
  let lines = `${JSON.stringify({ _type: "metadata", ...state })}\n`;
  for (let index = 0; index < messages; index++) {
    const content = `${SENTENCES[index % SENTENCES.length]} ${index % HOLDING === 7 ? RARE : index}`;
    const timestamp = new Date(1_790_000_000_000 + index * 60_000).toISOString();
    const role = index % 2 === 0 ? "user" : "assistant";
    lines += `${JSON.stringify({ role, content, timestamp, turn: `cli:${index >> 1}` })}\n`;
    if (lines.length > 1_000_000 || index === messages - 1) {
      writeSync(file, lines);
      lines = "";
    }
  }
  closeSync(file);
}

export async function searchMemory(bench: Workbench): Promise<readonly Row[]> {
  const nanobot = await bench.nanobot();
  const searchIn = (home: string, words: string): Program => ({
    command: [nanobot, "memory", "search", words],
    env: agentEnvironment(home),
  });
  const homes = [0, FEWER_MESSAGES, MESSAGES].map((messages) => {
    const home = bench.folder(`memory-home-${messages}`);
    outputOf({
      command: [nanobot, "tools", "call", "list_dir", '{"path":"."}'],
      env: agentEnvironment(home),
    });
    if (messages > 0) writeConversation(join(home, "workspace", "sessions"), messages);
    return home;
  });
  const [none = "", fewer = "", many = ""] = homes;
  settleDisk();
  const [rare = NaN, common = NaN, floor = NaN] = compareWall([
    searchIn(many, RARE),
    searchIn(many, COMMON),
    searchIn(none, RARE),
  ]);
  const bound = { of: "time", atMost: 400 } as const;
  return [
    {
      name: "memory search in 100,000 messages, beyond that in none",
      value: rare - floor,
      unit: "ms",
      bound,
    },
    { name: "the same for words that are in all of them", value: common - floor, unit: "ms", bound },
    {
      name: "its peak memory, to that in a fifth of them, with which it must not grow",
      value: await peakMemory(searchIn(many, COMMON)),
      floor: await peakMemory(searchIn(fewer, COMMON)),
      unit: "MB",
      bound: { of: "ratio", atMost: 1.5 },
    },
  ];
}
