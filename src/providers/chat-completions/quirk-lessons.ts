/** What refusals teach about a server: quirks that nobody knew of beforehand. */

import { Buffer } from "node:buffer";
import { noQuirks, type Quirks } from "./quirks.ts";

interface Refused {
  readonly status: number | undefined;
  readonly body: string;
  /** What was known when the request was made. */
  readonly quirks: Quirks;
  /** The request as it is with other quirks. */
  readonly encode: (quirks: Quirks) => Uint8Array;
}

interface QuirkLearner {
  /** What is known so far. The same object as long as nothing is learnt. */
  readonly quirks: Quirks;
  /**
   * Whether what is known now makes the request another one than was refused, so that it is worth sending
   * again. Each lesson is learnt once, so this ends.
   */
  learn(refused: Refused): boolean;
}

export function createQuirkLearner(known: Partial<Quirks> = {}): QuirkLearner {
  let quirks: Quirks = { ...noQuirks, ...known };
  const learnt = new Set<string>();

  return {
    get quirks() {
      return quirks;
    },
    learn({ status, body, quirks: before, encode }) {
      if (status === undefined || !TEACHING.has(status)) return false;
      const text = tellingPart(body);
      if (OTHER_REASON.test(text)) return false;
      const refused = encode(before);
      const isOther = (candidate: Quirks) => Buffer.compare(encode(candidate), refused) !== 0;
      // Another call may have been refused and learnt from it in the meantime.
      if (quirks !== before && isOther(quirks)) return true;
      const lesson = lessons.find(
        ({ topic, says, unless, teaches }) =>
          !learnt.has(topic) && says.test(text) && !unless?.test(text) && isOther({ ...quirks, ...teaches }),
      );
      if (lesson === undefined) return false;
      learnt.add(lesson.topic);
      quirks = { ...quirks, ...lesson.teaches };
      return true;
    },
  };
}

/** OpenRouter says 404 when nobody who runs the model takes a parameter. */
const TEACHING: ReadonlySet<number> = new Set([400, 404, 422]);

/** Validators repeat the part of the request that they refuse, which can be long and say anything. */
const TELLING_CHARS = 4_000;

/** On one line, and without the empty fields that every refusal has. */
function tellingPart(body: string): string {
  return body
    .slice(0, TELLING_CHARS)
    .replace(/"\w+"\s*:\s*null\b/g, "")
    .replace(/\s+/g, " ");
}

/** Too long, filtered, or with images: another form of the request is no help, and others know what to do. */
const OTHER_REASON =
  /context[_ ](length|window)|maximum context|(prompt|input|request|messages?|conversation) (is|are) too long|too many tokens|reduce the length|content[ _](filter|management|policy)|moderation|flagged|image_url|\bvision\b|multimodal|images? (input|content|is|are|not)\b|(support|accept|allow)\w* images?\b/i;

/** `invalid_request_error` is the type of them all. */
const REFUSED =
  "not (be )?(support|allow|permit|accept|enabled)|n't (support|allow|accept)|unsupported|deprecated|unknown|unrecogni[sz]ed|extra_forbidden|extra inputs|unexpected|invalid\\b|\\bonly\\b|no endpoints";

/** Whether `name` and `words` stand near each other, in any order: far apart, they have nothing to do with each other. */
function near(name: string, words: string, chars = 120): RegExp {
  return new RegExp(`(${name}).{0,${chars}}(${words})|(${words}).{0,${chars}}(${name})`, "i");
}

const EMPTY_CONTENT = near(
  // Not `content-type`.
  "\\bcontent\\b(?!-)",
  "\\bnull\\b|\\bnil\\b|\\bnone\\b|empty|required|missing|whitespace|(be|expected|valid) (an? )?(valid )?string",
  80,
);

interface Lesson {
  /** Lessons of one topic contradict each other, so one of them is learnt. */
  readonly topic: string;
  readonly says: RegExp;
  readonly unless?: RegExp;
  readonly teaches: Partial<Quirks>;
}

/** The first that fits is learnt, so those whose words are in the refusals of others come later. */
const lessons: readonly Lesson[] = [
  { topic: "stream options", says: /stream_options/, teaches: { noStreamOptions: true } },
  {
    topic: "completion tokens",
    says: /use .{0,3}max_completion_tokens/i,
    teaches: { completionTokens: true },
  },
  {
    topic: "only max tokens",
    says: near("max_completion_tokens", REFUSED),
    teaches: { completionTokens: false },
  },
  {
    topic: "forced tool",
    says: near("tool[_ ]choice", `${REFUSED}|incompatible|may not|must be`),
    teaches: { noForcedTool: true },
  },
  {
    topic: "call ids",
    says: /(tool.?call.?id|tool_calls.{0,20}\bid\b).{0,200}(length of 9|must be 9|too long)/i,
    teaches: { shortCallIds: true },
  },
  {
    topic: "user after tool",
    says: /unexpected role .{0,2}user.{0,2} after role .{0,2}tool/i,
    teaches: { noUserAfterTool: true },
  },
  {
    topic: "signatures demanded",
    says: near("thought_?signature", "missing|required", 40),
    teaches: { thoughtSignatures: true },
  },
  {
    topic: "signatures refused",
    says: near("extra_content", REFUSED),
    teaches: { thoughtSignatures: false },
  },
  {
    topic: "reasoning demanded",
    says: near("reasoning_content", "must be|missing|required", 80),
    teaches: { replayReasoning: true },
  },
  {
    topic: "reasoning refused",
    says: near("reasoning_content", REFUSED),
    teaches: { replayReasoning: false },
  },
  { topic: "cache markers", says: near("cache_control", REFUSED), teaches: { cacheMarkers: false } },
  { topic: "temperature", says: near("temperature", REFUSED), teaches: { noTemperature: true } },
  {
    topic: "thinking",
    says: near(
      "reasoning.?effort|enable_thinking|reasoning_split|\\bthinking\\b|\\breasoning\\b|\\bthink value",
      `${REFUSED}|should be|mandatory|cannot be disabled`,
    ),
    // What is refused there is something else, while the model thinks.
    unless: /tool_choice|reasoning_content|thought_?signature/i,
    teaches: { thinking: "none" },
  },
  { topic: "content", says: EMPTY_CONTENT, teaches: { nullContent: true } },
  { topic: "content", says: EMPTY_CONTENT, teaches: { nullContent: false } },
  { topic: "content", says: /'assistant' must not be empty/i, teaches: { nullContent: true } },
];
