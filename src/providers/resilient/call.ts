/** One call to one model, which settles soon after its signal aborts and never throws, whatever the model does. */

import type {
  ChatAnswer,
  ChatDelta,
  ChatFailure,
  ChatOptions,
  ChatReply,
  ChatRequest,
  Model,
} from "../../core/model.ts";
import type { Clock } from "../../core/platform.ts";
import { abortable } from "../../lib/abort.ts";
import { ABORTED } from "../../lib/aborted.ts";
import { problemOf } from "../../lib/phrases.ts";

export interface Failure extends ChatFailure {
  /** Neither the server nor the request is to blame: a package cannot be loaded, or a model breaks its contract. */
  readonly isOurs?: true;
}

export type Reply = ChatAnswer | Failure;

/** Resolves to the failure when there is no model to call. */
export async function openModel(
  open: () => Promise<Model>,
  label: string,
  signal: AbortSignal,
): Promise<Model | Failure> {
  if (signal.aborted) return stopped("");
  try {
    return await abortable(open(), signal);
  } catch (error) {
    return signal.aborted ? stopped("") : unusable(label, error, "");
  }
}

export interface Called {
  readonly reply: Reply;
  /** The deltas of its reasoning joined. */
  readonly thought: string;
}

/** Shows nothing more once `signal` has aborted. */
export async function callModel(
  model: Model,
  request: ChatRequest,
  { signal, onDelta, label, clock }: ChatOptions & { label: string; clock: Clock },
): Promise<Called> {
  let said = "";
  let thought = "";
  let isOver = false;
  const listen = (delta: ChatDelta) => {
    if (isOver || signal.aborted) return;
    if (delta.kind === "text") said += delta.text;
    else thought += delta.text;
    onDelta(delta);
  };
  let chatting: Promise<ChatReply> | undefined;
  try {
    chatting = model.chat(request, { signal, onDelta: listen });
    return { reply: await abortable(chatting, signal), thought };
  } catch (error) {
    if (!signal.aborted) return { reply: unusable(label, error, said), thought };
    return { reply: { ...stopped(said), ...(await arrivedBefore(chatting, clock)) }, thought };
  } finally {
    isOver = true;
  }
}

/** What had arrived, from a model that heeds its signal and so has only to say it. Nobody waits for another. */
async function arrivedBefore(
  chatting: Promise<ChatReply> | undefined,
  clock: Clock,
): Promise<Pick<ChatFailure, "usage" | "started">> {
  const over = new AbortController();
  try {
    const reply = await Promise.race([chatting, clock.sleep(0, over.signal)]);
    if (!reply) return {};
    const started = reply.ok || reply.started;
    return {
      ...(reply.usage === undefined ? {} : { usage: reply.usage }),
      ...(started === undefined ? {} : { started }),
    };
  } catch {
    // It threw because it was stopped, as some do, and says nothing of what had arrived.
    return {};
  } finally {
    over.abort();
  }
}

function stopped(partial: string): ChatFailure {
  return { ok: false, error: ABORTED, partial };
}

function unusable(label: string, error: unknown, partial: string): Failure {
  const words = problemOf(error);
  const message = `${label} cannot be used: ${words}`;
  return { ok: false, error: { kind: "badRequest", message }, partial, isOurs: true };
}
