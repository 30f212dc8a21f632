import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ExecSessionStart, WaitOptions } from "../../src/core/exec-sessions.ts";
import type { RealPath } from "../../src/core/tool.ts";
import { createExecSessions } from "../../src/shell/exec-sessions.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakePrograms, type FakeProgramsOptions } from "../fakes/programs.ts";

const never = new AbortController().signal;
const HALF_HOUR_MS = 1_800_000;
const now: WaitOptions = { waitMs: 0, signal: never };
const text = (head: string) => ({ head, tail: "", omittedBytes: 0 });

function fixture({ file = "/bin/sh", ...options }: FakeProgramsOptions & { file?: string } = {}) {
  const clock = createFakeClock();
  const programs = createFakePrograms(options);
  let count = 0;
  const sessions = createExecSessions({
    processes: programs,
    clock,
    ids: { next: () => `s${++count}` },
    spec: async ({ command, cwd, timeoutSeconds }) => ({
      file,
      args: ["-c", command],
      cwd,
      env: {},
      timeoutMs: timeoutSeconds * 1000,
      keepBytes: 1000,
    }),
  });
  const begin = (start: Partial<ExecSessionStart> = {}, wait: Partial<WaitOptions> = {}) =>
    sessions.start(
      {
        command: "server",
        cwd: "/ws" as RealPath,
        cwdShown: ".",
        timeoutSeconds: 0,
        owner: "cli:a",
        ...start,
      },
      { waitMs: 1000, signal: never, ...wait },
    );
  return {
    clock,
    programs,
    sessions,
    begin,
    /** Starts one and waits its second out. */
    async run(start: Partial<ExecSessionStart> = {}): Promise<string> {
      const before = clock.pending;
      const started = begin(start);
      // Its idle time and its wait.
      await clock.whenPending(before + 2);
      await clock.advance(1000);
      return (await started).id;
    },
    async readNow(id: string, owner = "cli:a") {
      const reading = sessions.read(id, owner, now);
      await clock.advance(0);
      return reading;
    },
  };
}

