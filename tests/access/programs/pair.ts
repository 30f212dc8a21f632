/** Asks for codes for `NAME 0`, `NAME 1`, … and approves each, on a channel of its own, and prints what its log says. */

import process from "node:process";
import { createPairing } from "../../../src/access/pairing.ts";
import type { Log } from "../../../src/core/platform.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createFileSystem } from "../../../src/platform/files.ts";
import { createLocks } from "../../../src/platform/locks.ts";

const [workspace = "", name = "", count = ""] = process.argv.slice(2);

const say = (message: string, properties: unknown) => console.log(message, properties);
const log: Log = { debug: say, info: say, warn: say, error: say };

const pairing = createPairing({
  files: createFileSystem(),
  locks: createLocks({ os: process.platform, folder: workspace }),
  clock: systemClock,
  log,
  workspace,
});

for (let number = 0; number < Number(count); number++) {
  const channel = `${name} ${number}`;
  const pending = await pairing.request(channel, { senderId: channel, chatId: channel });
  if (pending === undefined) console.log("no code");
  else if ((await pairing.approve(pending.code)) === undefined) console.log("not approved");
}
