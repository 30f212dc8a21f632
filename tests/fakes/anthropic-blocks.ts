/** What the Messages API of Anthropic refuses in a block of content. */

import { isObject } from "../../src/lib/is-object.ts";
import { isBase64 } from "./images.ts";

export type Fields = { readonly [key: string]: unknown };

/** What the server gave out to be given back word for word. */
export interface GivenThoughts {
  /** The text of each thinking block, by its signature. */
  readonly signed: ReadonlyMap<string, string>;
  /** The data of each redacted one. */
  readonly redacted: ReadonlySet<string>;
}

interface BlockRules {
  readonly keys: readonly string[];
  /** Whose messages may hold it. */
  readonly roles: readonly unknown[];
}

const BLOCKS: Readonly<Record<string, BlockRules>> = {
  text: { keys: ["text", "cache_control"], roles: ["user", "assistant"] },
  image: { keys: ["source", "cache_control"], roles: ["user"] },
  tool_use: { keys: ["id", "name", "input", "cache_control"], roles: ["assistant"] },
  tool_result: { keys: ["tool_use_id", "content", "is_error", "cache_control"], roles: ["user"] },
  thinking: { keys: ["thinking", "signature"], roles: ["assistant"] },
  redacted_thinking: { keys: ["data"], roles: ["assistant"] },
};
const RESULT_BLOCKS: readonly unknown[] = ["text", "image"];

const MEDIA_TYPES: readonly unknown[] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const ID = /^[a-zA-Z0-9_-]{1,64}$/;
export const NAME = /^[a-zA-Z0-9_-]{1,128}$/;

/** Thrown inside the rules only; `checkMessagesRequest` turns it into its result. */
export class Refused extends Error {}

export function refuse(message: string): never {
  throw new Refused(message);
}

export function listOf(value: unknown, where: string): readonly Fields[] {
  if (!Array.isArray(value)) refuse(`${where}: Input should be a valid list`);
  return (value as unknown[]).map((item) => (isObject(item) ? item : refuse(`${where}: must hold objects`)));
}

export function checkKeys(fields: Fields, known: readonly string[], where: string): void {
  const unknown = Object.keys(fields).find((key) => !known.includes(key));
  if (unknown !== undefined) refuse(`${where}.${unknown}: Extra inputs are not permitted`);
}

export function checkText({ text }: Fields, where: string): void {
  if (typeof text !== "string" || text === "") refuse(`${where}: text content blocks must be non-empty`);
  else if (text.trim() === "") refuse(`${where}: text content blocks must contain non-whitespace text`);
}

export function checkBlock(block: Fields, role: unknown, where: string, given: GivenThoughts): void {
  const type = String(block["type"]);
  const rules = BLOCKS[type];
  if (rules === undefined) refuse(`${where}.content: Input tag '${type}' is not known`);
  if (!rules.roles.includes(role)) refuse(`${where}: \`${type}\` blocks can not be in ${role} messages`);
  checkKeys(block, ["type", ...rules.keys], `${where}.content.${type}`);
  const { id, name, input, data, thinking, signature } = block;
  switch (type) {
    case "text":
      checkText(block, where);
      break;
    case "tool_use":
      if (typeof id !== "string" || !ID.test(id)) refuse(`${where}.content.tool_use.id: bad pattern`);
      if (typeof name !== "string" || !NAME.test(name)) refuse(`${where}.content.tool_use.name: bad pattern`);
      if (!isObject(input)) refuse(`${where}.content.tool_use.input: Input should be an object`);
      break;
    case "tool_result":
      checkResult(block, `${where}.content.tool_result`);
      break;
    case "thinking":
      if (typeof signature !== "string" || given.signed.get(signature) !== thinking) {
        refuse(`${where}.content: Invalid \`signature\` in \`thinking\` block`);
      }
      break;
    case "redacted_thinking":
      if (typeof data !== "string" || !given.redacted.has(data)) {
        refuse(`${where}.content: Invalid \`data\` in \`redacted_thinking\` block`);
      }
      break;
    case "image":
      checkImage(block["source"], `${where}.content.image.source`);
  }
}

function checkResult({ tool_use_id: id, content, is_error: isError }: Fields, where: string): void {
  if (typeof id !== "string" || !ID.test(id)) refuse(`${where}.tool_use_id: bad pattern`);
  if (isError !== undefined && typeof isError !== "boolean") {
    refuse(`${where}.is_error: Input should be a valid boolean`);
  }
  if (content === undefined || typeof content === "string") return;
  for (const block of listOf(content, `${where}.content`)) {
    if (!RESULT_BLOCKS.includes(block["type"])) refuse(`${where}.content: Input tag is not known`);
    if (isError && block["type"] !== "text") {
      refuse(`${where}: all content must be type "text" if "is_error" is true`);
    }
    checkKeys(block, block["type"] === "text" ? ["type", "text"] : ["type", "source"], `${where}.content`);
    if (block["type"] === "text") checkText(block, where);
    else checkImage(block["source"], `${where}.content.image.source`);
  }
}

function checkImage(source: unknown, where: string): void {
  if (!isObject(source) || source["type"] !== "base64") refuse(`${where}: bad source`);
  checkKeys(source, ["type", "media_type", "data"], where);
  if (!MEDIA_TYPES.includes(source["media_type"])) {
    refuse(
      `${where}.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
    );
  }
  if (!isBase64(source["data"])) refuse(`${where}.base64: invalid base64 data`);
}
