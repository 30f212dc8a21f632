import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Clock } from "../src/core/platform.ts";
import { never } from "../src/lib/abort.ts";
import { transferable } from "../src/lib/worker-protocol.ts";
import { systemClock } from "../src/platform/clock.ts";
import { createWorkers } from "../src/workers.ts";
import { createFakeClock } from "./fakes/clock.ts";
import { makeDocx, makePdf, paragraph } from "./fakes/documents.ts";

const programs = join(import.meta.dir, "platform/programs");

function createWayward(clock: Pick<Clock, "after"> = systemClock) {
  const workers = createWorkers({ clock, entry: new URL(`file://${programs}/wayward-worker.ts`) });
  return {
    workers,
    go: (way: string, { html = "", signal = never }: { html?: string; signal?: AbortSignal } = {}) =>
      workers.run("html", { html, url: way, mode: "text", maxChars: 100 }, { timeoutMs: 30_000, signal }),
  };
}

test("run() gives what the thread made", async () => {
  const { go } = createWayward();
  expect(await go("echo", { html: "a page" })).toEqual({
    ok: true,
    output: { title: "", text: "a page", extractor: "html", truncated: false },
  });
});

test("run() starts threads without this process's environment", async () => {
  process.env["NANOBOT_TEST_SECRET"] = "s3cret";
  try {
    const { go } = createWayward();
    expect(await go("environment")).toMatchObject({ ok: true, output: { text: "{}" } });
  } finally {
    delete process.env["NANOBOT_TEST_SECRET"];
  }
});

test.each([
  { way: "throw", reason: "the thread that read it died (Error: it came apart)" },
  { way: "reject", reason: "the thread that read it died (Error: nobody looked)" },
  { way: "exit", reason: "the thread that read it died (it exited with 7)" },
])("run() says in its outcome how a thread died: $way", async ({ way, reason }) => {
  const { go } = createWayward();
  expect(await go(way)).toEqual({ ok: false, reason });
});

test("run() gives a thread up that loops when its time is over", async () => {
  const clock = createFakeClock();
  const { go } = createWayward(clock);
  const outcome = go("loop");
  await clock.whenPending(1);
  await clock.advance(30_000);
  expect(await outcome).toEqual({ ok: false, reason: "reading it took longer than 30 s" });
  expect(clock.pending).toBe(0);
});

test("run() gives a thread up that takes too much memory", async () => {
  const clock = createFakeClock();
  let bytes = 100e6;
  const workers = createWorkers({
    clock,
    memory: () => bytes,
    entry: new URL(`file://${programs}/wayward-worker.ts`),
  });
  const input = { html: "", url: "loop", mode: "text", maxChars: 100 } as const;
  const outcome = workers.run("html", input, { timeoutMs: 30_000, signal: never });
  await clock.whenPending(2);
  await clock.advance(1_000);
  bytes += 600e6;
  await clock.advance(100);
  expect(await outcome).toEqual({ ok: false, reason: "reading it took more than 512 MiB of memory" });
  expect(clock.pending).toBe(0);
});

test("run() leaves no thread behind that would keep the process alive", async () => {
  const child = Bun.spawn([process.execPath, join(programs, "give-up-on-loop.ts")], { stderr: "inherit" });
  expect(await child.exited).toBe(0);
  expect(await new Response(child.stdout).text()).toBe(
    '{"ok":false,"reason":"reading it took longer than 1 s"}\n',
  );
});

test("run() rejects with the reason of the abort, also while the thread loops", async () => {
  const clock = createFakeClock();
  const { go } = createWayward(clock);
  const abort = new AbortController();
  const outcome = go("loop", { signal: abort.signal });
  await clock.whenPending(1);
  abort.abort(new Error("enough"));
  await expect(outcome).rejects.toThrow("enough");
  expect(clock.pending).toBe(0);
});

test("run() starts no thread for what is aborted already", async () => {
  const clock = createFakeClock();
  const { go } = createWayward(clock);
  await expect(go("echo", { signal: AbortSignal.abort(new Error("too late")) })).rejects.toThrow("too late");
  expect(clock.pending).toBe(0);
});

