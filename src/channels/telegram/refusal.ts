/** What the Bot API says when it does not do something, and what is to be done about it. */

import { SendError } from "../../core/channel.ts";
import { oneLine } from "../../lib/text.ts";

interface RefusalFields {
  readonly code: number;
  readonly description: string;
  readonly retryAfterMs: number;
  readonly movedTo: number | undefined;
}

/** The Bot API answered, and the answer is no. */
export class Refusal extends SendError {
  readonly code: number;
  readonly description: string;
  /** The chat goes on under this id. */
  readonly movedTo: number | undefined;

  constructor({ code, description, retryAfterMs, movedTo }: RefusalFields) {
    const kind = kindOf(code, description);
    super(kind, kind === "unauthorized" ? WRONG_TOKEN : `Telegram says: ${oneLine(description, 200)}`, {
      retryAfterMs,
    });
    this.code = code;
    this.description = description;
    this.movedTo = movedTo;
  }
}

const WRONG_TOKEN =
  'Telegram does not know the token of the bot; set "channels.telegram.token" to the one that @BotFather shows';

const MARKUP = /can't parse entities|\bENTIT(?:Y|IES)_|text is empty|text must be non-empty/i;
const GONE =
  /message to (be )?(edit|edited|reply|replied|react) not found|message can't be edited|MESSAGE_ID_INVALID/i;

function kindOf(code: number, description: string): SendError["kind"] {
  // A token that was never one is answered as an address that does not exist.
  if (code === 401 || (code === 404 && description === "Not Found")) return "unauthorized";
  if (code === 429) return "slowDown";
  if (code >= 500) return "down";
  if (code === 409) return "temporary";
  if (MARKUP.test(description)) return "markup";
  return GONE.test(description) ? "gone" : "refused";
}

/** Whether `error` is a refusal in words like these. */
export function isRefusal(error: unknown, words: RegExp): error is Refusal {
  return error instanceof Refusal && words.test(error.description);
}
