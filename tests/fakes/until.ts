/** Waits for what happens beyond the reach of a fake clock, such as an answer over loopback. */

const PATIENCE_MS = 5_000;

/** Resolves as soon as `condition` holds, however often the event loop turns until then. Rejects when it takes seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`It never came about: ${condition}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
