import { describe, expect, test } from "bun:test";
import { systemClock } from "../../src/platform/clock.ts";

const never = new AbortController().signal;
const A_CENTURY_MS = 100 * 365 * 24 * 3600 * 1000;

function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "none",
    (reason: unknown) => reason,
  );
}

describe("sleep()", () => {
  test("takes at least as long as it should", async () => {
    const start = performance.now();
    await systemClock.sleep(15, never);
    expect(performance.now() - start).toBeGreaterThanOrEqual(15);
  });

  test("rejects with the reason when aborted before and while it sleeps", async () => {
    expect(await failure(systemClock.sleep(0, AbortSignal.abort("before")))).toBe("before");
    const abort = new AbortController();
    const sleeping = failure(systemClock.sleep(A_CENTURY_MS, abort.signal));
    abort.abort("while");
    expect(await sleeping).toBe("while");
  });

  test("sleeps longer than a timer can be, instead of not at all", async () => {
    const abort = new AbortController();
    const sleeping = failure(systemClock.sleep(A_CENTURY_MS, abort.signal));
    await systemClock.sleep(5, never);
    abort.abort("still asleep");
    expect(await sleeping).toBe("still asleep");
  });

  test("leaves no listener on the signal", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners++;
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners--;
      removeEventListener.apply(signal, args);
    };
    await systemClock.sleep(1, signal);
    expect(listeners).toBe(0);
  });
});

describe("after()", () => {
  test("calls the task once, and not before its time", async () => {
    const start = performance.now();
    const called = Promise.withResolvers<number>();
    systemClock.after(10, () => called.resolve(performance.now()));
    expect((await called.promise) - start).toBeGreaterThanOrEqual(10);
  });

  test("does not call a task that was called off", async () => {
    let calls = 0;
    const cancel = systemClock.after(1, () => calls++);
    const far = systemClock.after(A_CENTURY_MS, () => calls++);
    cancel();
    await systemClock.sleep(10, never);
    expect(calls).toBe(0);
    far();
  });

  test("keeps no process alive", () => {
    const source = `${import.meta.dir}/../../src/platform/clock.ts`;
    const script = `(await import(${JSON.stringify(source)})).systemClock.after(1e9, () => {}); console.log("end");`;
    const { stdout, exitCode } = Bun.spawnSync([process.execPath, "-e", script]);
    expect([stdout.toString(), exitCode]).toEqual(["end\n", 0]);
  });
});

test("giveWay() lets what else waits in the event loop run first", async () => {
  const order: string[] = [];
  setImmediate(() => order.push("others"));
  await systemClock.giveWay();
  order.push("we");
  expect(order).toEqual(["others", "we"]);
});
