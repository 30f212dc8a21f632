/** Whether a reply to the heartbeat says that there is nothing to tell. */

import { tail } from "../lib/text.ts";
import { folded } from "./heartbeat-lines.ts";

/** Before anything is folded or searched: a reply can be a megabyte. */
const LOOKED_AT = 600;
const TAG = /<\/?[a-z][^<>]{0,100}>/g;
/** With marks and spaces between its words, as far as markup puts them there. */
const TOKEN = /(?<![\p{L}\p{N}])heartbeat[\s*`~]*_[\s*`~_]*ok$/u;
/** Said as words, they are a sentence of their own: a message can end in them that is about some other heartbeat. */
const SENTENCE = /(?:^|[\n.!?。])[^\p{L}\p{N}]*heartbeat[^\p{L}\p{N}\n]{0,4}ok$/u;

/** Also one in which nothing is said at all. */
export function isSilent(reply: string): boolean {
  const end = folded(tail(reply, LOOKED_AT))
    .replace(TAG, "")
    .replaceAll("\\", "")
    .replace(/[^\p{L}\p{N}\p{Extended_Pictographic}]+$/u, "");
  if (end === "") return reply.length <= LOOKED_AT;
  const words = end.replace(/[^\p{L}\p{N}]+$/u, "");
  return TOKEN.test(words) || SENTENCE.test(words);
}
