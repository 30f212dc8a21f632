/** What many turns leave behind in memory, and what one turn writes. */

import { readFileSync } from "node:fs";
import {
  type AnswerBox,
  ask,
  gatewayHome,
  hookSection,
  openAnswerBox,
  type Service,
  shareOfMemory,
  startInstantModel,
} from "./gateway-process.ts";
import type { Row } from "./table.ts";
import { settleDisk, type Workbench } from "./workbench.ts";

/** A part of them, unless all are asked for. */
const TURNS = 4_000;
const CHATS = 400;
const ALL_TURNS = 20_000;
const ALL_CHATS = 2_000;
const WARM_UP_TURNS = 1_000;
const AT_ONCE = 25;
/** What is garbage is given back within so long. */
const IDLE_MS = 20_000;

export async function manyTurns(bench: Workbench): Promise<readonly Row[]> {
  const turns = bench.isFull ? ALL_TURNS : TURNS;
  const chats = bench.isFull ? ALL_CHATS : CHATS;
  return withGateway(bench, "turns-home", {}, async (gateway, box) => {
    await take(gateway, box, { from: 0, to: WARM_UP_TURNS, chats });
    const before = await idleShare(gateway);
    await take(gateway, box, { from: WARM_UP_TURNS, to: turns, chats });
    return [
      {
        name: `memory after ${turns} turns over ${chats} chats, after ${WARM_UP_TURNS}`,
        value: await idleShare(gateway),
        floor: before,
        unit: "MB",
        bound: { of: "ratio", atMost: 1.3 },
      },
    ];
  });
}

/** Question and answer, together 1 KB. */
const TEXT_BYTES = 1_024;
const WRITING_TURNS = 100;
/** Within so long all that is not waited for is written. */
const WRITTEN_MS = 3_000;

export async function writesPerTurn(bench: Workbench): Promise<readonly Row[]> {
  const bytes = TEXT_BYTES / 2;
  return withGateway(bench, "writes-home", { bytes }, async (gateway, box) => {
    const text = "Where is everything? ".repeat(100).slice(0, bytes);
    const turns = (from: number) =>
      take(gateway, box, { from, to: from + WRITING_TURNS, chats: 10, atOnce: 1, text });
    await turns(0);
    await Bun.sleep(WRITTEN_MS);
    const before = written(gateway.pid);
    await turns(WRITING_TURNS);
    await Bun.sleep(WRITTEN_MS);
    const after = written(gateway.pid);
    return [
      {
        name: "written to files and elsewhere per turn of 1 KB (wchar)",
        value: Math.round((after.wchar - before.wchar) / WRITING_TURNS),
        floor: TEXT_BYTES,
        unit: "bytes",
        bound: { of: "count", atMost: 4 * TEXT_BYTES + 8_192 },
      },
      {
        name: "written to the disk per turn of 1 KB (write_bytes)",
        value: Math.round((after.disk - before.disk) / WRITING_TURNS),
        unit: "bytes",
        bound: { of: "count", atMost: 48 * 1_024 },
      },
    ];
  });
}

async function withGateway(
  bench: Workbench,
  name: string,
  model: { readonly bytes?: number },
  measure: (gateway: Service, box: AnswerBox) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const server = await startInstantModel(bench.root, model);
  const box = openAnswerBox();
  const home = await gatewayHome(bench, name, server.url, hookSection(box.url));
  const gateway = await home.startReady();
  try {
    return await measure(gateway, box);
  } finally {
    await gateway.stop();
    await Promise.all([server.stop(), box.close()]);
  }
}

interface Turns {
  readonly from: number;
  readonly to: number;
  readonly chats: number;
  readonly atOnce?: number;
  readonly text?: string;
}

/** One chat after the other, several at once. */
async function take(
  gateway: Service,
  box: AnswerBox,
  { from, to, chats, atOnce = AT_ONCE, text = "Hello" }: Turns,
): Promise<void> {
  let next = from;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < to) {
        await ask(gateway.url, box, `chat-${next++ % chats}`, text);
      }
    }),
  );
}

async function idleShare({ pid }: Service): Promise<number> {
  await Bun.sleep(IDLE_MS);
  settleDisk();
  return shareOfMemory(pid);
}

function written(pid: number): { wchar: number; disk: number } {
  const text = readFileSync(`/proc/${pid}/io`, "utf8");
  const number = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, "m").exec(text)?.[1]);
  return { wchar: number("wchar"), disk: number("write_bytes") };
}
