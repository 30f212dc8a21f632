/** What the gateway takes before anybody writes: its start, its memory, and one more channel. */

import { startTelegramServer } from "../../../tests/fakes/telegram-server.ts";
import {
  freePort,
  type GatewayHome,
  gatewayHome,
  type Service,
  shareOfMemory,
  startInstantModel,
  startService,
} from "./gateway-process.ts";
import { median } from "./statistics.ts";
import type { Row } from "./table.ts";
import { settleDisk, type Workbench } from "./workbench.ts";

const ROUNDS = 7;
/** What is loaded behind the first answer, and freed again, is then done with. */
const IDLE_MS = 3_000;

export async function idleGateway(bench: Workbench): Promise<readonly Row[]> {
  const model = await startInstantModel(bench.root);
  const telegram = await startTelegramServer();
  try {
    const bare = await gatewayHome(bench, "gateway-home", model.url);
    const withTelegram = await gatewayHome(bench, "gateway-telegram-home", model.url, {
      telegram: { enabled: true, token: telegram.token, apiRoot: telegram.url, allowFrom: ["*"] },
    });
    const serve = await floorOf(await bench.serve());
    const grammy = await floorOf(await bench.grammy());
    const [start, startFloor] = await startTimes([bare.start, serve]);
    const idle = await idleMemory(bare.start);
    const idleFloor = await idleMemory(serve);
    const library = (await idleMemory(grammy)) - idleFloor;
    const channel = (await idleMemory(withTelegram.start)) - idle;
    return [
      {
        name: "gateway to the first 200 on /health",
        value: start ?? NaN,
        floor: startFloor ?? NaN,
        unit: "ms",
        bound: { of: "ratio", atMost: 2.5 },
      },
      {
        name: "idle memory of the gateway (PSS)",
        value: idle,
        floor: idleFloor,
        unit: "MB",
        bound: { of: "ratio", atMost: 1.8 },
      },
      {
        name: "one more channel, telegram, beyond its library",
        value: channel - library,
        unit: "MB",
        bound: { of: "count", atMost: 12 },
        note: `${channel.toFixed(1)} in all, ${library.toFixed(1)} of them grammy`,
      },
    ];
  } finally {
    await Promise.all([model.stop(), telegram.close()]);
  }
}

async function floorOf(program: string): Promise<GatewayHome["start"]> {
  const port = await freePort();
  return () => startService([program, `${port}`], port);
}

/** Medians in milliseconds, the programs taking turns; the first round only warms the caches. */
async function startTimes(programs: readonly (() => Promise<Service>)[]): Promise<readonly number[]> {
  const times = programs.map((): number[] => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, start] of programs.entries()) {
      const service = await start();
      await service.stop();
      if (round > 0) times[index]?.push(service.startMs);
    }
  }
  return times.map(median);
}

/** The median of three processes in MiB, each after a while in which nothing happens. */
async function idleMemory(start: () => Promise<Service>): Promise<number> {
  const readings: number[] = [];
  for (let run = 0; run < 3; run++) {
    const service = await start();
    await Bun.sleep(IDLE_MS);
    settleDisk();
    readings.push(shareOfMemory(service.pid));
    await service.stop();
  }
  return median(readings);
}
