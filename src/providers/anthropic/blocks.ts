/** One message as blocks of Anthropic's protocol, in bytes. What was encoded once is not encoded again. */

import { Buffer } from "node:buffer";
import type {
  AssistantMessage,
  ChatMessage,
  Image,
  SystemMessage,
  ToolCall,
  ToolMessage,
  UserMessage,
} from "../../core/model.ts";
import { acceptableArguments } from "../../lib/acceptable-call.ts";
import { isObject } from "../../lib/is-object.ts";
import { failedBecause } from "../../lib/tool-failure.ts";
import { memoized } from "../wire/memo.ts";

export interface Blocks {
  readonly role: Role;
  /** The type of the first block. */
  readonly first: string;
  /** The blocks as JSON, with commas between them. */
  readonly bytes: Uint8Array;
  /** The same behind the end of the turn before and the beginning of one with this role. */
  readonly asTurn: Uint8Array;
}

type Role = "user" | "assistant";

/** What a message becomes that says nothing. */
export const NO_BLOCKS: Blocks = {
  role: "user",
  first: "",
  bytes: new Uint8Array(),
  asTurn: new Uint8Array(),
};

/** What ends a turn and stands before the next. */
export const TURN_ENDS = "]},";

/** A block's type, and the whole of it as JSON. */
type Block = readonly [type: string, json: string];

function joined(role: Role, blocks: readonly Block[]): Blocks {
  const [first] = blocks;
  if (first === undefined) return NO_BLOCKS;
  const begin = `${TURN_ENDS}{"role":"${role}","content":[`;
  const asTurn = Buffer.from(begin + blocks.map(([, json]) => json).join(","));
  return { role, first: first[0], bytes: asTurn.subarray(begin.length), asTurn };
}

/** Text without a letter is refused. */
function textBlocks(text: string): readonly Block[] {
  return text.trim() === "" ? [] : [["text", JSON.stringify({ type: "text", text })]];
}

/** For a conversation that does not begin with its user. */
export const CONTINUED = joined("user", textBlocks("(continued)"));

/** Empty where it says nothing. */
export const systemBytes = memoized(({ content }: SystemMessage) =>
  Buffer.from(
    textBlocks(content)
      .map(([, json]) => json)
      .join(""),
  ),
);

export const userBlocks = memoized(({ content, images = [] }: UserMessage) =>
  joined("user", [
    ...images.map((image): Block => ["image", JSON.stringify(imageBlock(image))]),
    ...textBlocks(content),
  ]),
);

function imageBlock({ mime, data }: Image) {
  return { type: "image", source: { type: "base64", media_type: mime, data } };
}

/** Encodes again when the ids are others than the last time: an id depends on those before it. */
function memoizedByIds<Message extends ChatMessage>(
  compute: (message: Message, ids: readonly string[]) => Blocks,
): (message: Message, ids: readonly string[]) => Blocks {
  const known = new WeakMap<Message, { readonly ids: readonly string[]; readonly blocks: Blocks }>();
  return (message, ids) => {
    const found = known.get(message);
    if (found?.ids.every((id, index) => id === ids[index])) return found.blocks;
    const blocks = compute(message, ids);
    known.set(message, { ids, blocks });
    return blocks;
  };
}

export const resultBlocks = memoizedByIds((message: ToolMessage, [id]) => {
  const result = { type: "tool_result", tool_use_id: id, ...resultFields(message) };
  return joined("user", [["tool_result", JSON.stringify(result)]]);
});

function resultFields({ content, images = [] }: ToolMessage) {
  const isBlank = content.trim() === "";
  if (images.length > 0) {
    // What is marked as an error may hold text alone. That it is one, its text says too.
    const text = isBlank ? [] : [{ type: "text", text: content }];
    return { content: [...text, ...images.map(imageBlock)] };
  }
  return {
    ...(isBlank ? {} : { content }),
    ...(failedBecause(content) === undefined ? {} : { is_error: true }),
  };
}

/** `ids` are those of its calls, in their order. */
export const replyBlocks = memoizedByIds((message: AssistantMessage, ids) =>
  joined("assistant", saidIn(message, ids)),
);

/** With what was thought in front. Thinking alone is no message. */
export const thoughtfulBlocks = memoizedByIds((message: AssistantMessage, ids) => {
  const said = saidIn(message, ids);
  return said.length === 0 ? NO_BLOCKS : joined("assistant", [...thinkingIn(message), ...said]);
});

function saidIn({ content, toolCalls = [] }: AssistantMessage, ids: readonly string[]): readonly Block[] {
  return [...textBlocks(content), ...toolCalls.map((call, index) => callBlock(call, ids[index] ?? call.id))];
}

function callBlock({ name, arguments: text }: ToolCall, id: string): Block {
  const head = JSON.stringify({ type: "tool_use", id, name }).slice(0, -1);
  return ["tool_use", `${head},"input":${acceptableArguments(text)}}`];
}

/** Opaque, and given back word for word. */
function thinkingIn({ thinkingBlocks = [] }: AssistantMessage): readonly Block[] {
  return thinkingBlocks.flatMap((block): Block[] => {
    const type = thinkingType(block);
    return type === undefined ? [] : [[type, JSON.stringify(block)]];
  });
}

export function holdsThinking({ thinkingBlocks = [] }: AssistantMessage): boolean {
  return thinkingBlocks.some((block) => thinkingType(block) !== undefined);
}

function thinkingType(block: unknown): "thinking" | "redacted_thinking" | undefined {
  const type = isObject(block) ? block["type"] : undefined;
  return type === "thinking" || type === "redacted_thinking" ? type : undefined;
}
