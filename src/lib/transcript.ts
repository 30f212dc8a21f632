/** Between the lines of a session file and the messages of a model. */

import type { ChatMessage, ToolCall } from "../core/model.ts";
import type { StoredMessage, StoredToolCall } from "../core/session.ts";
import { breadcrumb } from "./breadcrumb.ts";

/** Whether a turn begins with this line. What a user said while a turn ran is part of that turn. */
export function beginsTurn({ role, turn, inbound }: StoredMessage): boolean {
  return role === "user" && (turn === undefined || inbound === undefined || turn === inbound);
}

function toStoredCall({ id, name, arguments: text, extra }: ToolCall): StoredToolCall {
  return {
    id,
    type: "function",
    function: { name, arguments: text },
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}

export function toCall({ id, function: called, extra_content: extra }: StoredToolCall): ToolCall {
  return { id, ...called, ...(extra === undefined ? {} : { extra }) };
}

/** A message as a line; `extra` adds the turn, the time and the like. System messages have no line. */
export function toStored(
  message: Exclude<ChatMessage, { role: "system" }>,
  extra: Pick<StoredMessage, "timestamp" | "turn" | "inbound" | "runtime" | "media" | "sent_to">,
): StoredMessage {
  switch (message.role) {
    case "user":
      return { role: "user", content: message.content, ...extra };
    case "assistant":
      return {
        role: "assistant",
        content: message.content,
        ...(message.toolCalls?.length ? { tool_calls: message.toolCalls.map(toStoredCall) } : {}),
        ...(message.reasoningContent === undefined ? {} : { reasoning_content: message.reasoningContent }),
        ...(message.thinkingBlocks === undefined ? {} : { thinking_blocks: message.thinkingBlocks }),
        ...(message.model === undefined ? {} : { model: message.model }),
        ...extra,
      };
    case "tool":
      return {
        role: "tool",
        tool_call_id: message.toolCallId,
        name: message.name,
        content: message.content,
        ...extra,
      };
  }
}

// Lines never change, and each is sent again with every turn that follows.
const converted = new WeakMap<StoredMessage, ChatMessage>();

/** A line as the model sees it: the runtime context and the names of files stand in front of the user's text. */
export function toChat(line: StoredMessage): ChatMessage {
  const known = converted.get(line);
  if (known !== undefined) return known;
  const message = convert(line);
  converted.set(line, message);
  return message;
}

function userText({ runtime = "", media = [], content }: StoredMessage): string {
  if (media.length === 0) return runtime ? `${runtime}\n\n${content}` : content;
  return [runtime, media.map(breadcrumb).join("\n"), content].filter((part) => part !== "").join("\n\n");
}

function convert(line: StoredMessage): ChatMessage {
  switch (line.role) {
    case "user":
      return { role: "user", content: userText(line) };
    case "assistant":
      return {
        role: "assistant",
        content: line.content,
        ...(line.tool_calls?.length ? { toolCalls: line.tool_calls.map(toCall) } : {}),
        ...(line.reasoning_content === undefined ? {} : { reasoningContent: line.reasoning_content }),
        ...(line.thinking_blocks === undefined ? {} : { thinkingBlocks: line.thinking_blocks }),
        ...(line.model === undefined ? {} : { model: line.model }),
      };
    case "tool":
      return {
        role: "tool",
        toolCallId: line.tool_call_id ?? "",
        name: line.name ?? "",
        content: line.content,
      };
  }
}
