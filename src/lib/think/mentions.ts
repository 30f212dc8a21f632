/** Whether a tag in the middle of a line is meant, or only talked about. */

/** What follows a tag that is named in a sentence. */
const AFTER_MENTION = /^[\s.,;:!?)\]}'"’”»…*_|/\\\-–—>&+。，、；：！？）」』】》]/;
const NOT_A_WORD = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
const CONNECTOR =
  /^(?:and|or|to|through|thru|until|till|with|plus|vs|versus|then|und|oder|bis|et|ou|y|o|e|和|与|與|或|到|至)(?:\s+(?:an?|the|its|closing|matching|ending|final|end))*$/i;

/** A pair of tags with no more than that between them may be a mention of both. */
export const LONGEST_CONNECTOR = 32;

/** Whether what follows an opener lets it be a mention. */
export function followsMention(text: string): boolean {
  return AFTER_MENTION.test(text);
}

/** Whether what stands between an opener and its closer only joins the names of the two in a sentence. */
export function isConnector(inside: string): boolean {
  const trimmed = inside.trim();
  if (trimmed === "" || inside.length > LONGEST_CONNECTOR) return false;
  const words = trimmed.replace(NOT_A_WORD, "");
  return words === "" || CONNECTOR.test(words);
}
