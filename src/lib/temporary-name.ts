/** The names of files that are written in the place of others: a kill in the middle of that leaves them behind. */

const TEMPORARY = /^\.nanobot-\d+-[0-9a-f-]+\.tmp$/;

export function isTemporaryName(name: string): boolean {
  return TEMPORARY.test(name);
}
