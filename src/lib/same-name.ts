/** Names that people spell in several ways: `open-router`, `open_router` and `openRouter` are one. */

/** Without case and separators; a name of separators alone stays what it is. */
function canonical(name: string): string {
  const lower = name.toLowerCase();
  return lower.replace(/[^\p{L}\p{N}]/gu, "") || lower;
}

export function isSameName(one: string, other: string): boolean {
  return canonical(one) === canonical(other);
}

/** The one of `names` that is `name` itself, or else another spelling of it. */
export function findSameName(name: string, names: Iterable<string>): string | undefined {
  const wanted = canonical(name);
  let other: string | undefined;
  for (const candidate of names) {
    if (candidate === name) return candidate;
    if (canonical(candidate) === wanted) other ??= candidate;
  }
  return other;
}
