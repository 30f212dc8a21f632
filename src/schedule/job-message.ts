/** The message by which a job's time enters the bus, and the id that makes each slot run once. */

import { type InboundId, type InboundMessage, NOWHERE } from "../core/messages.ts";
import type { Job } from "../core/schedule.ts";
import { jobDue } from "../lib/phrases.ts";
import { showMoment } from "../lib/zoned-time.ts";

const SOURCE = "cron";
const MINUTE_MS = 60_000;
/** Sooner, nobody would call it late. */
const LATE_MINUTES = 5;

export function sessionOf(jobId: string): string {
  return `${SOURCE}:${jobId}`;
}

export function slotId(jobId: string, slotMs: number): InboundId {
  return `${SOURCE}:${jobId}:${slotMs}` as InboundId;
}

/** `undefined` for an id of another source. Ids of jobs may hold colons. */
export function slotOf(id: InboundId): { readonly jobId: string; readonly slotMs: number } | undefined {
  const [, jobId, slot] = /^cron:(.+):(-?\d{1,16})$/s.exec(id) ?? [];
  return jobId === undefined ? undefined : { jobId, slotMs: Number(slot) };
}

function replyOf({ deliver, schedule }: Job): Parameters<typeof jobDue>[0]["reply"] {
  if (!deliver) return "nobody";
  // A reminder always has something to say.
  return schedule.kind === "at" ? "always" : "unless nothing";
}

export function jobMessage(
  job: Job,
  slotMs: number,
  { nowMs, timeZone }: { readonly nowMs: number; readonly timeZone: string },
): InboundMessage {
  const { id, name, message, deliver, to } = job;
  const place = deliver && to !== undefined ? to : { channel: NOWHERE, chatId: "" };
  const minutes = Math.floor((nowMs - slotMs) / MINUTE_MS);
  return {
    id: slotId(id, slotMs),
    kind: "message",
    channel: place.channel,
    chatId: place.chatId,
    ...(place.thread === undefined ? {} : { thread: place.thread }),
    senderId: SOURCE,
    content: jobDue({
      name,
      message,
      dueAt: showMoment(slotMs, timeZone),
      minutesLate: minutes < LATE_MINUTES ? 0 : minutes,
      reply: replyOf(job),
    }),
    media: [],
    timestamp: new Date(nowMs).toISOString(),
    origin: "cron",
    sessionKey: sessionOf(id),
    metadata: { job: id, deliver, ...(to?.sessionKey === undefined ? {} : { sessionKey: to.sessionKey }) },
  };
}
