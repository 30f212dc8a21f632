/**
 * The built-in stand-in for a language model: no account, no network, a handful of requests, and honest
 * about it. It is a provider like any other, so what it does goes through the real loop and the real tools.
 */

import type { JsonObject } from "../../core/json.ts";
import type {
  ChatDelta,
  ChatMessage,
  ChatReply,
  ChatRequest,
  Model,
  ToolCall,
  ToolMessage,
} from "../../core/model.ts";
import { ABORTED } from "../../lib/aborted.ts";
import { clip, oneLine } from "../../lib/text.ts";
import { type Intent, understand, type When } from "./intent.ts";

/** What to do next: one tool call, or the answer. */
type Step = { readonly call: string; readonly arguments: JsonObject } | { readonly say: string };

interface Situation {
  readonly intent: Intent;
  /** Of the calls made for this message, in order. */
  readonly results: readonly ToolMessage[];
  /** The block in front of the user's text, empty when there is none. */
  readonly context: string;
  readonly offers: (tool: string) => boolean;
}

const MEMORY_FILE = "memory/MEMORY.md";
const LONGEST_QUOTE = 3_000;
const LONGEST_FACT = 1_000;

const ABILITIES = `- list files ("what files are in my workspace?", "list the files in docs")
- read a file ("read notes.md")
- write a file ("write hello to notes.md", "create todo.txt with buy milk")
- run a command ("run \`date\`")
- remember something ("remember that I like tea")
- tell the time ("what time is it?")`;

const SETUP = "To talk to a real model, run `nanobot onboard`, which asks for a provider and a key.";

export function createOfflineModel(): Model {
  return {
    provider: "offline",
    async chat(request, { signal, onDelta }) {
      if (signal.aborted) return aborted("");
      const step = nextStep(request);
      if ("say" in step) return say(step.say, signal, onDelta);
      const call: ToolCall = {
        // No two calls of a session have the same number of messages before them.
        id: `offline_${request.messages.length}`,
        name: step.call,
        arguments: JSON.stringify(step.arguments),
      };
      return { ok: true, content: "", toolCalls: [call], finishReason: "tool_calls" };
    },
  };
}

function aborted(partial: string): ChatReply {
  return { ok: false, error: ABORTED, partial };
}

function say(text: string, signal: AbortSignal, onDelta: (delta: ChatDelta) => void): ChatReply {
  let said = "";
  for (const piece of inPieces(text)) {
    onDelta({ kind: "text", text: piece });
    said += piece;
    if (signal.aborted) return aborted(said);
  }
  return { ok: true, content: text, toolCalls: [], finishReason: "stop" };
}

/** A few pieces, cut behind white space. */
function inPieces(text: string): readonly string[] {
  const words = text.match(/\S*\s*/g)?.filter((word) => word !== "") ?? [];
  const size = Math.ceil(words.length / 4);
  const pieces: string[] = [];
  for (let start = 0; start < words.length; start += size) {
    pieces.push(words.slice(start, start + size).join(""));
  }
  return pieces;
}

function nextStep(request: ChatRequest): Step {
  const { messages, tools, toolChoice } = request;
  const lastUser = messages.findLastIndex((message) => message.role === "user");
  const { context, text } = splitContext(messages[lastUser]?.content ?? "");
  const step = decide({
    intent: understand(text),
    results: messages.slice(lastUser + 1).filter(isResult),
    context,
    offers: (name) => tools.some((tool) => tool.name === name),
  });
  if ("say" in step) return step;
  if (toolChoice === "none")
    return { say: "I would have to use a tool for that, and I may not use any now." };
  if (toolChoice !== "auto" && toolChoice.name !== step.call) {
    return { say: `I am not a language model and cannot fill in "${toolChoice.name}".` };
  }
  return step;
}

function isResult(message: ChatMessage): message is ToolMessage {
  return message.role === "tool";
}

const CONTEXT = /^\[Runtime Context[^\]\n]*\]\n([\s\S]*?)\n\[\/Runtime Context\]\s*/;

function splitContext(content: string): { context: string; text: string } {
  const match = CONTEXT.exec(content);
  return match
    ? { context: match[1] ?? "", text: content.slice(match[0].length) }
    : { context: "", text: content };
}

function decide(situation: Situation): Step {
  const { intent, context } = situation;
  switch (intent.kind) {
    case "list":
      return once(situation, "list_dir", listArguments(intent), (result) =>
        intent.path === "."
          ? `Here is what is in your workspace:\n\n${quote(result)}`
          : `Here is what is in ${code(intent.path)}:\n\n${quote(result)}`,
      );
    case "read":
      return once(
        situation,
        "read_file",
        { path: intent.path, force: true },
        (result) => `${code(intent.path)} says:\n\n${quote(withoutNumbers(result))}`,
      );
    case "write":
      return once(
        situation,
        "write_file",
        { path: intent.path, content: withNewline(intent.text) },
        (result) => `Done. ${oneLine(result, 300)}.`,
      );
    case "run":
      return once(
        situation,
        "exec",
        { command: intent.command },
        (result) => `I ran ${code(intent.command)}:\n\n${quote(result)}`,
      );
    case "recall":
      return once(
        situation,
        "read_file",
        { path: MEMORY_FILE, force: true },
        (result) => `This is what I remember:\n\n${quote(withoutNumbers(result))}`,
      );
    case "remember":
      return remember(oneLine(intent.fact, LONGEST_FACT), situation);
    case "remind":
      return remind(intent, situation);
    case "time":
      return { say: timeAnswer(context) };
    case "help":
      return {
        say: `Hello! I am nanobot, running on its built-in offline model. I am not a language model, but I can:\n\n${ABILITIES}\n\n${SETUP}`,
      };
    case "unknown":
      return {
        say: `I did not understand that. I am the built-in offline model, not a language model, and can only:\n\n${ABILITIES}\n\n${SETUP}`,
      };
  }
}

