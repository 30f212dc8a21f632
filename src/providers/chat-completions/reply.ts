/** Puts a reply together from the chunks of a chat-completions stream, however a vendor shapes them. */

import type { Usage } from "../../core/model.ts";
import { isObject } from "../../lib/is-object.ts";
import { BadReply } from "../wire/errors.ts";
import { type Fields, objectsIn, textOf } from "../wire/fields.ts";
import { contentFiltered, refusalIn } from "../wire/reply-failures.ts";
import { createSpokenText, type SpokenTextOptions } from "../wire/spoken-text.ts";
import type { ReplyBuilder } from "../wire/wire-model.ts";
import { createWireCalls } from "./calls.ts";
import { usageOf } from "./usage.ts";

const CUT_OFF = /^(?:length|max_tokens|max_output_tokens|model_length)$/i;
const FILTERED = ["content_filter", "sensitive"];
const THOUGHT_PARTS: readonly unknown[] = ["thinking", "reasoning", "reasoning_content"];

/** Text, or a list of parts that have some. */
function textIn(value: unknown): string {
  const parts = objectsIn(value).map((part) => textOf(part["text"]) || textOf(part["summary"]));
  return textOf(value) + parts.join("");
}

/** Vendors say the same thought in more than one field, so only the first that holds any counts. */
function reasoningIn(delta: Fields): string {
  return (
    textOf(delta["reasoning_content"]) || textOf(delta["reasoning"]) || textIn(delta["reasoning_details"])
  );
}

export function createReplyBuilder(options: SpokenTextOptions): ReplyBuilder {
  const spoken = createSpokenText(options);
  const calls = createWireCalls();
  let finishReason = "";
  let usage: Usage | undefined;
  let started = false;

  function addContent(content: unknown): void {
    spoken.say(textOf(content));
    for (const part of objectsIn(content)) {
      spoken.think(textIn(part["thinking"]));
      const add = THOUGHT_PARTS.includes(part["type"]) ? spoken.think : spoken.say;
      add(textOf(part["text"]));
    }
  }

  function addDelta(delta: Fields): void {
    started = true;
    spoken.think(reasoningIn(delta));
    addContent(delta["content"]);
    spoken.say(textOf(delta["refusal"]));
    for (const call of callsIn(delta)) calls.add(call);
  }

  return {
    add(chunk) {
      if (!isObject(chunk)) return;
      const choices = chunk["choices"];
      const failure = chunk["error"] || (choices === undefined && bareError(chunk));
      if (failure) throw refusalIn(failure);
      const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
      usage = usageOf(chunk, choice) ?? usage;
      if (!isObject(choice)) return;
      const delta = choice["delta"] ?? choice["message"];
      if (isObject(delta)) addDelta(delta);
      finishReason = textOf(choice["finish_reason"]) || finishReason;
    },
    get complete() {
      return finishReason !== "";
    },
    get started() {
      return started;
    },
    get usage() {
      return usage;
    },
    partial: spoken.partial,
    finish() {
      if (FILTERED.includes(finishReason)) throw contentFiltered();
      if (finishReason === "error") throw new BadReply("failed in the middle of its reply");
      const { content, toolCalls, reasoning } = spoken.finish(calls.finish(options.newCallId), {
        cutOff: CUT_OFF.test(finishReason),
      });
      return {
        ok: true,
        content,
        toolCalls,
        finishReason,
        ...(CUT_OFF.test(finishReason) ? { cutOff: true } : {}),
        ...(usage ? { usage } : {}),
        ...(reasoning === "" ? {} : { reasoningContent: reasoning }),
      };
    },
  };
}

/** Some servers send what would be an error's inside as the whole chunk. */
function bareError(chunk: Fields): unknown {
  const says = chunk["message"] ?? chunk["detail"];
  return typeof says === "string" && says !== "" ? { ...chunk, message: says } : undefined;
}

/** A list, or one alone; older servers know only `function_call`. */
function callsIn({ tool_calls: asked, function_call: called }: Fields): readonly Fields[] {
  if (isObject(asked)) return [asked];
  return isObject(called) ? [...objectsIn(asked), { function: called }] : objectsIn(asked);
}
