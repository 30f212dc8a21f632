/** `nanobot sessions replay`: one turn in full, and whether the loop would do the same now. */

import type { ReplayDifference, TurnReplay } from "../core/replay.ts";
import type { StoredMessage } from "../core/session.ts";
import { fileLabel } from "../lib/breadcrumb.ts";
import { safeJson } from "../lib/safe-json.ts";
import { clip, stripControls } from "../lib/text.ts";
import { type CommandContext, type ExitCode, textOption } from "./command.ts";

/** Long texts that differ are told apart by their beginning, or in JSON. */
const LONGEST_SHOWN = 2_000;

function* describeMessage(message: StoredMessage): Generator<string> {
  const { role, runtime = "", media = [], content } = message;
  const time = message.timestamp === undefined ? "" : ` ${message.timestamp}`;
  switch (role) {
    case "user":
      yield `── prompt${time}`;
      break;
    case "assistant":
      yield `── model${time}`;
      break;
    case "tool":
      yield `── result of ${message.name ?? "a tool"} (${message.tool_call_id ?? "no id"})${time}`;
  }
  if (runtime !== "") yield runtime;
  yield* media.map(fileLabel);
  if (content !== "") yield content;
  for (const { id, function: called } of message.tool_calls ?? [])
    yield `↳ ${called.name} (${id})\n${called.arguments}`;
}

function* describeTurn({ turn, systemPromptNow, messages }: TurnReplay): Generator<string> {
  yield `Turn ${turn ?? "(without an id)"}`;
  yield "── system prompt (as it would be now: it is not recorded)";
  yield systemPromptNow;
  for (const message of messages) yield* describeMessage(message);
}

function* describeDifference({ round, detail, recorded, now }: ReplayDifference): Generator<string> {
  yield `✗ ${round === undefined ? "" : `answer ${round}: `}${detail}`;
  if (recorded !== undefined) yield `  recorded: ${shortened(recorded)}`;
  if (now !== undefined) yield `  now:      ${shortened(now)}`;
}

function shortened(text: string): string {
  return JSON.stringify(clip(text, LONGEST_SHOWN));
}

export async function replay(context: CommandContext, key: string): Promise<ExitCode> {
  const { app, options, signal } = context;
  const { terminal } = app.platform;
  const turn = textOption(options, "turn");
  const dry = options["dry"] === true;
  const found = await app.replay({ key, dry, ...(turn === undefined ? {} : { turn }) }, signal);
  const { differences } = found;
  if (options["json"] === true) terminal.out(`${safeJson({ key, ...found }, 2)}\n`);
  else {
    for (const part of describeTurn(found)) terminal.out(`${stripControls(part)}\n`);
    if (differences !== undefined) terminal.out(`── dry run\n`);
    if (differences?.length === 0) terminal.out("✓ The loop would do the same now\n");
    for (const difference of differences ?? [])
      for (const part of describeDifference(difference)) terminal.out(`${stripControls(part)}\n`);
  }
  return differences !== undefined && differences.length > 0 ? 1 : 0;
}
