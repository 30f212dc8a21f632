/** Names to addresses, as this machine resolves them. */

import { lookup } from "node:dns/promises";

/** What the system's own programs would connect to: the hosts file counts. */
export async function lookUp(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
}
