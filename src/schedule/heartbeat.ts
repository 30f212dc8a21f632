/** The heartbeat: looks from time to time whether one of the owner's tasks is due, and begins a turn for it. */

import type { FindOwner } from "../core/access.ts";
import type { BackgroundPause } from "../core/background.ts";
import type { Bus } from "../core/bus.ts";
import type { TurnEnded } from "../core/events.ts";
import { type InboundId, type InboundMessage, NOWHERE } from "../core/messages.ts";
import type { Clock, FileSystem, Log } from "../core/platform.ts";
import type { BeatResult, Route } from "../core/schedule.ts";
import { heartbeatTurn, problemOf, restOfHeartbeat } from "../lib/phrases.ts";
import { clip } from "../lib/text.ts";
import type { HeartbeatModel } from "./heartbeat-questions.ts";
import { createHeartbeatRoute } from "./heartbeat-route.ts";
import { createStateFile } from "./heartbeat-state.ts";
import { tasksOf } from "./heartbeat-tasks.ts";
import { firstDelay, nextBeat } from "./heartbeat-times.ts";
import { createWorkspaceText, type WorkspaceText } from "./workspace-text.ts";

const FILE = "HEARTBEAT.md";
const LONGEST_KIB = 64;
const SESSION = "heartbeat";
/** Of what the model says is due, in characters. */
const LONGEST_DUE = 4_000;

export interface HeartbeatOptions {
  readonly files: FileSystem;
  readonly clock: Clock;
  readonly log: Log;
  /** Absolute and real. */
  readonly workspace: string;
  /** HEARTBEAT.md as it comes with the program. */
  readonly template: () => Promise<string | undefined>;
  readonly bus: Pick<Bus, "publishInbound" | "isPending">;
  readonly model: () => Promise<HeartbeatModel>;
  readonly findOwner: FindOwner;
  /** At least a second. */
  readonly intervalMs: number;
  readonly pause: BackgroundPause;
  /** The agent's. Asked when a model is: what a runtime knows of zones costs megabytes. */
  readonly timeZone: () => string;
}

export interface Heartbeat {
  /** Beats until `signal` aborts, and resolves then. */
  run(signal: AbortSignal): Promise<void>;
  /** Beats now. Rejects when the bus does. */
  now(signal: AbortSignal): Promise<BeatResult>;
  /** Of origin `heartbeat`. */
  readonly route: Route;
  turnEnded(event: TurnEnded): void;
}

export function createHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { files, clock, log, workspace, template, bus, model, findOwner, intervalMs, pause, timeZone } =
    options;
  const state = createStateFile({ files, log, clock, workspace });
  const read = createWorkspaceText({ files, workspace, name: FILE, longest: LONGEST_KIB * 1024 });
  let known: { readonly of: WorkspaceText; readonly tasks: string } | undefined;
  let isBeating = false;

  async function templateText(): Promise<string | undefined> {
    try {
      return await template();
    } catch (error) {
      log.warn("The template of HEARTBEAT.md cannot be read, so its lines may count as tasks", { error });
      return undefined;
    }
  }

  function listed({ text, isCut }: WorkspaceText, ofTemplate: string | undefined): string {
    // The last line is cut too.
    const whole = isCut ? text.slice(0, text.lastIndexOf("\n") + 1) || text : text;
    const tasks = tasksOf(whole, ofTemplate);
    if (!isCut) return tasks.join("\n");
    log.warn("HEARTBEAT.md is too long, and only its beginning counts", { kibibytes: LONGEST_KIB });
    return tasks.length === 0 ? "" : [...tasks, "", restOfHeartbeat(LONGEST_KIB)].join("\n");
  }

  /** "" when there are none. */
  async function currentTasks(): Promise<string> {
    const text = await read();
    if (text === undefined) return "";
    if (known?.of !== text) known = { of: text, tasks: listed(text, await templateText()) };
    return known.tasks;
  }

  async function look(signal: AbortSignal): Promise<BeatResult> {
    const tasks = await currentTasks();
    if (tasks === "") return { kind: "no tasks" };
    const leftMs = pause.leftMs();
    if (leftMs > 0) return { kind: "paused", leftMs };
    const { turn } = await state.get();
    if (turn !== undefined && bus.isPending(turn)) return { kind: "running already" };
    const now = clock.now();
    const id = `heartbeat:${now}` as InboundId;
    // Before anything is paid for: a beat that ends the process is not made again at once by the next.
    await state.update({ beatAt: now });
    const chosen = await model();
    const { askWhetherDue, fitted } = await import("./heartbeat-questions.ts");
    const caller = { sessionKey: SESSION, origin: "heartbeat", turn: id } as const;
    const answer = await askWhetherDue(
      { tasks, now, timeZone: timeZone() },
      { model: chosen, caller, signal },
    );
    if (!answer.ok) {
      if (!signal.aborted)
        log.warn("Nobody decided what of the heartbeat is due, so nothing is done", {
          problem: answer.problem,
        });
      return { kind: "undecided", problem: answer.problem };
    }
    if (answer.value.action === "skip") return { kind: "skipped" };
    const due = clip(answer.value.tasks?.trim() ?? "", LONGEST_DUE) || undefined;
    await state.update({ turn: id });
    const content = heartbeatTurn(fitted(tasks, chosen.promptTokens / 4), due);
    const isNew = await bus.publishInbound(messageOf(id, { now, content }), signal);
    return { kind: isNew ? "begun" : "running already" };
  }

  async function beat(signal: AbortSignal): Promise<BeatResult> {
    if (isBeating) return { kind: "running already" };
    isBeating = true;
    try {
      return await look(signal);
    } finally {
      isBeating = false;
    }
  }

  return {
    async run(signal) {
      const { beatAt } = await state.get();
      let due = clock.elapsed() + firstDelay(beatAt, { now: clock.now(), intervalMs });
      while (!signal.aborted) {
        try {
          await clock.sleep(Math.max(0, due - clock.elapsed()), signal);
          log.debug("The heartbeat has looked at its tasks", { result: (await beat(signal)).kind });
        } catch (error) {
          if (!signal.aborted) log.error("The heartbeat missed a beat", { problem: problemOf(error), error });
        }
        due = nextBeat(due, { elapsed: clock.elapsed(), intervalMs });
      }
    },

    now: beat,

    route: createHeartbeatRoute({ files, clock, log, workspace, state, model, findOwner }),

    turnEnded({ inboundId, status, durationMs }) {
      log.info("A turn of the heartbeat ended", { turn: inboundId, status, durationMs });
    },
  };
}

function messageOf(id: InboundId, { now, content }: { now: number; content: string }): InboundMessage {
  return {
    id,
    kind: "message",
    channel: NOWHERE,
    senderId: "heartbeat",
    chatId: "",
    content,
    media: [],
    timestamp: new Date(now).toISOString(),
    origin: "heartbeat",
    sessionKey: SESSION,
    metadata: {},
  };
}
