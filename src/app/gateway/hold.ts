/** The files of a gateway: one process at a time has them, and only through the journal. */

import type { DurableBus } from "../../core/bus.ts";
import { UserError } from "../../core/errors.ts";
import type { Log, Platform } from "../../core/platform.ts";
import { join } from "../../lib/path.ts";
import type { Settings } from "../settings.ts";
import { sweepTemporaries } from "./sweep.ts";

interface HoldParts {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
}

/** Does `work` in the place of a gateway. Throws a `UserError` when there is one. */
export async function holding<T>(
  { platform, settings }: HoldParts,
  doing: string,
  work: () => Promise<T>,
): Promise<T> {
  const { workspace } = await settings.paths();
  const lock = await platform.locks.tryAcquire(`gateway:${workspace}`);
  if (lock === undefined) {
    throw new UserError(`Cannot ${doing}: a gateway runs for the workspace "${workspace}" already`, {
      exitCode: 1,
    });
  }
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** Only for whoever holds the place of the gateway. */
export async function withBus<T>(
  { platform, settings, log }: HoldParts,
  work: (bus: DurableBus) => Promise<T>,
): Promise<T> {
  const { createJournalBus } = await import("../../bus/journal/journal-bus.ts");
  const { files, clock } = platform;
  const { workspace } = await settings.paths();
  const folder = join(workspace, ".nanobot");
  await sweepTemporaries({ files, clock, log }, folder);
  const bus = await createJournalBus({ files, clock, log, folder });
  try {
    return await work(bus);
  } finally {
    await bus.close();
  }
}
