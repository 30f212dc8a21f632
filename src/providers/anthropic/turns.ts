/** A conversation in the turns of Anthropic's protocol. */

import type { ChatMessage } from "../../core/model.ts";
import {
  type Blocks,
  CONTINUED,
  NO_BLOCKS,
  replyBlocks,
  resultBlocks,
  thoughtfulBlocks,
  userBlocks,
} from "./blocks.ts";
import { createWireIds } from "./wire-ids.ts";

/** Blocks of one role: of each of our messages that became part of the turn. Never empty. */
export type Turn = Blocks[];

/**
 * Messages of one role after another become one turn, the first is the user's, and so is the last. Replies
 * in `replayed` go back with what was thought.
 */
export function toTurns(messages: readonly ChatMessage[], replayed: ReadonlySet<ChatMessage>): Turn[] {
  const ids = createWireIds();
  const turns: Turn[] = [];
  let last: Turn | undefined;

  function add(blocks: Blocks): void {
    if (blocks === NO_BLOCKS) return;
    if (last !== undefined && roleOf(last) === blocks.role) {
      last.push(blocks);
    } else {
      last = [blocks];
      turns.push(last);
    }
  }

  for (const message of messages) {
    if (message.role === "user") add(userBlocks(message));
    else if (message.role === "tool") add(resultBlocks(message, [ids.answer(message.toolCallId)]));
    else if (message.role === "assistant") {
      const calls = message.toolCalls?.map(({ id }) => ids.call(id)) ?? NO_CALLS;
      add((replayed.has(message) ? thoughtfulBlocks : replyBlocks)(message, calls));
    }
  }
  // It would be taken for the beginning of the reply.
  if (roleOf(turns.at(-1)) === "assistant") turns.pop();
  if (roleOf(turns[0]) !== "user") turns.unshift([CONTINUED]);
  return turns;
}

const NO_CALLS: readonly string[] = [];

export function roleOf(turn: Turn | undefined): Blocks["role"] | undefined {
  return turn?.[0]?.role;
}

/** In the middle of a turn, a budget is refused unless the reply before the results begins with thinking. */
export function takesBudget(turns: readonly Turn[]): boolean {
  if (turns.at(-1)?.[0]?.first !== "tool_result") return true;
  return /thinking/.test(turns.at(-2)?.[0]?.first ?? "");
}
