/** Names of programs, options and the like, as they are best read: in a row. */

export function names(...rows: readonly string[]): ReadonlySet<string> {
  return new Set(rows.flatMap((row) => row.split(" ")));
}
