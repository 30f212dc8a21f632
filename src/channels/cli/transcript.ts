/** Shows what the agent publishes: answers on stdout, everything else on stderr, each text exactly once. */

import type { FinalMessage, InboundId, OutboundMessage } from "../../core/messages.ts";
import type { Terminal } from "../../core/platform.ts";
import { oneLine, stripControls, wellFormed } from "../../lib/text.ts";
import { createBlockSplitter, createLineSplitter, type Splitter } from "./blocks.ts";
import { columnsOf, type Screen, type Stream } from "./screen.ts";
import { dim, red } from "./style.ts";

export interface TranscriptOptions {
  readonly terminal: Terminal;
  readonly screen: Screen;
  /** `stream` shows an answer as it comes, `whole` when it is there; `none` leaves it to the caller. */
  readonly answers: "stream" | "whole" | "none";
  readonly markdown: boolean;
  /** Whether the user wants colour; a stream that is not a terminal never gets any. */
  readonly color: boolean;
  /** Where notices and errors go. */
  readonly asides: Stream;
}

export interface Transcript {
  show(message: OutboundMessage): void;
  /** A sentence of the program itself. */
  say(text: string): void;
  /** The end of what is held back of the latest stream, fit for a terminal; it will be shown for good later. */
  pending(): string;
  /** Shows what is held back because its line or block is not complete. */
  end(): void;
}

/** What a turn streamed so far. `segment` is the text since the last time tools ran. */
interface Flow {
  segment: string;
  readonly splitter: Splitter;
}

/** A preview shows a few rows: a block that grows long is not cleaned as a whole each time. */
const PENDING_STEP = 4_096;

/** Untrusted text, fit for a terminal. */
function clean(text: string): string {
  return wellFormed(stripControls(text));
}

/** A tool call on one line. */
export function hintText(content: string): string {
  return oneLine(content, 200);
}

function withoutOuterNewlines(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === "\n") start += 1;
  while (end > start && text[end - 1] === "\n") end -= 1;
  return text.slice(start, end);
}

/** What a message carries beside its text. */
function attachments({ media, buttons }: FinalMessage): string {
  const files = media.map(({ path }) => `📎 ${oneLine(path, 4_096)}\n`);
  const rows = (buttons ?? []).map(
    (row) => `${row.map(({ label }) => `[${oneLine(label, 100)}]`).join(" ")}\n`,
  );
  return [...files, ...rows].join("");
}

/** What streamed by may have begun with thoughts that nobody could tell from the answer. */
function wasShown(flow: Flow | undefined, content: string): boolean {
  const answer = content.trim();
  return answer === "" ? flow?.segment.trim() === "" : flow?.segment.trim().endsWith(answer) === true;
}

export function createTranscript(options: TranscriptOptions): Transcript {
  const { terminal, screen, answers, asides } = options;
  const outColor = options.color && terminal.stdoutIsTty;
  const asideColor = options.color && (asides === "out" ? terminal.stdoutIsTty : terminal.stderrIsTty);
  const markdown = options.markdown && terminal.stdoutIsTty;
  const flows = new Map<InboundId, Flow>();
  const thoughts = createLineSplitter();
  let latest: Flow | undefined;
  let afterBlock = false;

  function print(text: string, stream: Stream): void {
    if (text === "") return;
    afterBlock = false;
    screen.print(text, stream);
  }

  function printMarkdown(source: string): void {
    const columns = columnsOf(terminal);
    const rendered = withoutOuterNewlines(terminal.renderMarkdown(source, { color: outColor, columns }));
    // Some Markdown shows nothing, a link's definition for one: what the model wrote is shown all the same.
    const shown = stripControls(rendered).trim() === "" ? source.trim() : rendered;
    if (shown === "") return;
    print(`${afterBlock ? "\n" : ""}${shown}`, "out");
    afterBlock = true;
  }

  function printAnswer(text: string): void {
    if (markdown) printMarkdown(clean(text));
    else print(clean(text), "out");
  }

  function flowOf(turn: InboundId): Flow {
    const known = flows.get(turn);
    if (known !== undefined) return known;
    const flow = { segment: "", splitter: markdown ? createBlockSplitter() : createLineSplitter() };
    flows.set(turn, flow);
    return flow;
  }

  function flush(flow: Flow): void {
    for (const rest of flow.splitter.end()) printAnswer(rest);
  }

  function printAside(message: FinalMessage): void {
    const text = clean(message.content);
    print(message.outcome === "error" && text !== "" ? red(text, asideColor) : text, asides);
    print(attachments(message), asides);
  }

  /** The flow of a turn that this message ends. What a tool sends in the middle of a turn ends nothing. */
  function endedFlow({ turn, answers: answered }: FinalMessage): Flow | undefined {
    if (answered.length === 0) return undefined;
    const flow = flows.get(turn);
    flows.delete(turn);
    if (flow !== undefined) flush(flow);
    return flow;
  }

  function showFinal(message: FinalMessage): void {
    const flow = endedFlow(message);
    const reply = message.outcome === "answer" || message.outcome === "command";
    if (answers === "none") {
      if (message.answers.length === 0) printAside(message);
    } else if (reply) {
      // A command's reply is the program's own text, laid out in lines, and not Markdown.
      if (message.outcome === "command") print(clean(message.content), "out");
      else if (!wasShown(flow, message.content)) printAnswer(message.content);
      print(attachments(message), "out");
    } else {
      printAside(message);
    }
  }

  function showAside(text: string): void {
    if (terminal.stderrIsTty && text !== "") print(dim(text, asideColor), asides);
  }

  function showThought(text: string): void {
    for (const lines of thoughts.push(text)) print(dim(clean(lines), asideColor), asides);
  }

  /** The last line of a thought has no end of its own. */
  function endThought(): void {
    for (const line of thoughts.end()) print(dim(clean(line), asideColor), asides);
  }

  function showDelta(turn: InboundId, text: string): void {
    if (answers !== "stream") return;
    const flow = flowOf(turn);
    latest = flow;
    flow.segment += text;
    for (const piece of flow.splitter.push(text)) printAnswer(piece);
  }

  function endStream(turn: InboundId, resuming: boolean): void {
    const flow = flows.get(turn);
    if (flow === undefined) return;
    flush(flow);
    if (resuming) flow.segment = "";
  }

  return {
    show(message) {
      if (message.kind !== "reasoning") endThought();
      switch (message.kind) {
        case "reasoning":
          showThought(message.content);
          break;
        case "delta":
          showDelta(message.turn, message.content);
          break;
        case "streamEnd":
          endStream(message.turn, message.resuming);
          break;
        case "toolHint":
          showAside(`↳ ${hintText(message.content)}`);
          break;
        case "progress":
          showAside(clean(message.content).trim());
          break;
        case "final":
          showFinal(message);
          afterBlock = false;
      }
    },

    say(text) {
      print(dim(text, asideColor), asides);
    },

    pending() {
      const held = latest?.splitter.held() ?? "";
      // In steps, because rows that wrap from a start that moves with each delta would all move too.
      const start = Math.max(0, Math.floor(held.length / PENDING_STEP) - 1) * PENDING_STEP;
      return withoutOuterNewlines(clean(held.slice(start)));
    },

    end() {
      endThought();
      for (const flow of flows.values()) flush(flow);
    },
  };
}
