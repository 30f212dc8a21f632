/** `nanobot sessions replay`: one turn in full, and whether the loop would do the same now. */

import type { ReplayDifference, TurnReplay } from "../core/replay.ts";
import type { StoredMessage } from "../core/session.ts";
import { fileLabel } from "../lib/breadcrumb.ts";
import { safeJson } from "../lib/safe-json.ts";
import { clip, oneLine, stripControls } from "../lib/text.ts";
import { type CommandContext, type ExitCode, textOption } from "./command.ts";
import { masked } from "./masked.ts";

/** Long texts that differ are told apart by their beginning, or in JSON. */
const LONGEST_SHOWN = 2_000;
const LONGEST_NAME = 200;

/** With a margin, so that nothing in it looks like a heading of ours. */
function inMargin(text: string): string {
  return text
    .split("\n")
    .map((line) => `│ ${line}`)
    .join("\n");
}

function short(name: string): string {
  return oneLine(name, LONGEST_NAME);
}

function* describeMessage(message: StoredMessage): Generator<string> {
  const { role, runtime = "", media = [], content } = message;
  const time = message.timestamp === undefined ? "" : ` ${short(message.timestamp)}`;
  switch (role) {
    case "user":
      yield `── prompt${time}`;
      break;
    case "assistant":
      yield `── model${time}`;
      break;
    case "tool":
      yield `── result of ${short(message.name ?? "a tool")} (${short(message.tool_call_id ?? "no id")})${time}`;
  }
  if (runtime !== "") yield inMargin(runtime);
  yield* media.map(fileLabel).map(inMargin);
  if (content !== "") yield inMargin(content);
  for (const { id, function: called } of message.tool_calls ?? []) {
    yield `↳ ${short(called.name)} (${short(id)})`;
    yield inMargin(called.arguments);
  }
}

function* describeTurn({ turn, systemPromptNow, messages }: TurnReplay): Generator<string> {
  yield `Turn ${short(turn ?? "(without an id)")}`;
  yield "── system prompt (as it would be now: it is not recorded)";
  yield inMargin(systemPromptNow);
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
  const replayed = await app.replay({ key, dry, ...(turn === undefined ? {} : { turn }) }, signal);
  const found = masked(replayed, app.mask);
  const { differences } = found;
  // Masked once more, because what controls had parted is one text without them.
  const print = (part: string) => terminal.out(`${app.mask(stripControls(part))}\n`);
  if (options["json"] === true) terminal.out(`${safeJson({ key: app.mask(key), ...found }, 2)}\n`);
  else {
    for (const part of describeTurn(found)) print(part);
    if (differences !== undefined) terminal.out(`── dry run\n`);
    if (differences?.length === 0) terminal.out("✓ The loop would do the same now\n");
    for (const difference of differences ?? [])
      for (const part of describeDifference(difference)) print(part);
  }
  return differences !== undefined && differences.length > 0 ? 1 : 0;
}
