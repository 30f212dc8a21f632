/** What a turn publishes: pieces while it runs, and the one final message that ends it. No secret leaves in them. */

import {
  type FinalMessage,
  finalIdFor,
  type InboundMessage,
  NOWHERE,
  type OutboundId,
  sourceOf,
} from "../core/messages.ts";
import type { Usage } from "../core/model.ts";
import type { Route, RouteTarget } from "../core/schedule.ts";
import { never } from "../lib/abort.ts";
import { clip } from "../lib/text.ts";
import type { AgentDeps } from "./deps.ts";

/** In characters. Much more could never be put. */
const LONGEST = 1_000_000;

export type Shown =
  /** Masked already: a secret can be cut over several of them. */
  | { kind: "delta" | "reasoning"; content: string }
  | { kind: "progress"; content: string }
  | { kind: "toolHint"; content: string; metadata: { name: string; arguments: string } }
  | { kind: "streamEnd"; content: ""; resuming: boolean };

/** Never cut short: what was shown before a stop must come out whole. */
export async function publish(message: InboundMessage, deps: AgentDeps, shown: Shown): Promise<void> {
  if (routeOf(message, deps) !== undefined) return;
  const outboundId = deps.ids.next() as OutboundId;
  await deps.bus.publishOutbound(
    {
      metadata: {},
      ...masked(shown, deps),
      ...placeOf(message),
      ...quoteOf(message, shown),
      id: outboundId,
      turn: message.id,
    },
    never,
  );
}

/** Nobody waits for it, and who hears of it is found out when it is done. */
export function routeOf(message: InboundMessage, { routes }: Pick<AgentDeps, "routes">): Route | undefined {
  const { origin, metadata } = sourceOf(message);
  const route = routes?.[origin];
  return route && ((inbound, ...rest) => route({ ...inbound, metadata }, ...rest));
}

/** Where it was said is where it is answered. */
function placeOf({ channel, chatId, thread }: Pick<InboundMessage, "channel" | "chatId" | "thread">) {
  return { channel, chatId, ...(thread === undefined ? {} : { thread }) };
}

/** An answer quotes what it answers from its first piece on. */
function quoteOf({ replyTo }: InboundMessage, { kind }: Shown) {
  return kind !== "delta" || replyTo === undefined ? {} : { replyTo };
}

function masked(shown: Shown, { mask }: AgentDeps): Shown {
  switch (shown.kind) {
    case "delta":
    case "reasoning":
    case "streamEnd":
      return shown;
    case "progress":
      return { ...shown, content: mask(shown.content) };
    case "toolHint": {
      const { name, arguments: text } = shown.metadata;
      return {
        ...shown,
        content: mask(shown.content),
        metadata: { name: mask(name), arguments: mask(text) },
      };
    }
  }
}

interface Final {
  readonly outcome: FinalMessage["outcome"];
  readonly content: string;
  /** Of whose model calls. */
  readonly model?: string;
  readonly usage?: Usage;
  /** Beside the message itself. */
  readonly answers?: FinalMessage["answers"];
  /** Nobody is told, and what was asked is answered. */
  readonly isSilent?: boolean;
  /** Where it goes, when that is not where it was said. */
  readonly place?: Pick<RouteTarget, "channel" | "chatId" | "thread">;
}

/**
 * Puts what a turn came to, for whoever waits for it or has to hear of it. Rejects with the signal's reason when that
 * could not be found out any more.
 */
export async function publishResult(
  message: InboundMessage,
  deps: Pick<AgentDeps, "bus" | "mask" | "routes">,
  signal: AbortSignal,
  final: Final & { readonly outcome: "answer" | "error" },
): Promise<void> {
  const route = routeOf(message, deps);
  if (route === undefined || final.isSilent) return publishFinal(message, deps, final);
  const { outcome, content } = final;
  const target = await route(message, { outcome, content: deps.mask(content) }, signal);
  signal.throwIfAborted();
  if (target === undefined) return publishFinal(message, deps, { ...final, isSilent: true });
  return publishFinal(message, deps, { ...final, content: target.content ?? content, place: target });
}

/** Puts the one record that ends a turn, a command or a stop. */
export async function publishFinal(
  message: InboundMessage,
  deps: Pick<AgentDeps, "bus" | "mask">,
  { outcome, content, model, usage, answers = [], isSilent = false, place = message }: Final,
): Promise<void> {
  const { id, replyTo } = message;
  const metadata = {
    ...(model === undefined ? {} : { model }),
    ...(usage === undefined ? {} : { usage: { ...usage } }),
  };
  await deps.bus.publishOutbound(
    {
      kind: "final",
      id: finalIdFor(id),
      turn: id,
      answers: [...new Set([id, ...answers])],
      media: [],
      ...placeOf(place),
      ...(isSilent ? { channel: NOWHERE } : {}),
      ...(replyTo === undefined ? {} : { replyTo }),
      outcome,
      content: clip(deps.mask(content), LONGEST),
      metadata,
    },
    never,
  );
}

/** Tells the user something beside the answer, that must arrive too. `name` keeps it apart from other notices of the turn. */
export async function publishNotice(
  message: InboundMessage,
  deps: Pick<AgentDeps, "bus" | "mask" | "routes">,
  { name, content }: { name: string; content: string },
): Promise<void> {
  if (routeOf(message, deps) !== undefined) return;
  await deps.bus.publishOutbound(
    {
      kind: "final",
      id: `${message.id}/notice/${name}` as OutboundId,
      turn: message.id,
      answers: [],
      media: [],
      ...placeOf(message),
      outcome: "notice",
      content: deps.mask(content),
      metadata: {},
    },
    never,
  );
}
