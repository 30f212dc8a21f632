/** The files of a gateway: one process at a time has them, and only through the journal. */

import type { DurableBus } from "../../core/bus.ts";
import { UserError } from "../../core/errors.ts";
import type { Log, Platform } from "../../core/platform.ts";
import { join } from "../../lib/path.ts";
import type { Settings } from "../settings.ts";

interface HoldParts {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Log;
}

/** Works on the journal of the workspace. Throws a `UserError` when a gateway has it. */
export async function withJournal<T>(
  { platform, settings, log }: HoldParts,
  doing: string,
  work: (bus: DurableBus) => Promise<T>,
): Promise<T> {
  const { files, locks, clock } = platform;
  const { workspace } = await settings.paths();
  const lock = await locks.tryAcquire(`gateway:${workspace}`);
  if (lock === undefined) {
    throw new UserError(`Cannot ${doing}: a gateway runs for the workspace "${workspace}" already`, {
      exitCode: 1,
    });
  }
  try {
    const { createJournalBus } = await import("../../bus/journal/journal-bus.ts");
    const bus = await createJournalBus({ files, clock, log, folder: join(workspace, ".nanobot") });
    try {
      return await work(bus);
    } finally {
      await bus.close();
    }
  } finally {
    await lock.release();
  }
}
