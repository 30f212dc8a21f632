/** Keeps a model from asking the world outside the same question again and again in one turn. */

import type { ToolResult } from "../core/tool.ts";
import { toolError } from "../core/tool.ts";
import type { ToolRun } from "../core/tool-run.ts";
import { askedBefore } from "../lib/phrases.ts";

const TIMES = 2;

interface Asked {
  times: number;
  /** What the last of them gave. */
  result: Promise<ToolResult>;
}

/** Wraps the calls of tools that look something up: the third same one of a turn gets the earlier answer and no other. */
export function createLookups() {
  // By the turn's own object, so that what was asked goes when the turn does.
  const turns = new WeakMap<ToolRun, Map<string, Asked>>();

  return async (
    { name, args, run }: { name: string; args: unknown; run: ToolRun },
    look: () => Promise<ToolResult>,
  ): Promise<ToolResult> => {
    const asked = turns.get(run) ?? new Map<string, Asked>();
    turns.set(run, asked);
    // A schema puts the arguments in its own order.
    const question = `${name} ${JSON.stringify(args)}`;
    const before = asked.get(question);
    if (before !== undefined && before.times >= TIMES) {
      const { text, external = false } = await before.result;
      return toolError(askedBefore(before.times, text), { external, refused: true });
    }
    const result = look();
    asked.set(question, { times: (before?.times ?? 0) + 1, result });
    return result;
  };
}