test("run() runs two threads at once, and the next when one is done", async () => {
  const clock = createFakeClock();
  const { go } = createWayward(clock);
  const abort = new AbortController();
  const first = go("silence", { signal: abort.signal });
  const second = go("silence");
  const third = go("echo", { html: "third" });
  // The time that each may take, and the next look at its memory.
  await clock.whenPending(4);
  await clock.advance(29_999);
  expect(clock.pending).toBe(4);
  abort.abort(new Error("make room"));
  await expect(first).rejects.toThrow("make room");
  expect(await third).toMatchObject({ ok: true, output: { text: "third" } });
  await clock.advance(1);
  expect((await second).ok).toBe(false);
});

test("run() lets a job that waits be aborted, and those behind it take their turn", async () => {
  const clock = createFakeClock();
  const { go } = createWayward(clock);
  const making = new AbortController();
  const held = [go("silence", { signal: making.signal }), go("silence", { signal: making.signal })];
  const abort = new AbortController();
  const waiting = go("echo", { signal: abort.signal });
  const last = go("echo", { html: "last" });
  abort.abort(new Error("no longer"));
  await expect(waiting).rejects.toThrow("no longer");
  await clock.whenPending(4);
  making.abort(new Error("make room"));
  await Promise.allSettled(held);
  expect(await last).toMatchObject({ ok: true, output: { text: "last" } });
});

test("endAll() ends the jobs that run, and those that wait never begin", async () => {
  const clock = createFakeClock();
  const { go, workers } = createWayward(clock);
  const outcomes = [go("loop"), go("loop"), go("echo", { html: "third" })];
  await clock.whenPending(4);
  workers.endAll();
  const ended = { ok: false, reason: "the program is ending", isEnding: true };
  expect(await Promise.all<object>(outcomes)).toEqual([ended, ended, ended]);
});

/** What a program of its own prints that does one job with a thread of ours. */
async function inOwnProcess(entry: string, job: string): Promise<readonly unknown[]> {
  const program = `
    import { createWorkers } from "${join(import.meta.dir, "../src/workers.ts")}";
    import { makeDocx, paragraph } from "${join(import.meta.dir, "fakes/documents.ts")}";
    const clock = { after: () => () => {} };
    const workers = createWorkers({ clock, entry: new URL("file://${join(programs, entry)}") });
    const { signal } = new AbortController();
    const outcome = await workers.run(${job}, { timeoutMs: 1, signal });
    console.log(outcome.ok ? outcome.output.text : outcome.reason);
  `;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe" });
  return Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
}

test("run() keeps what a thread prints from the terminal", async () => {
  const job = `"html", { html: "a page", url: "chatter", mode: "text", maxChars: 1 }`;
  expect(await inOwnProcess("wayward-worker.ts", job)).toEqual(["a page\n", "", 0]);
});

test("run() waits for the answer when a promise fails beside the job that nobody looks at", async () => {
  // In a process of its own, because the test runner lets no thread survive that.
  const job = `"office", { bytes: makeDocx(paragraph("text")), maxChars: 10 }`;
  expect(await inOwnProcess("careless-worker.ts", job)).toEqual(["text\n", "", 0]);
});

test("run() says what the document is wrong in", async () => {
  const workers = createWorkers({ clock: systemClock });
  const bytes = new TextEncoder().encode("%PDF-1.4 and nothing else");
  const input = { bytes, firstPage: 1, lastPage: 1, maxChars: 10 };
  expect(await workers.run("pdf", input, { timeoutMs: 60_000, signal: never })).toEqual({
    ok: false,
    reason: "it is damaged (Invalid PDF structure)",
  });
});

test("run() starts the program of each role", async () => {
  const workers = createWorkers({ clock: systemClock });
  const options = { timeoutMs: 60_000, signal: never };
  const [pdf, office] = await Promise.all([
    workers.run("pdf", { bytes: makePdf(["one"]), firstPage: 1, lastPage: 1, maxChars: 10 }, options),
    workers.run("office", { bytes: makeDocx(paragraph("two")), maxChars: 10 }, options),
  ]);
  expect(pdf).toEqual({ ok: true, output: { pages: ["one"], pageCount: 1, truncated: false } });
  expect(office).toEqual({ ok: true, output: { kind: "docx", text: "two", truncated: false } });
});

test("transferable() names only buffers that nothing else can have a view of", () => {
  const whole = new Uint8Array(4);
  const part = new Uint8Array(8).subarray(0, 4);
  const shared = new Uint8Array(new SharedArrayBuffer(4));
  expect(transferable({ whole, part, shared, text: "t", count: 1 })).toEqual([whole.buffer]);
});
