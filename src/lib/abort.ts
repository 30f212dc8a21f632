/** The abort idiom, written once. */

/**
 * Waits for `promise`, and stops waiting when `signal` aborts: then it rejects with the signal's reason.
 * The promise's own work is not stopped by that, so give it the signal too where it takes one.
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

/** For what must not be cut short: a signal that never aborts. */
export const never: AbortSignal = new AbortController().signal;
