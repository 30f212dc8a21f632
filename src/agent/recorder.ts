/** Writes what the loop does to the session, and shows it, in the order of the events. */

import { Stopped } from "../core/errors.ts";
import type { RunEvent } from "../core/events.ts";
import type { InboundMessage } from "../core/messages.ts";
import type { Usage } from "../core/model.ts";
import type { Session, StoredMessage } from "../core/session.ts";
import { toolHint } from "../lib/tool-hint.ts";
import { toStored } from "../lib/transcript.ts";
import { type AgentDeps, timestamp } from "./deps.ts";
import { publish, publishNotice, type Shown } from "./publish.ts";
import { isTo, storedAddress, wasSentTo } from "./sent-to.ts";

const usageKeys = ["input", "output", "cached", "reasoning"] as const;

export interface Recorder {
  /** For the loop to emit to. Rejects when the session cannot be written. */
  record(event: RunEvent): Promise<void>;
  /** Says that no more text comes, if there was some. */
  endStream(): Promise<void>;
  /** Somebody said something meanwhile, which deserves an answer in any case. */
  joined(): void;
  /** The chat that is answered got a message from a tool, and nobody said anything since: it needs no other answer. */
  wasSent(): boolean;
  /** Of all model calls so far, as far as providers counted. */
  usage(): Usage | undefined;
}

/** `before` is what the turn stored in a process that ended. */
export function createRecorder(
  message: InboundMessage,
  session: Session,
  deps: AgentDeps,
  { before, signal }: { before: readonly StoredMessage[]; signal: AbortSignal },
): Recorder {
  let streamed = false;
  const mayBeSilent = deps.waitsForFinal?.(message.channel) !== true;
  let wasSent = mayBeSilent && wasSentTo(message, before);
  /** A call of this reply waits for the owner while the program ends: it goes on at the next start, and those behind it. */
  let isHeld = false;
  const streams = { text: deps.maskStream(), reasoning: deps.maskStream() };
  let isCounted = false;
  let notices = 0;
  const total: { -readonly [K in keyof Usage]: number } = { input: 0, output: 0, cached: 0, reasoning: 0 };
  const extra = () => ({ timestamp: timestamp(deps), turn: message.id });
  const show = (shown: Shown) => publish(message, deps, shown);

  async function record(event: RunEvent): Promise<void> {
    switch (event.type) {
      case "model.started":
        return;
      case "model.delta":
        if (event.delta.kind === "reasoning") {
          return deps.showReasoning ? showThought(streams.reasoning.push(event.delta.text)) : undefined;
        }
        await showThought(streams.reasoning.end());
        // It would be shown, and then not be sent.
        if (wasSent) return;
        streamed = true;
        return showText(streams.text.push(event.delta.text));
      case "model.notice": {
        const { kind, text } = event.notice;
        if (kind === "quota")
          return publishNotice(message, deps, { name: `${kind}/${++notices}`, content: text });
        return show({ kind: "progress", content: text });
      }
      case "model.ended":
        if (event.usage) for (const key of usageKeys) total[key] += event.usage[key];
        isCounted ||= event.usage !== undefined;
        return showThought(streams.reasoning.end());
      case "assistant.calls":
        // On disk before anything is changed: after a crash nobody must think that these calls did not run.
        await session.append([toStored(event.message, extra())], { sync: !event.readOnly });
        return endSegment({ resuming: true });
      case "tool.started": {
        const { name, arguments: text } = event.call;
        const content = toolHint(event.call, deps.toolHintMaxLength, deps.mask);
        return show({ kind: "toolHint", content, metadata: { name, arguments: text } });
      }
      case "tool.ended":
        isHeld ||= isShutdown(signal) && deps.isWaiting(event.call.id);
        if (isHeld) return;
        await session.append([resultLine(event)], { sync: false });
        wasSent ||= mayBeSilent && isTo(message, event.result.sentTo);
    }
  }

  /** As the tool gave it: what the model was shown of its images is made of that again in every turn. */
  function resultLine({ message, result }: RunEvent & { type: "tool.ended" }): StoredMessage {
    const { media = [], text, sentTo } = result;
    const beside = {
      ...(media.length === 0 ? {} : { media }),
      ...(sentTo === undefined ? {} : { sent_to: storedAddress(sentTo) }),
    };
    return toStored({ ...message, content: text }, { ...extra(), ...beside });
  }

  async function showText(content: string): Promise<void> {
    if (content !== "") await show({ kind: "delta", content });
  }

  async function showThought(content: string): Promise<void> {
    if (content !== "") await show({ kind: "reasoning", content });
  }

  async function endSegment({ resuming }: { resuming: boolean }): Promise<void> {
    if (!streamed) return;
    streamed = false;
    await showText(streams.text.end());
    await show({ kind: "streamEnd", content: "", resuming });
  }

  return {
    record,
    endStream: () => endSegment({ resuming: false }),
    joined() {
      wasSent = false;
    },
    wasSent: () => wasSent,
    usage: () => (isCounted ? total : undefined),
  };
}

function isShutdown({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof Stopped && reason.by === "shutdown";
}
