/** Who hears of what a job's turn came to. */

import type { FindOwner } from "../core/access.ts";
import type { InboundMessage } from "../core/messages.ts";
import type { Log } from "../core/platform.ts";
import type { BackgroundResult, Job, Route, RouteTarget } from "../core/schedule.ts";
import { jobFailed, NOTHING_TO_SAY, reminderFailed } from "../lib/phrases.ts";
import { isVisible } from "../lib/text.ts";
import { slotOf } from "./job-message.ts";
import type { JobsStore } from "./jobs.ts";

export interface JobRouteOptions {
  readonly jobs: Pick<JobsStore, "current">;
  readonly log: Log;
  readonly findOwner: FindOwner;
  /** Whether messages can be sent by a channel of this name here. */
  readonly isChannel: (name: string) => boolean;
}

/** Models put their words in bold, or in quotes. */
function saysNothing(content: string): boolean {
  return !isVisible(content) || content.replace(/[\s*_`"'.[\]()]/g, "") === NOTHING_TO_SAY.replace(/_/g, "");
}

/** Of a job that comes again, the first of several failures is told, and not each. */
function failedBefore({ runs }: Job, slotMs: number): boolean {
  return runs.findLast(({ status, runAtMs }) => status !== "skipped" && runAtMs < slotMs)?.status === "error";
}

export function createJobRoute({ jobs, log, findOwner, isChannel }: JobRouteOptions): Route {
  async function ownersChat(inbound: InboundMessage): Promise<RouteTarget | undefined> {
    try {
      const owner = await findOwner();
      if (owner !== undefined) return owner;
      log.warn("Nobody is told what a job came to: no chat of the owner is known", { job: inbound.id });
    } catch (error) {
      log.warn("Nobody is told what a job came to: the owner's chat was not found", {
        job: inbound.id,
        error,
      });
    }
    return undefined;
  }

  function failure(job: Job, inbound: InboundMessage, { content }: BackgroundResult): string | undefined {
    if (job.schedule.kind === "at") return reminderFailed(job.name, job.message, content);
    const slotMs = slotOf(inbound.id)?.slotMs ?? Number.POSITIVE_INFINITY;
    return failedBefore(job, slotMs) ? undefined : jobFailed(job.name, content);
  }

  return async (inbound, result) => {
    // As it was when the turn began, so that a job that is removed meanwhile still answers.
    const isWanted = inbound.metadata["deliver"] === true;
    const isAnswer = result.outcome === "answer";
    if (isAnswer && (!isWanted || saysNothing(result.content))) return undefined;
    const job = (await jobs.current()).jobs.find(({ id }) => id === inbound.metadata["job"]);
    // What comes again is seen in the list; a job of one time is disabled now, and nobody would look.
    if (!isWanted && job?.schedule.kind !== "at") return undefined;
    const content = isAnswer || job === undefined ? result.content : failure(job, inbound, result);
    if (content === undefined) return undefined;
    const { channel, chatId, thread, metadata } = inbound;
    if (!isChannel(channel)) {
      const owner = await ownersChat(inbound);
      return owner && { ...owner, content };
    }
    const { sessionKey } = metadata;
    return {
      channel,
      chatId,
      ...(thread === undefined ? {} : { thread }),
      ...(typeof sessionKey === "string" ? { sessionKey } : {}),
      content,
    };
  };
}
