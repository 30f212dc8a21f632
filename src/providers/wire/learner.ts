/** What refusals teach about a server's models: quirks that nobody knew of beforehand. */

import { Buffer } from "node:buffer";
import type { ChatRequest } from "../../core/model.ts";
import { createRecent } from "../../lib/recent.ts";
import { OTHER_REASON, tellingPart } from "./refusal-text.ts";
import type { Protocol } from "./wire-model.ts";

/** A request as it is sent. A protocol may keep beside it what its lessons want to know. */
export interface Encoded {
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface Lesson<Quirks> {
  /** Lessons of one topic contradict each other, so one of them is learnt. */
  readonly topic: string;
  readonly teaches: Partial<Quirks>;
}

interface Refused<Quirks, Sent extends Encoded> {
  /** The telling part of what the server said. */
  readonly text: string;
  readonly request: ChatRequest;
  readonly sent: Sent;
  /** What is known of the model. It makes the same request as the one that was refused. */
  readonly quirks: Quirks;
}

export interface LearnerOptions<Quirks, Sent extends Encoded> {
  /** What is known of a model before it was asked anything. */
  readonly first: (model: string) => Quirks;
  /** The same request, by the same quirks, gives the same bytes. */
  readonly encode: (request: ChatRequest, quirks: Quirks) => Sent;
  /** What the refusal may mean, the most telling first. */
  readonly lessons: (refused: Refused<Quirks, Sent>) => readonly Lesson<Quirks>[];
  /** Where it means none of that: takes note of messages that had better go without their thoughts. */
  readonly withhold?: (refused: Refused<Quirks, Sent>) => void;
}

export interface Learner<Quirks> extends Pick<Protocol, "encode" | "learn"> {
  /** What is known of a model so far. */
  quirksOf(model: string): Quirks;
}

/** OpenRouter says 404 when nobody who runs the model takes a parameter. */
const TEACHING: ReadonlySet<number | undefined> = new Set([400, 404, 422]);

/** Models that something is remembered about. */
const MOST_MODELS = 100;

interface Known<Quirks> {
  quirks: Quirks;
  /** Of the lessons that were learnt. */
  readonly topics: Set<string>;
}

export function createLearner<Quirks extends object, Sent extends Encoded = Encoded>({
  first,
  encode,
  lessons,
  withhold = () => {},
}: LearnerOptions<Quirks, Sent>): Learner<Quirks> {
  const models = createRecent<Known<Quirks>>({ most: MOST_MODELS });
  const knownOf = (model: string) =>
    models.of(model, () => ({ quirks: first(model), topics: new Set<string>() }));
  // Requests that run at the same time are refused for the same reason: each is judged by what it said itself.
  const sentFor = new WeakMap<ChatRequest, Sent>();

  return {
    quirksOf: (model) => knownOf(model).quirks,
    encode(request) {
      const sent = encode(request, knownOf(request.model).quirks);
      sentFor.set(request, sent);
      return sent.body;
    },
    learn({ status, body }, request) {
      const sent = sentFor.get(request);
      if (sent === undefined || !TEACHING.has(status)) return false;
      const text = tellingPart(body);
      if (OTHER_REASON.test(text)) return false;
      const known = knownOf(request.model);
      const { quirks, topics } = known;
      const isOther = (candidate: Quirks) => Buffer.compare(encode(request, candidate).body, sent.body) !== 0;
      // Another call may have been refused, and learnt from it, in the meantime.
      if (isOther(quirks)) return true;

      const refused = { text, request, sent, quirks };
      const lesson = lessons(refused).find(
        ({ topic, teaches }) => !topics.has(topic) && isOther({ ...quirks, ...teaches }),
      );
      if (lesson !== undefined) {
        topics.add(lesson.topic);
        known.quirks = { ...quirks, ...lesson.teaches };
        return true;
      }
      withhold(refused);
      return isOther(quirks);
    },
  };
}
