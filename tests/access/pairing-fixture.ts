/** A pairing store whose time stands still, and somebody who asks it for codes. */

import { createPairing, type PairingOptions } from "../../src/access/pairing.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";
import { countingBytes, readState, realFiles, realLocks } from "./fixture.ts";

export const MINUTE = 60_000;

export function setUp(options: Partial<PairingOptions> = {}) {
  const workspace = options.workspace ?? tempFolder();
  const clock = createFakeClock();
  const log = createFakeLog();
  const pairing = createPairing({
    files: realFiles,
    locks: realLocks(workspace),
    clock,
    log,
    randomBytes: countingBytes(),
    ...options,
    workspace,
  });
  const ask = (senderId: string, channel = "telegram", displayName?: string) =>
    pairing.request(channel, {
      senderId,
      chatId: `chat of ${senderId}`,
      ...(displayName === undefined ? {} : { displayName }),
    });
  const codeOf = async (senderId: string, channel = "telegram") => (await ask(senderId, channel))?.code ?? "";
  const text = () => readState(workspace, "pairing.json");
  const file = () => JSON.parse(text());
  return { workspace, clock, log, pairing, ask, codeOf, text, file };
}
