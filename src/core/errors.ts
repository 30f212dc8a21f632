/** Errors, classed by who must act. Everything that is none of these is a bug in this program. */

/**
 * The person at the keyboard must change something: a flag, a config value, a file.
 * Printed without a stack, exit code 2. The message says what failed, the hint what to do about it.
 */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly hint: string | undefined;

  constructor(message: string, { hint, cause }: { hint?: string; cause?: unknown } = {}) {
    super(message, { cause });
    this.hint = hint;
  }
}

/** A reason to abort that is a decision and not a failure: the owner said stop, or the program ends. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly by: "user" | "shutdown";

  constructor(by: "user" | "shutdown") {
    super(by === "user" ? "stopped by the user" : "nanobot is shutting down");
    this.by = by;
  }
}
