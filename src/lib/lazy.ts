/** Builds a thing once, when it is first asked for. */

/** The same promise for everybody. A build that failed is tried again by the next who asks. */
export function lazy<T>(build: () => Promise<T>): () => Promise<T> {
  let built: Promise<T> | undefined;
  return () => {
    if (built === undefined) {
      const attempt = build();
      built = attempt;
      attempt.catch(() => {
        built = undefined;
      });
    }
    return built;
  };
}
