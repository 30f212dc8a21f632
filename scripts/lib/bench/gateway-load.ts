/** How soon the gateway takes what is posted to it, and answers, when much comes at once. */

import {
  ask,
  freePort,
  gatewayHome,
  hookSection,
  openAnswerBox,
  post,
  startInstantModel,
  startService,
} from "./gateway-process.ts";
import { median } from "./statistics.ts";
import type { Row } from "./table.ts";
import type { Workbench } from "./workbench.ts";

/** Sessions grow, and no person's grows like this. */
const CHATS = 2_000;
const RATE = 100;
const BURST_RATE = 500;
const BURST = 5_000;
/** A part of the time, unless all of it is asked for. */
const MESSAGES = 2_000;
const ALL_MESSAGES = 100_000;
const FLOOR_MESSAGES = 500;

export async function webhookLatency(bench: Workbench): Promise<readonly Row[]> {
  const model = await startInstantModel(bench.root);
  const box = openAnswerBox();
  const home = await gatewayHome(bench, "webhook-home", model.url, hookSection(box.url));
  const port = await freePort();
  const floor = await startService([await bench.serve(), `${port}`], port);
  try {
    const floorSteady = await load(floor.url, FLOOR_MESSAGES, RATE);
    const floorBurst = await load(floor.url, FLOOR_MESSAGES, BURST_RATE);
    await floor.stop();
    const gateway = await home.startReady();
    // The first ones load what all others use.
    await load(gateway.url, RATE, RATE);
    const steady = await load(gateway.url, bench.isFull ? ALL_MESSAGES : MESSAGES, RATE);
    const burst = await load(gateway.url, BURST, BURST_RATE);
    await gateway.stop();
    const tenth = Math.floor(steady.times.length / 10);
    const refused = steady.refused + burst.refused;
    return [
      latencyRow(`webhook POST to 200, ${steady.times.length} at ${RATE} a second, p99`, steady, floorSteady),
      latencyRow(`webhook POST to 200, ${BURST} at ${BURST_RATE} a second, p99`, burst, floorBurst),
      {
        name: "webhook POST to 200, the last tenth, the first",
        value: median(steady.times.slice(-tenth)),
        floor: median(steady.times.slice(0, tenth)),
        unit: "ms",
        // "No slower", and what the clock cannot tell from it.
        bound: { of: "ratio", atMost: 1.25 },
      },
      {
        name: "webhook POSTs that were not answered with 200",
        value: refused,
        unit: "requests",
        bound: { of: "count", atMost: 0 },
      },
    ];
  } finally {
    await Promise.all([model.stop(), floor.stop(), box.close()]);
  }
}

interface Load {
  /** Milliseconds, in the order in which they were sent. */
  readonly times: readonly number[];
  readonly refused: number;
}

/** Posts at a steady rate, however long the answers take. */
async function load(url: string, messages: number, rate: number): Promise<Load> {
  const times: number[] = [];
  const open = new Set<Promise<void>>();
  let refused = 0;
  const began = performance.now();
  for (let sent = 0; sent < messages; sent++) {
    const due = began + (sent * 1_000) / rate;
    if (due > performance.now()) await Bun.sleep(due - performance.now());
    const start = performance.now();
    const request = post(url, `chat-${sent % CHATS}`, `Message ${sent}`)
      .catch(() => 0)
      .then((status) => {
        times[sent] = performance.now() - start;
        if (status < 200 || status > 299) refused += 1;
      });
    open.add(request);
    void request.then(() => open.delete(request));
  }
  await Promise.all(open);
  return { times, refused };
}

function latencyRow(name: string, { times }: Load, floor: Load): Row {
  return {
    name,
    value: percentile(times, 0.99),
    floor: percentile(floor.times, 0.99),
    unit: "ms",
    bound: { of: "time", atMost: 25 },
    note: `median ${median(times).toFixed(2)}`,
  };
}

/** The least value that this part of them is not above. Not a number when there is none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? NaN;
}

const CROWD = 500;
const MODEL_MS = 1_000;
const ANSWERED_MS = 3_000;

export async function crowd(bench: Workbench): Promise<readonly Row[]> {
  const model = await startInstantModel(bench.root, { delayMs: MODEL_MS });
  const box = openAnswerBox();
  const home = await gatewayHome(bench, "crowd-home", model.url, hookSection(box.url));
  const gateway = await home.startReady();
  try {
    const times = await Promise.all(
      Array.from({ length: CROWD }, async (_, index) => {
        const began = performance.now();
        await ask(gateway.url, box, `chat-${index}`, "Hello");
        return performance.now() - began;
      }),
    );
    return [
      {
        name: `${CROWD} sessions at once, model latency 1 s, the last answer`,
        value: Math.max(...times),
        floor: MODEL_MS,
        unit: "ms",
        bound: { of: "time", atMost: ANSWERED_MS },
        note: `median ${median(times).toFixed(0)}`,
      },
    ];
  } finally {
    await gateway.stop();
    await Promise.all([model.stop(), box.close()]);
  }
}
