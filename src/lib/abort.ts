/** The abort idiom, written once. */

/**
 * Settles like `promise`, or rejects with the signal's reason if that comes first. The work behind the
 * promise goes on: use it for waiting, and pass the signal to the work as well.
 */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    // Nobody will look at it any more, and an unobserved rejection would end the process.
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
