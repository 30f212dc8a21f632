/** Runs the tool calls of one reply, and tells of each as it begins and ends. */

import type { Emit, RunEvent } from "../core/events.ts";
import type { ToolCall, ToolMessage } from "../core/model.ts";
import type { ToolRun } from "../core/tool-run.ts";
import type { Toolbox } from "../core/toolbox.ts";
import { acceptableArguments, acceptableName } from "../lib/acceptable-call.ts";
import { withResultImages } from "./result-images.ts";

export interface CallResult {
  readonly call: ToolCall;
  readonly ok: boolean;
  readonly message: ToolMessage;
}

interface CallRun {
  readonly tools: Pick<Toolbox, "isReadOnly" | "run">;
  readonly run: ToolRun;
  /** One event at a time: see `inOrder`. */
  readonly emit: (event: RunEvent) => Promise<void>;
}

/**
 * Neighbouring calls that change nothing run side by side, all others alone, and results keep the order. Rejects
 * only when `emit` does; after an abort the rest of the calls get results that say so.
 */
export async function runCalls(
  calls: readonly ToolCall[],
  { tools, run, emit }: CallRun,
): Promise<readonly CallResult[]> {
  async function runCall(call: ToolCall): Promise<CallResult> {
    await emit({ type: "tool.started", call });
    const result = await tools.run(call, run);
    const { id, name } = acceptableCall(call);
    const message = withResultImages({ role: "tool", toolCallId: id, name, content: result.text }, result);
    await emit({ type: "tool.ended", call, result, message });
    return { call, ok: result.ok, message };
  }

  const results: CallResult[] = [];
  const sideBySide = (index: number) => tools.isReadOnly(calls[index]?.name ?? "");
  for (let next = 0; next < calls.length; ) {
    let end = next + 1;
    if (sideBySide(next)) while (end < calls.length && sideBySide(end)) end++;
    results.push(...(await Promise.all(calls.slice(next, end).map(runCall))));
    next = end;
  }
  return results;
}

/** A call as every provider accepts it back. What was wrong with it is in its result. */
export function acceptableCall(call: ToolCall): ToolCall {
  return { ...call, name: acceptableName(call.name), arguments: acceptableArguments(call.arguments) };
}

/** One event at a time, in order, however many calls run side by side. After a failure every emit fails. */
export function inOrder(emit: Emit): (event: RunEvent) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (event) => {
    last = last.then(() => emit(event));
    return last;
  };
}
