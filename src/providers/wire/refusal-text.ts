/** What a refusal says, as far as it can teach something. Refusals are long, and can say anything. */

/** Validators repeat the part of the request that they refuse. */
const TELLING_CHARS = 4_000;

/** The beginning, on one line, and without the empty fields that every refusal has. */
export function tellingPart(body: string): string {
  return body
    .slice(0, TELLING_CHARS)
    .replace(/"\w+"\s*:\s*null\b/g, "")
    .replace(/\s+/g, " ");
}

/** Too long, filtered, or with images: another form of the request is no help, and others know what to do. */
export const OTHER_REASON =
  /context[_ ](length|window)|maximum context|(prompt|input|request|messages?|conversation) (is|are) too long|too many tokens|reduce the length|content[_ ](filter|management|policy)|moderation|flagged|image_url|\bvision\b|multimodal|images? (input|content|is|are|not)\b|(support|accept|allow)\w* images?\b/i;

/** How vendors say that they know nothing of a parameter. */
export const UNSUPPORTED =
  "not (be )?(support|allow|permit|accept|enabled)|n't (support|allow|accept)|unsupported|deprecated|unknown|unrecogni[sz]ed|extra_forbidden|extra inputs";

/** Whether `name` and `words` stand near each other, in any order: far apart, they have nothing to do with each other. */
export function near(name: string, words: string, chars = 120): RegExp {
  return new RegExp(`(${name}).{0,${chars}}(${words})|(${words}).{0,${chars}}(${name})`, "i");
}
