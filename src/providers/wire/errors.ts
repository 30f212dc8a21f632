/** What can end a call to a model, by who is at fault. */

import type { ModelErrorKind } from "../../core/model.ts";
import { head } from "../../lib/text.ts";

/** Of a refusal's body no more is kept. */
export const MOST_REFUSAL = 64 * 1024;

/** What is none of these is a mistake in this program. */
export abstract class CallFailure extends Error {}

/** The server answered, and it was no. `body` is bounded. */
export class Refusal extends CallFailure {
  override readonly name = "Refusal";
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  readonly body: string;

  constructor({ status, headers, body }: { status?: number; headers?: Headers; body: string }) {
    super("the server refused the request");
    this.status = status;
    this.headers = headers;
    this.body = head(body, MOST_REFUSAL);
  }
}

/** The configuration makes no request: its address is none, or its key cannot stand in a header. Its cause says why. */
export class BadTarget extends CallFailure {
  override readonly name = "BadTarget";
}

/** No answer came at all. Its cause says why. */
export class Unreachable extends CallFailure {
  override readonly name = "Unreachable";
}

/** The connection broke while the answer was read. Its cause says why. */
export class BrokenOff extends CallFailure {
  override readonly name = "BrokenOff";
}

/** We gave up waiting. The message reads on from "The model at …". */
export class Expired extends CallFailure {
  override readonly name = "Expired";
}

/** The server's reply breaks the protocol or a bound. The message reads on from "The model at …". */
export class BadReply extends CallFailure {
  override readonly name = "BadReply";
  readonly kind: ModelErrorKind;

  constructor(message: string, { kind = "transient" }: { kind?: ModelErrorKind } = {}) {
    super(message);
    this.kind = kind;
  }
}
