/** What the terminal channel is told: mostly the flags of `nanobot agent`. */

import * as v from "valibot";
import { isAbsolute } from "../../lib/path.ts";

const media = v.strictObject({
  path: v.pipe(v.string(), v.check(isAbsolute, "must be an absolute path")),
  mime: v.string(),
  name: v.exactOptional(v.string()),
});

export const config = v.strictObject({
  /** The session's key. */
  session: v.optional(v.pipe(v.string(), v.nonEmpty()), "cli:direct"),
  /** Asks this, shows the answer, ends. Without it the channel chats. */
  message: v.optional(v.string()),
  /** Goes with the message, or with the first one of a chat. */
  media: v.optional(v.array(media), []),
  /** One JSON object on stdout in place of the answer. */
  json: v.optional(v.boolean(), false),
  markdown: v.optional(v.boolean(), true),
  /** False where the user set `NO_COLOR`. Streams that are no terminals never get colour. */
  color: v.optional(v.boolean(), true),
  historyFile: v.optional(v.pipe(v.string(), v.check(isAbsolute, "must be an absolute path"))),
  /** Names the model in the greeting. */
  modelLabel: v.optional(v.string()),
  /** A line for stderr at the start. */
  notice: v.optional(v.string()),
});

export type CliConfig = v.InferOutput<typeof config>;
