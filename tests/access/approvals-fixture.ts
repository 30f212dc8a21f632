/** What tests of questions to the owner share: a bus that keeps notices, and processes that follow one another. */

import { createDurableApprovals, type DurableApprovalsOptions } from "../../src/access/durable-approvals.ts";
import type { Chat } from "../../src/core/access.ts";
import type { Answerer, ApprovalQuestion, Approvals } from "../../src/core/approval.ts";
import type { Button } from "../../src/core/messages.ts";
import { never } from "../../src/lib/abort.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";
import { testRun } from "../fakes/toolbox.ts";
import { readState, realFiles } from "./fixture.ts";

export const MINUTE = 60_000;
export const home: Chat = { channel: "telegram", chatId: "1" };
export const me: Answerer = { ...home, senderId: "1|alice" };
export const byMe = "telegram:1|alice";

export function question(given: Partial<ApprovalQuestion> = {}): ApprovalQuestion {
  return {
    id: "call_a_1_0",
    tool: "exec",
    what: "rm -r build",
    reason: "it deletes",
    run: testRun(),
    ...given,
  };
}

interface Notice {
  readonly chat: Chat;
  readonly text: string;
  readonly buttons: readonly (readonly Button[])[];
  readonly key: string;
}

/** What a durable bus keeps of notices, over all processes: each key once. */
export function createNotices() {
  const notices: Notice[] = [];
  const waiters: { count: number; resolve: () => void }[] = [];
  return {
    all: notices,
    put: async (chat: Chat, text: string, buttons: Notice["buttons"], key: string): Promise<void> => {
      if (!notices.some((notice) => notice.key === key)) notices.push({ chat, text, buttons, key });
      for (const { count, resolve } of waiters) if (notices.length >= count) resolve();
    },
    /** Resolves when that many were put. */
    reach(count: number): Promise<void> {
      if (notices.length >= count) return Promise.resolve();
      return new Promise((resolve) => waiters.push({ count, resolve }));
    },
    codeOf: (at: number) => /\/approve (\w{4}-\w{4})/.exec(notices.at(at)?.text ?? "")?.[1] ?? "",
  };
}

export async function setUp(
  options: Partial<DurableApprovalsOptions> & {
    notices?: ReturnType<typeof createNotices>;
    clock?: ReturnType<typeof createFakeClock>;
  } = {},
) {
  const { notices = createNotices(), clock = createFakeClock(), ...rest } = options;
  const workspace = options.workspace ?? tempFolder();
  const log = createFakeLog();
  const approvals = await createDurableApprovals({
    files: realFiles,
    log,
    owner: async () => home,
    approvers: [],
    put: notices.put,
    mask: (text) => text,
    ...rest,
    clock,
    workspace,
  });
  return { approvals, notices, clock, log, workspace, text: () => readState(workspace, "approvals.json") };
}

/** Another process of the same workspace, after the one before was killed. */
export function restart(
  { workspace, notices, clock }: Awaited<ReturnType<typeof setUp>>,
  options: object = {},
) {
  return setUp({ workspace, notices, clock, ...options });
}

/** Asks in a process that is about to be killed: nobody waits for what comes of it. */
export function askInVain(approvals: Approvals, given: Partial<ApprovalQuestion> = {}): void {
  void approvals.ask(question(given), never);
}
