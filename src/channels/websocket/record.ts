/** An answer as it lies on disk. */

import * as v from "valibot";
import { type FinalEvent, isChatId } from "./protocol.ts";

export interface FinalRecord {
  readonly chat: string;
  readonly event: FinalEvent;
}

const outcome = v.picklist([
  "answer",
  "error",
  "stopped",
  "command",
  "notice",
  "message",
] satisfies FinalEvent["outcome"][]);
const media = v.object({ name: v.string(), mime: v.string(), path: v.string() });
const button = v.object({ label: v.string(), send: v.string() });

export const finalRecord: v.GenericSchema<unknown, FinalRecord> = v.object({
  chat: v.pipe(v.string(), v.check(isChatId)),
  event: v.object({
    type: v.literal("final"),
    seq: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
    id: v.string(),
    turn: v.string(),
    at: v.pipe(
      v.string(),
      v.check((text) => !Number.isNaN(Date.parse(text))),
    ),
    outcome,
    content: v.string(),
    answers: v.array(v.string()),
    media: v.exactOptional(v.array(media)),
    buttons: v.exactOptional(v.array(v.array(button))),
  }),
});
