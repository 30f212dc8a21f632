/** One line of a session file: parsed forgivingly, written exactly. */

import type { JsonObject } from "../core/json.ts";
import type { Media } from "../core/messages.ts";
import type { StoredMessage, StoredToolCall } from "../core/session.ts";
import { asBuffer } from "../lib/bytes.ts";
import { isObject } from "../lib/is-object.ts";
import { parseJson } from "../lib/parse-json.ts";

/** The state of a session; the last such line of a file counts. */
export interface SessionMetadata {
  readonly key: string | undefined;
  readonly createdAt: string | undefined;
  readonly metadata: JsonObject;
  /** Messages before `offset`, as the original counts them. */
  readonly lastConsolidated: number;
  /** Bytes up to the first message of the replay. Only files that we wrote have it, and there it decides. */
  readonly offset: number | undefined;
  /** Bytes up to the first message that is not in memory yet. Without it, `offset` says so too. */
  readonly summed: number | undefined;
  /** What of it goes to the model, once not all of it does. */
  readonly shown: Shown | undefined;
  /** Bytes whose damaged lines the user has been told of. */
  readonly reported: number | undefined;
}

export interface Shown {
  /** Bytes up to the first line that is shown. */
  readonly from: number;
  /** Bytes up to where long results of tools are left out. */
  readonly results: number;
}

export type SessionLine =
  | { readonly kind: "message"; readonly message: StoredMessage }
  | { readonly kind: "metadata"; readonly metadata: SessionMetadata }
  /**
   * Well-formed, but nothing the model should see: a chat command, a private record of the original.
   * The original counts some of them as messages.
   */
  | { readonly kind: "ignored"; readonly counts: boolean }
  | { readonly kind: "damaged" };

/** Of one line: more files than this never came with one message. */
const MOST_MEDIA = 32;
const LONGEST_PATH = 4_096;
const LONGEST_NAME = 255;

type Fields = { readonly [key: string]: unknown };

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value.toWellFormed() : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The original also stores lists of blocks; images in them are only named. */
function contentText(content: unknown): string | undefined {
  if (content === null || content === undefined) return "";
  if (!Array.isArray(content)) return text(content);
  return content
    .map((block) =>
      isObject(block) ? (text(block["text"]) ?? `[${text(block["type"]) ?? "attachment"}]`) : "",
    )
    .join("\n");
}

function toolCall(value: unknown): StoredToolCall[] {
  if (!isObject(value) || !isObject(value["function"])) return [];
  const id = text(value["id"]);
  const name = text(value["function"]["name"]);
  if (id === undefined || name === undefined) return [];
  const given = value["function"]["arguments"];
  const json = typeof given === "string" ? given.toWellFormed() : JSON.stringify(given ?? {}).toWellFormed();
  const extra = value["extra_content"];
  return [
    {
      id,
      type: "function",
      function: { name, arguments: json },
      ...(isObject(extra) ? { extra_content: extra as JsonObject } : {}),
    },
  ];
}

function mediaEntry(value: unknown): (string | Media)[] {
  const path = text(isObject(value) ? value["path"] : value);
  if (path === undefined || path === "" || path.length > LONGEST_PATH) return [];
  if (!isObject(value)) return [path];
  const mime = text(value["mime"]);
  const name = text(value["name"]);
  if (mime === undefined || mime.length > LONGEST_NAME) return [];
  return [{ path, mime, ...(name === undefined || name.length > LONGEST_NAME ? {} : { name }) }];
}

function mediaList(value: unknown): readonly (string | Media)[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const media = value.slice(0, MOST_MEDIA).flatMap(mediaEntry);
  return media.length === 0 ? undefined : media;
}

function shortText(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= LONGEST_NAME ? text(value) : undefined;
}

function sentTo(value: unknown): StoredMessage["sent_to"] {
  if (!isObject(value)) return undefined;
  const channel = shortText(value["channel"]);
  const chat_id = shortText(value["chat_id"]);
  const thread = shortText(value["thread"]);
  if (channel === undefined || chat_id === undefined) return undefined;
  return { channel, chat_id, ...(thread === undefined ? {} : { thread }) };
}

