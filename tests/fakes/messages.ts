/** Messages with every field filled in, for tests that care about one or two. */

import type {
  FinalMessage,
  InboundId,
  InboundMessage,
  OutboundId,
  TransientMessage,
} from "../../src/core/messages.ts";

type Loose<T> = { [K in keyof T]?: K extends "id" | "turn" ? string : T[K] };

export function inboundMessage({ id = "cli:1", ...rest }: Loose<InboundMessage> = {}): InboundMessage {
  return {
    kind: "message",
    channel: "cli",
    senderId: "user",
    chatId: "direct",
    content: "hello",
    media: [],
    timestamp: "2026-11-30T09:00:00.000Z",
    origin: "chat",
    sessionKey: "cli:direct",
    metadata: {},
    ...rest,
    id: id as InboundId,
  };
}

export function outboundFinal({
  id = "out:1",
  turn = "cli:1",
  ...rest
}: Loose<FinalMessage> = {}): FinalMessage {
  return {
    kind: "final",
    channel: "cli",
    chatId: "direct",
    content: "hi",
    metadata: {},
    outcome: "answer",
    answers: [turn as InboundId],
    media: [],
    ...rest,
    id: id as OutboundId,
    turn: turn as InboundId,
  };
}

export function outboundDelta({
  id = "out:2",
  turn = "cli:1",
  ...rest
}: Loose<TransientMessage> = {}): TransientMessage {
  return {
    kind: "delta",
    channel: "cli",
    chatId: "direct",
    content: "",
    metadata: {},
    ...rest,
    id: id as OutboundId,
    turn: turn as InboundId,
  };
}
