/** Decides whether the owner hears of what a heartbeat came to. Whatever goes wrong on the way means silence. */

import { Buffer } from "node:buffer";
import type { FindOwner } from "../core/access.ts";
import type { InboundMessage } from "../core/messages.ts";
import type { Clock, FileSystem, Log } from "../core/platform.ts";
import type { BackgroundResult, Route, RouteTarget } from "../core/schedule.ts";
import { problemOf } from "../lib/phrases.ts";
import { isVisible } from "../lib/text.ts";
import { folded } from "./heartbeat-lines.ts";
import type { HeartbeatModel } from "./heartbeat-questions.ts";
import { isSilent } from "./heartbeat-silence.ts";
import type { StateFile } from "./heartbeat-state.ts";
import { createWorkspaceText } from "./workspace-text.ts";

/** How long the same news is none. */
const SAME_NEWS_MS = 24 * 60 * 60_000;
/** Of `prompts/evaluator.md`: what is taken of it is counted in characters. */
const LONGEST_INSTRUCTIONS = 128 * 1024;

export interface HeartbeatRouteOptions {
  readonly files: FileSystem;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  /** Absolute and real. */
  readonly workspace: string;
  readonly state: StateFile;
  readonly model: () => Promise<HeartbeatModel>;
  readonly findOwner: FindOwner;
}

/** The same for texts that differ in nothing but case, white space and markup. */
async function digestOf(text: string): Promise<string> {
  const bare = folded(text)
    .replace(/^[ \t]*(?:[>#*+-]+[ \t]+)+/gm, "")
    .replace(/[*_~`\\]/g, "")
    .replace(/\s+/g, " ")
    .trim();
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(bare));
  return Buffer.from(bytes).toString("hex");
}

export function createHeartbeatRoute(options: HeartbeatRouteOptions): Route {
  const { files, clock, log, workspace, state, model, findOwner } = options;
  const ownInstructions = createWorkspaceText({
    files,
    workspace,
    name: "prompts/evaluator.md",
    longest: LONGEST_INSTRUCTIONS,
  });
  let isMissedOwner = false;

  /** The owner's, in the place of ours. */
  async function instructions(): Promise<string | undefined> {
    try {
      const found = await ownInstructions();
      return found !== undefined && isVisible(found.text) ? found.text : undefined;
    } catch (error) {
      log.warn("Left the owner's instructions for the heartbeat out", { problem: problemOf(error) });
      return undefined;
    }
  }

  async function owner(): Promise<RouteTarget | undefined> {
    const found = await findOwner();
    if (found === undefined && !isMissedOwner) {
      log.warn(
        "The heartbeat has news and nobody to tell: set gateway.owner, or write to the agent from a private chat",
      );
    }
    isMissedOwner = found === undefined;
    return found;
  }

  async function isWorthTelling(
    { id, content, sessionKey, origin }: InboundMessage,
    reply: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { askWhetherToTell } = await import("./heartbeat-questions.ts");
    const answer = await askWhetherToTell(
      { task: content, reply, instructions: await instructions() },
      { model: await model(), caller: { sessionKey, origin, turn: id }, signal },
    );
    if (!answer.ok) {
      if (!signal.aborted)
        log.warn("Nobody judged what the heartbeat came to, so nobody hears of it", {
          turn: id,
          problem: answer.problem,
        });
      return false;
    }
    const { should_notify, reason } = answer.value;
    log.info("What the heartbeat came to was judged", { turn: id, tell: should_notify, reason });
    return should_notify;
  }

  async function decide(
    inbound: InboundMessage,
    { outcome, content }: BackgroundResult,
    signal: AbortSignal,
  ): Promise<RouteTarget | undefined> {
    const turn = inbound.id;
    // Of money and credentials the owner hears from the pause of the background.
    if (outcome === "error") {
      log.warn("The heartbeat failed", { turn, problem: content });
      return undefined;
    }
    if (isSilent(content)) return undefined;
    const digest = await digestOf(content);
    const { alert } = await state.get();
    if (alert?.digest === digest) {
      // The process ended between this decision and what came of it.
      if (alert.turn === turn) return { channel: alert.channel, chatId: alert.chatId };
      // A clock that was set makes the last news neither old nor new for ever.
      if (Math.abs(clock.now() - alert.at) < SAME_NEWS_MS) {
        log.info("The heartbeat has the same news as before", { turn });
        return undefined;
      }
    }
    const target = await owner();
    if (target === undefined || !(await isWorthTelling(inbound, content, signal))) return undefined;
    const { channel, chatId } = target;
    await state.update({ alert: { turn, digest, at: clock.now(), channel, chatId } });
    return { channel, chatId };
  }

  return async (inbound, result, signal) => {
    try {
      return await decide(inbound, result, signal);
    } catch (error) {
      log.error("Nobody hears of what the heartbeat came to", { turn: inbound.id, error });
      return undefined;
    }
  };
}