/** One call, then what its result makes of the answer. */
function once(
  { results, offers }: Situation,
  tool: string,
  args: JsonObject,
  answer: (result: string) => string,
): Step {
  const [result] = results;
  if (result) return { say: failed(result) ? sorry(result) : answer(result.content) };
  return offers(tool) ? { call: tool, arguments: args } : { say: missing(tool) };
}

function failed(result: ToolMessage): boolean {
  return result.content.startsWith("Error:");
}

function sorry(result: ToolMessage): string {
  return `That did not work:\n\n${quote(result.content)}`;
}

function missing(tool: string): string {
  return `I would need the tool ${code(tool)} for that, and it is not available here.`;
}

function listArguments({ path, recursive }: { path: string; recursive: boolean }): JsonObject {
  return { path, ...(recursive ? { recursive } : {}) };
}

function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** Reads the memory file, then puts the fact behind its last line; a file that is missing or empty is made. */
function remember(fact: string, { results, offers }: Situation): Step {
  const [read, written] = results;
  if (written) return { say: failed(written) ? sorry(written) : `I will remember: ${fact}` };
  if (!read)
    return offers("read_file")
      ? { call: "read_file", arguments: { path: MEMORY_FILE, force: true } }
      : { say: missing("read_file") };
  const bullet = `- ${fact}`;
  const lines = failed(read) ? [] : numberedLines(read.content);
  const isMissing = failed(read) && /no such file|not found|does not exist|ENOENT/i.test(read.content);
  if (failed(read) && !isMissing) return { say: sorry(read) };
  if (lines.includes(bullet)) return { say: `I already remember: ${fact}` };
  const end = uniqueEnd(lines);
  if (end === undefined) {
    if (!offers("write_file")) return { say: missing("write_file") };
    return {
      call: "write_file",
      arguments: { path: MEMORY_FILE, content: `# Long-term memory\n\n${bullet}\n` },
    };
  }
  if (!offers("edit_file")) return { say: missing("edit_file") };
  return {
    call: "edit_file",
    arguments: { path: MEMORY_FILE, old_text: end, new_text: `${end}\n${bullet}` },
  };
}

/** The fewest last lines, blank ones at the end aside, that occur once in the whole. */
function uniqueEnd(lines: readonly string[]): string | undefined {
  const last = lines.findLastIndex((line) => line.trim() !== "");
  const kept = lines.slice(0, last + 1);
  const whole = kept.join("\n");
  for (let start = last; start >= 0; start--) {
    const end = kept.slice(start).join("\n");
    if (end.trim() !== "" && whole.indexOf(end) === whole.lastIndexOf(end)) return end;
  }
  return undefined;
}

/** The lines of `read_file`, whose numbers are not part of the file; what stands between and below them is not either. */
function numberedLines(result: string): string[] {
  return result.split("\n").flatMap((line) => /^\s*\d+\| ?(.*)$/.exec(line)?.[1] ?? []);
}

function withoutNumbers(result: string): string {
  const lines = numberedLines(result);
  return lines.length > 0 ? lines.join("\n") : result;
}

function remind(
  { what, when }: Extract<Intent, { kind: "remind" }>,
  { results, context, offers }: Situation,
): Step {
  const [result] = results;
  if (result) return { say: failed(result) ? sorry(result) : `I will remind you: ${what}` };
  if (!offers("cron")) {
    return {
      say: "Reminders need the schedule of the gateway, and it is not running here. Start `nanobot gateway` and ask me there.",
    };
  }
  const schedule = when && scheduleOf(when, localTime(context));
  if (!schedule || what === "") {
    return {
      say: 'Tell me what and when, like "remind me in 20 minutes to water the plants", "at 15:30" or "every 2 hours".',
    };
  }
  return { call: "cron", arguments: { action: "add", message: what, ...schedule } };
}

/** The local time of the runtime context, read as if it were UTC so that sums with it stay local. */
function localTime(context: string): number | undefined {
  const match = /^Current Time:.*?(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2})?)/m.exec(context);
  const time = match ? Date.parse(`${match[1]}T${match[2]}Z`) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function scheduleOf(when: When, now: number | undefined): JsonObject | undefined {
  if (when.kind === "every") return when.seconds > 0 ? { every_seconds: when.seconds } : undefined;
  if (now === undefined) return undefined;
  if (when.kind === "in") return { at: naive(now + when.seconds * 1_000) };
  const day = 86_400_000;
  const due = Math.floor(now / day) * day + (when.hour * 60 + when.minute) * 60_000;
  return { at: naive(due > now ? due : due + day) };
}

/** Without a zone: `cron` reads it as local. */
function naive(time: number): string {
  return new Date(time).toISOString().slice(0, 19);
}

function timeAnswer(context: string): string {
  const time = /^Current Time:\s*(.+)$/m.exec(context)?.[1];
  return time === undefined ? "I do not know the time: nobody told me." : `It is ${time.trim()}.`;
}

function code(text: string): string {
  const line = oneLine(text, 200);
  return line.includes("`") ? `"${line}"` : `\`${line}\``;
}

/** A block of code whose fence is longer than any in it. */
function quote(text: string): string {
  const shown = clip(text.trim(), LONGEST_QUOTE);
  const longest = Math.max(2, ...(shown.match(/`{3,}/g) ?? []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${shown}\n${fence}`;
}
