/** Errors, classed by who must act. Everything that is none of these is a bug in this program. */

/**
 * The person at the keyboard must change something: a flag, a config value, a file.
 * Printed without a stack. The message says what failed, the hint what to do about it. The program exits
 * with 2 when it was used or configured wrongly, which is the rule, and with 1 when the machine failed it.
 */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly hint: string | undefined;
  readonly exitCode: 1 | 2;
  /** Nothing failed: a rule forbids what was asked for. */
  readonly isRefusal: boolean;

  constructor(
    message: string,
    {
      hint,
      cause,
      exitCode = 2,
      isRefusal = false,
    }: { hint?: string; cause?: unknown; exitCode?: 1 | 2; isRefusal?: boolean } = {},
  ) {
    super(message, { cause });
    this.hint = hint;
    this.exitCode = exitCode;
    this.isRefusal = isRefusal;
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
