/** File name patterns of the shell, as wide as any setting of the shell can make them. */

/** `[…]` with what may stand in it: a bracket at the beginning, classes of characters. */
const BRACKET = /\[[!^]?\]?(?:\[[:.=].*?[:.=]\]|[^\]])*\]/g;

export function isPattern(segment: string): boolean {
  return /[*?]/.test(segment) || segment.search(BRACKET) >= 0;
}

/** The folder in which a pattern begins, and what follows it. */
export function splitPattern(text: string): { folder: string; pattern: readonly string[] } {
  const segments = text.split("/");
  const at = segments.findIndex(isPattern);
  if (at < 0) return { folder: text, pattern: [] };
  return {
    folder: segments.slice(0, at).join("/") || (text.startsWith("/") ? "/" : "."),
    pattern: segments.slice(at),
  };
}

/** `dotted`: names that begin with a dot are matched like all others. */
export function segmentMatches(segment: string, name: string, dotted: boolean): boolean {
  if (!dotted && name.startsWith(".") && /^[*?]/.test(segment)) return false;
  // A class matches any character here: to be too wide is the safe side.
  const source = segment
    .replace(BRACKET, "?")
    .replace(/[.+^${}()|\\[\]]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "isu").test(name);
}