describe("start()", () => {
  test("tells the end of a command that ends in time, and forgets it", async () => {
    const { programs, sessions, clock, begin } = fixture();
    const started = begin({ timeoutSeconds: 7 });
    await clock.whenPending(2);
    programs.last().say("out");
    programs.last().say("err", "stderr");
    programs.last().exit(3);
    expect(await started).toEqual({
      id: "s1",
      report: {
        stdout: text("out"),
        stderr: text("err"),
        seen: false,
        ended: { exitCode: 3, signal: null, ended: undefined },
      },
    });
    expect(programs.last().spec.timeoutMs).toBe(7000);
    expect(sessions.list("cli:a")).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("tells what was said by then of one that goes on", async () => {
    const { programs, clock, begin, readNow } = fixture();
    const started = begin();
    await clock.whenPending(2);
    programs.last().say("first");
    await clock.advance(1000);
    expect(await started).toEqual({
      id: "s1",
      report: { stdout: text("first"), stderr: text(""), seen: false },
    });
    programs.last().say("second");
    expect(await readNow("s1")).toMatchObject({ stdout: text("second") });
    expect(await readNow("s1")).toMatchObject({ stdout: text("") });
  });

  test("refuses a ninth, whoever owns the others, until one has ended", async () => {
    const { programs, sessions, run, begin } = fixture();
    for (let n = 0; n < 8; n++) await run({ owner: `cli:${n}` });
    await expect(begin()).rejects.toThrow("8 run already");
    expect(programs.all).toHaveLength(8);
    await sessions.end("s1", "cli:0");
    await run();
  });

  test("refuses a ninth also while the others are being started", async () => {
    const { programs, begin, clock } = fixture();
    const starts = Array.from({ length: 9 }, () => begin());
    await expect(starts[8]).rejects.toThrow("8 run already");
    await clock.whenPending(16);
    expect(programs.all).toHaveLength(8);
    await clock.advance(1000);
    await Promise.all(starts.slice(0, 8));
  });

  test("ends and forgets a command whose caller stops waiting", async () => {
    const { programs, sessions, clock, begin } = fixture();
    const abort = new AbortController();
    const started = begin({}, { signal: abort.signal });
    await clock.whenPending(2);
    abort.abort(new Error("stop"));
    await expect(started).rejects.toThrow("stop");
    expect(await programs.last().exited).toMatchObject({ ended: "aborted" });
    expect(sessions.list("cli:a")).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("says that it was the sandbox when that could not be made, also when that turns out later", async () => {
    const { programs, sessions, clock, begin, run } = fixture({ file: "/usr/bin/bwrap" });
    const fail = () => {
      programs.last().say("bwrap: Can't mount proc\n", "stderr");
      programs.last().exit(1);
    };
    const started = begin();
    await clock.whenPending(2);
    fail();
    await expect(started).rejects.toThrow("its sandbox could not be made: Can't mount proc");
    const id = await run();
    fail();
    await expect(sessions.read(id, "cli:a", now)).rejects.toThrow("its sandbox could not be made");
    expect(sessions.list("cli:a")).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("takes a command's own end in a sandbox for what it is", async () => {
    const { programs, run, readNow } = fixture({ file: "/usr/bin/bwrap" });
    const id = await run();
    programs.last().say("ready");
    await readNow(id);
    programs.last().say("bwrap: a word of the command\n", "stderr");
    programs.last().exit(1);
    expect(await readNow(id)).toMatchObject({ ended: { exitCode: 1 } });
  });

  test("starts nothing for a caller that has stopped", async () => {
    const { programs, begin } = fixture();
    await expect(begin({}, { signal: AbortSignal.abort(new Error("stop")) })).rejects.toThrow("stop");
    expect(programs.all).toEqual([]);
  });
});

describe("read()", () => {
  test("waits no longer than it was told, and tells at once of an end", async () => {
    const { programs, sessions, clock, run } = fixture();
    const id = await run();
    let isDone = false;
    const reading = sessions.read(id, "cli:a", { waitMs: 5000, signal: never }).then((report) => {
      isDone = true;
      return report;
    });
    await clock.advance(4999);
    expect(isDone).toBe(false);
    programs.last().exit(0);
    expect(await reading).toMatchObject({ ended: { exitCode: 0 } });
    expect(sessions.list("cli:a")).toEqual([]);
  });

  test("returns as soon as the text it waits for is there, in whatever pieces it comes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "grapheme", minLength: 1 }),
        fc.string({ unit: "grapheme" }),
        fc.string({ unit: "grapheme" }),
        fc.array(fc.nat(), { maxLength: 5 }),
        async (wanted, before, after, cuts) => {
          const { programs, sessions, clock, run } = fixture();
          const id = await run();
          const whole = before + wanted + after;
          const places = [0, ...cuts.map((place) => place % whole.length), whole.length].sort(
            (a, b) => a - b,
          );
          const pieces = places.slice(1).map((end, index) => whole.slice(places[index], end));
          programs.last().say(pieces[0] ?? "");
          const reading = sessions.read(id, "cli:a", { waitMs: 5000, until: wanted, signal: never });
          for (const piece of pieces.slice(1)) programs.last().say(piece);
          await clock.advance(0);
          expect(await reading).toMatchObject({ seen: true });
        },
      ),
    );
  });

  test("looks for the text in one stream at a time", async () => {
    const { programs, sessions, clock, run } = fixture();
    const id = await run();
    const reading = sessions.read(id, "cli:a", { waitMs: 5000, until: "ready", signal: never });
    programs.last().say("rea");
    programs.last().say("dy", "stderr");
    await clock.advance(5000);
    expect(await reading).toMatchObject({ seen: false });
  });

  test("looks for no text that was told before", async () => {
    const { programs, sessions, clock, run, readNow } = fixture();
    const id = await run();
    programs.last().say("ready");
    await readNow(id);
    const reading = sessions.read(id, "cli:a", { waitMs: 5000, until: "ready", signal: never });
    await clock.advance(5000);
    expect(await reading).toMatchObject({ seen: false });
  });

  test("rejects when aborted, and the session goes on", async () => {
    const { sessions, run } = fixture();
    const id = await run();
    const abort = new AbortController();
    const reading = sessions.read(id, "cli:a", { waitMs: 5000, signal: abort.signal });
    abort.abort(new Error("stop"));
    await expect(reading).rejects.toThrow("stop");
    expect(sessions.list("cli:a")).toMatchObject([{ id, running: true }]);
  });

  test("knows an end until it was told", async () => {
    const { programs, sessions, run, readNow } = fixture();
    const id = await run();
    programs.last().say("bye");
    programs.last().exit(1);
    await programs.last().exited;
    expect(sessions.list("cli:a")).toMatchObject([{ id, running: false }]);
    expect(await readNow(id)).toMatchObject({ stdout: text("bye"), ended: { exitCode: 1 } });
    expect(await readNow(id)).toBeUndefined();
  });

  test("remembers the ends of at most 16", async () => {
    const { programs, sessions, run } = fixture();
    for (let n = 0; n < 20; n++) {
      await run();
      programs.last().exit(0);
      await programs.last().exited;
    }
    expect(sessions.list("cli:a").map(({ id }) => id)).toEqual(
      Array.from({ length: 16 }, (_, n) => `s${n + 5}`),
    );
  });
});

test("nobody but its owner sees or reaches a session", async () => {
  const { programs, sessions, run } = fixture();
  const id = await run();
  expect(await sessions.read(id, "cli:b", now)).toBeUndefined();
  expect(sessions.input(id, "cli:b")).toBeUndefined();
  expect(await sessions.write(id, "cli:b", { text: "x" })).toBe(false);
  expect(await sessions.end(id, "cli:b")).toBe(false);
  expect(await sessions.endOf("cli:b")).toBe(0);
  expect(sessions.list("cli:b")).toEqual([]);
  expect(programs.last().written).toEqual([]);
  expect(sessions.list("cli:a")).toMatchObject([{ id, running: true }]);
});

describe("write()", () => {
  test("gives the text, closes the input after it, and remembers what was written", async () => {
    const { programs, sessions, run } = fixture();
    const id = await run();
    expect(await sessions.write(id, "cli:a", { text: "a\n" })).toBe(true);
    expect(await sessions.write(id, "cli:a", { text: "b\n", close: true })).toBe(true);
    expect(programs.last().written).toEqual(["a\n", "b\n"]);
    expect(programs.last().isInputClosed).toBe(true);
    expect(sessions.input(id, "cli:a")?.written).toBe("a\nb\n");
    await expect(sessions.write(id, "cli:a", { text: "c\n" })).rejects.toThrow("its input is closed");
  });

  test("says so when the program does not read, or has ended", async () => {
    const { programs, sessions, run } = fixture({ onWrite: () => "full" });
    const id = await run();
    await expect(sessions.write(id, "cli:a", { text: "x" })).rejects.toThrow("does not read");
    expect(sessions.input(id, "cli:a")?.written).toBe("");
    programs.last().exit(0);
    await programs.last().exited;
    expect(sessions.input(id, "cli:a")).toBeUndefined();
    await expect(sessions.write(id, "cli:a", { text: "x" })).rejects.toThrow("it has ended");
  });

  test("remembers no more than 64 KiB of what was written", async () => {
    const { sessions, run } = fixture();
    const id = await run();
    await sessions.write(id, "cli:a", { text: "x".repeat(65_536) });
    expect(sessions.input(id, "cli:a")?.written).toHaveLength(65_536);
    await sessions.write(id, "cli:a", { text: "y" });
    await sessions.write(id, "cli:a", { text: "z" });
    expect(sessions.input(id, "cli:a")).toMatchObject({ command: "server", written: undefined });
  });
});

describe("end()", () => {
  test("ends it, and its end is there to be told", async () => {
    const { sessions, run, readNow } = fixture();
    const id = await run();
    expect(await sessions.end(id, "cli:a")).toBe(true);
    expect(await readNow(id)).toMatchObject({ ended: { exitCode: null, ended: "aborted" } });
  });
});

describe("endOf()", () => {
  test("ends and forgets all of one owner, and counts those that ran", async () => {
    const { programs, sessions, run, clock } = fixture();
    await run();
    await run();
    programs.last().exit(0);
    await run();
    await run({ owner: "cli:b" });
    expect(await sessions.endOf("cli:a")).toBe(2);
    expect(sessions.list("cli:a")).toEqual([]);
    expect(sessions.list("cli:b")).toMatchObject([{ running: true }]);
    expect(await programs.all[0]?.exited).toMatchObject({ ended: "aborted" });
    expect(clock.pending).toBe(1);
  });
});

describe("an idle session", () => {
  test("is ended after half an hour, and its owner is told why", async () => {
    const { programs, clock, run, readNow } = fixture();
    const id = await run();
    await clock.advance(HALF_HOUR_MS - 1);
    expect(await Promise.race([programs.last().exited, "running"])).toBe("running");
    await clock.advance(1);
    expect(await programs.last().exited).toMatchObject({ ended: "aborted" });
    expect(await readNow(id)).toMatchObject({ ended: { ended: "idle" } });
  });

  test("is one that is neither read nor written: being listed does not keep it", async () => {
    const { programs, sessions, clock, run, readNow } = fixture();
    const id = await run();
    await clock.advance(HALF_HOUR_MS - 1);
    await readNow(id);
    await clock.advance(HALF_HOUR_MS - 1);
    await sessions.write(id, "cli:a", { text: "x" });
    await clock.advance(HALF_HOUR_MS - 1);
    expect(sessions.list("cli:a")).toMatchObject([{ running: true, idleMs: HALF_HOUR_MS - 1 }]);
    await clock.advance(1);
    expect(await programs.last().exited).toMatchObject({ ended: "aborted" });
  });

  test("is forgotten half an hour after its end", async () => {
    const { sessions, clock, run } = fixture();
    await run();
    await clock.advance(HALF_HOUR_MS);
    expect(sessions.list("cli:a")).toHaveLength(1);
    await clock.advance(HALF_HOUR_MS);
    expect(sessions.list("cli:a")).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

test("list() tells times and what is left", async () => {
  const { sessions, clock, run, readNow } = fixture();
  const id = await run({ timeoutSeconds: 60, command: "npm run dev", cwdShown: "web" });
  await clock.advance(4000);
  await readNow(id);
  await clock.advance(2000);
  expect(sessions.list("cli:a")).toEqual([
    {
      id,
      command: "npm run dev",
      cwdShown: "web",
      running: true,
      elapsedMs: 7000,
      idleMs: 2000,
      remainingMs: 53_000,
    },
  ]);
  await run();
  expect(sessions.list("cli:a")[1]?.remainingMs).toBeUndefined();
});
