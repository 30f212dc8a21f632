/** Tells a sandbox that could not be made from a command that failed in it. */

import { UserError } from "../../core/errors.ts";
import type { ProcessOutput } from "../../core/platform.ts";

/** Throws a `UserError` when the program that `file` starts was never reached. `output` is all that was said. */
export function refuseFailedSandbox(
  file: string,
  { exitCode, stdout, stderr }: ProcessOutput & { readonly exitCode: number | null },
): void {
  // Bubblewrap itself fails before anything else is said, and with a line of its own.
  if (!file.endsWith("/bwrap") || exitCode !== 1 || stdout.head !== "") return;
  const problem = /^bwrap: (.*)/.exec(stderr.head)?.[1];
  if (problem === undefined) return;
  throw new UserError(`The command did not run, because its sandbox could not be made: ${problem}`, {
    hint: "This is not the command's fault. The owner can see more with nanobot status",
  });
}