function parseMessage(value: Fields): SessionLine {
  const { role } = value;
  const content = contentText(value["content"]);
  if (role !== "user" && role !== "assistant" && role !== "tool") return { kind: "ignored", counts: true };
  if (content === undefined) return { kind: "damaged" };
  if (value["_command"] === true) return { kind: "ignored", counts: true };
  const optional: Record<string, unknown> = {
    timestamp: text(value["timestamp"]),
    tool_calls: Array.isArray(value["tool_calls"]) ? value["tool_calls"].flatMap(toolCall) : undefined,
    tool_call_id: text(value["tool_call_id"]),
    name: text(value["name"]),
    reasoning_content: text(value["reasoning_content"]),
    thinking_blocks: Array.isArray(value["thinking_blocks"]) ? value["thinking_blocks"] : undefined,
    model: text(value["model"]),
    media: mediaList(value["media"]),
    turn: text(value["turn"]),
    inbound: text(value["inbound"]),
    runtime: text(value["runtime"]),
    sent_to: sentTo(value["sent_to"]),
  };
  const present = Object.entries(optional).filter(([, item]) => item !== undefined);
  return { kind: "message", message: { role, content, ...Object.fromEntries(present) } };
}

function shownOf(value: unknown): Shown | undefined {
  if (!isObject(value)) return undefined;
  const from = count(value["from"]);
  const results = count(value["results"]);
  return from === undefined || results === undefined ? undefined : { from, results };
}

function parseMetadata(value: Fields): SessionLine {
  return {
    kind: "metadata",
    metadata: {
      key: text(value["key"]),
      createdAt: text(value["created_at"]),
      metadata: (isObject(value["metadata"]) ? value["metadata"] : {}) as JsonObject,
      lastConsolidated: count(value["last_consolidated"]) ?? 0,
      offset: count(value["offset"]),
      summed: count(value["summed"]),
      shown: shownOf(value["shown"]),
      reported: count(value["reported"]),
    },
  };
}

/** NULs around a line are what a power cut leaves; what is between them may be whole. */
function trimmed(bytes: Uint8Array): Uint8Array {
  let start = 0;
  let end = bytes.length;
  const isFiller = (byte: number | undefined) => byte === 0 || byte === 0x0d || byte === 0x20;
  while (start < end && isFiller(bytes[start])) start++;
  while (end > start && isFiller(bytes[end - 1])) end--;
  return bytes.subarray(start, end);
}

/** Whether the original counts the line as a message. */
export function isCounted(line: SessionLine): boolean {
  return line.kind === "message" || (line.kind === "ignored" && line.counts);
}

/** Reads one line, given without its newline. An empty one is `ignored`. */
export function parseSessionLine(bytes: Uint8Array): SessionLine {
  const line = trimmed(bytes);
  if (line.length === 0) return bytes.includes(0) ? { kind: "damaged" } : { kind: "ignored", counts: false };
  const text = asBuffer(line).toString("utf8");
  const value = parseJson(text.startsWith("\ufeff") ? text.slice(1) : text);
  if (!isObject(value)) return { kind: "damaged" };
  if (value["_type"] === "metadata") return parseMetadata(value);
  return "_type" in value ? { kind: "ignored", counts: false } : parseMessage(value);
}

export function formatMessage(message: StoredMessage): string {
  return `${JSON.stringify(message).toWellFormed()}\n`;
}

/** `updatedAt` is ISO 8601 in UTC. */
export function formatMetadata(state: SessionMetadata, updatedAt: string): string {
  const line = {
    _type: "metadata",
    key: state.key,
    created_at: state.createdAt ?? updatedAt,
    updated_at: updatedAt,
    metadata: state.metadata,
    last_consolidated: state.lastConsolidated,
    offset: state.offset,
    summed: state.summed,
    shown: state.shown,
    reported: state.reported,
  };
  return `${JSON.stringify(line)}\n`;
}
