/** What reading a page takes that is as large as pages may be, and what is left of it in memory. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseWhitelist } from "../../../src/lib/address.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createGuardedFetch } from "../../../src/platform/guarded-fetch.ts";
import { createSender } from "../../../src/platform/web-request.ts";
import { readResponse } from "../../../src/tools/web-reading.ts";
import { createWorkers } from "../../../src/workers.ts";
import { agentEnvironment } from "./chat.ts";
import { median } from "./statistics.ts";
import type { Row } from "./table.ts";
import { settleDisk, type Workbench } from "./workbench.ts";

const ROUNDS = 9;
const PAGE_BYTES = 5_000_000;
const PAGES_BEFORE = 5;
const PAGES = 30;

/** Text with links, entities and elements as they come in long documents. */
function makePage(bytes: number): string {
  const part =
    '<h2 id="s">Results</h2><p class="text">The <b>kettle</b> was descaled &ndash; see <a href="/notes/1.html">the ' +
    "notes</a>, which say &quot;twice&quot;.</p><ul><li>vinegar</li><li>citric acid &amp; water</li></ul>\n";
  const body = part.repeat(Math.ceil(bytes / part.length)).slice(0, bytes);
  return `<!doctype html><html><head><title>Kettles</title></head><body>${body}`;
}

export async function webFetch(bench: Workbench): Promise<readonly Row[]> {
  const pages = { "/large": makePage(PAGE_BYTES), "/small": makePage(1_000) };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      new Response(pages[new URL(url).pathname === "/large" ? "/large" : "/small"], {
        headers: { "content-type": "text/html" },
      }),
  });
  try {
    const home = bench.folder("fetch-home");
    const config = { tools: { ssrfWhitelist: ["127.0.0.1/32"] } };
    writeFileSync(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
    const nanobot = await bench.nanobot();
    const call = (path: string) => ({
      command: [
        nanobot,
        "tools",
        "call",
        "web_fetch",
        JSON.stringify({ url: `${server.url.origin}${path}` }),
      ],
      env: agentEnvironment(home),
    });
    settleDisk();
    const [value = NaN, floor = NaN] = await wallOfEach([call("/large"), call("/small")]);
    const memory = await memoryAfterPages(`${server.url.origin}/large`);
    return [
      {
        name: "web_fetch of a page of 5 MB, to one of 1 KB, wall",
        value,
        floor,
        unit: "ms",
        bound: { of: "time", atMost: 700 },
      },
      {
        name: `memory after ${PAGES} such pages more, to that after ${PAGES_BEFORE}`,
        value: memory.after,
        floor: memory.before,
        unit: "MB",
        bound: { of: "ratio", atMost: 1.2 },
      },
    ];
  } finally {
    await server.stop(true);
  }
}

interface Call {
  readonly command: string[];
  readonly env: Record<string, string>;
}

/** As `compareWall()`, but that this process goes on meanwhile: it is the server. */
async function wallOfEach(calls: readonly Call[]): Promise<readonly number[]> {
  const times = calls.map((): number[] => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, { command, env }] of calls.entries()) {
      const began = performance.now();
      const child = Bun.spawn(command, { env, stdio: ["ignore", "ignore", "pipe"] });
      if ((await child.exited) !== 0) throw new Error(await new Response(child.stderr).text());
      if (round > 0) times[index]?.push(performance.now() - began);
    }
  }
  return times.map(median);
}

/** In this process, whose threads are those of the program. */
async function memoryAfterPages(url: string): Promise<{ before: number; after: number }> {
  const { signal } = new AbortController();
  const workers = createWorkers({ clock: systemClock });
  const guard = createGuardedFetch({
    lookUp: async () => ["127.0.0.1"],
    send: createSender({ fetch }),
    clock: systemClock,
    whitelist: parseWhitelist(["127.0.0.1/32"]),
  });

  async function read(pages: number): Promise<number> {
    for (let page = 0; page < pages; page++) {
      const response = await guard.fetch(url, { maxBytes: PAGE_BYTES, timeoutMs: 30_000, signal });
      if (!response.ok) throw new Error(response.reason);
      const options = { mode: "markdown", maxChars: 50_000, ports: { workers }, signal } as const;
      const content = await readResponse(response, options);
      if (!content.ok) throw new Error(content.reason);
    }
    Bun.gc(true);
    return process.memoryUsage.rss() / 2 ** 20;
  }

  const before = await read(PAGES_BEFORE);
  return { before, after: await read(PAGES) };
}
