/** A time as it stands in the names of files that are kept beside others. */

/** As in `20261130T090000000Z`, which sorts by time. `ms` since the epoch. */
export function fileStamp(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:.]/g, "");
}
