/** Whether a gateway runs for this workspace, for commands that only tell. */

import * as v from "valibot";
import type { App } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import { oneLine } from "../lib/text.ts";

const LONGEST_PROBLEM = 200;

const answer = v.object({
  version: v.string(),
  pid: v.number(),
  startedAt: v.string(),
  address: v.string(),
  journal: v.nullable(v.string()),
  outbox: v.number(),
});

export type GatewayStatus = Awaited<ReturnType<typeof gatewayStatus>>;

export async function gatewayStatus(app: Pick<App, "askGateway">, signal: AbortSignal) {
  try {
    const found = await app.askGateway("status", {}, signal);
    if (!found.running) return { running: false } as const;
    return { running: true, ...v.parse(answer, found.value) } as const;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { running: false, problem: error.message } as const;
  }
}

/** One line. */
export function describeGateway(status: GatewayStatus): string {
  if (!status.running) {
    return "problem" in status ? `✗ ${oneLine(status.problem, LONGEST_PROBLEM)}` : "not running";
  }
  const { address, pid, startedAt, journal, outbox } = status;
  const waiting = outbox === 0 ? "" : `, ${outbox} not delivered`;
  const wrong = journal === null ? "" : ` ✗ ${oneLine(journal, LONGEST_PROBLEM)}`;
  return `running at ${oneLine(address, LONGEST_PROBLEM)} (pid ${pid}, since ${oneLine(startedAt, 40)}${waiting})${wrong}`;
}
