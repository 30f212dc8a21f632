/** `nanobot pairing`: who waits to be let in, and who was. */

import type { ApprovedSender, PendingPairing } from "../core/access.ts";
import { UserError } from "../core/errors.ts";
import { quote } from "../lib/file-error.ts";
import { nearest } from "../lib/nearest.ts";
import { safeJson } from "../lib/safe-json.ts";
import { showCode } from "../lib/show-code.ts";
import { oneLine } from "../lib/text.ts";
import { type CommandContext, defineCommand, type ExitCode, textOption } from "./command.ts";
import { masked } from "./masked.ts";

const LONGEST_CELL = 100;
const MINUTE_MS = 60_000;
const seeList = 'Run "nanobot pairing list" for those there are';

/** For people: nothing of it steers the terminal. */
function whoIs({ senderId, channel, displayName }: PendingPairing): string {
  const name = displayName === undefined ? "" : ` (${oneLine(displayName, LONGEST_CELL)})`;
  return `${oneLine(senderId, LONGEST_CELL)}${name} on ${oneLine(channel, LONGEST_CELL)}`;
}

function pendingCells(pending: PendingPairing, now: number): readonly string[] {
  const { code, channel, senderId, displayName = "", expiresAt } = pending;
  const minutes = Math.max(1, Math.ceil((Date.parse(expiresAt) - now) / MINUTE_MS));
  return ["waits", showCode(code), channel, senderId, displayName, `${minutes} min left`];
}

function approvedCells({ channel, senderId, approvedAt }: ApprovedSender): readonly string[] {
  const since = approvedAt === undefined ? "" : `since ${approvedAt.slice(0, 10)}`;
  return ["let in", "", channel, senderId, "", since];
}

function table(rows: readonly (readonly string[])[], width: (text: string) => number): string {
  const cells = rows.map((row) => row.map((cell) => oneLine(cell, LONGEST_CELL)));
  const widths =
    cells[0]?.map((_, column) => Math.max(...cells.map((row) => width(row[column] ?? "")))) ?? [];
  const padded = (cell: string, column: number) =>
    cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - width(cell)));
  return cells.map((row) => `${row.map(padded).join("  ").trimEnd()}\n`).join("");
}

async function list({ app, options }: CommandContext): Promise<ExitCode> {
  const { terminal, clock } = app.platform;
  const found = masked(await (await app.pairing()).list(), app.mask);
  if (options["json"] === true) {
    terminal.out(`${safeJson(found, 2)}\n`);
    return 0;
  }
  const { pending, approved } = found;
  const rows = [...pending.map((entry) => pendingCells(entry, clock.now())), ...approved.map(approvedCells)];
  if (rows.length === 0) terminal.err("Nobody waits to be let in, and nobody was let in by a code.\n");
  terminal.out(app.mask(table(rows, terminal.width)));
  return 0;
}

function unknownCode(code: string): UserError {
  return new UserError(`Nobody waits with the code ${quote(code)}`, {
    hint: `A code is good for 10 minutes and for one use. ${seeList}`,
  });
}

async function approve({ app, positionals }: CommandContext): Promise<ExitCode> {
  const [code = ""] = positionals;
  const somebody = await (await app.pairing()).approve(code);
  if (somebody === undefined) throw unknownCode(code);
  app.platform.terminal.out(app.mask(`Let in: ${whoIs(somebody)}\n`));
  return 0;
}

async function deny({ app, positionals }: CommandContext): Promise<ExitCode> {
  const [code = ""] = positionals;
  const somebody = await (await app.pairing()).deny(code);
  if (somebody === undefined) throw unknownCode(code);
  app.platform.terminal.out(app.mask(`Not let in: ${whoIs(somebody)}\n`));
  return 0;
}

async function revoke({ app, positionals, options }: CommandContext): Promise<ExitCode> {
  const [id = ""] = positionals;
  const channel = textOption(options, "channel");
  const pairing = await app.pairing();
  if (!(await pairing.revoke(id, channel))) {
    const { approved } = await pairing.list();
    const there = approved.filter((sender) => channel === undefined || sender.channel === channel);
    const meant = nearest(
      id,
      there.map(({ senderId }) => senderId),
    );
    const where = channel === undefined ? "" : ` on ${quote(channel)}`;
    throw new UserError(`Nobody called ${quote(id)} was let in by a code${where}`, {
      hint: meant === undefined ? seeList : `Did you mean ${quote(meant)}?`,
    });
  }
  app.platform.terminal.out(app.mask(`Not let in any more: ${oneLine(id, LONGEST_CELL)}\n`));
  return 0;
}

export const command = defineCommand({
  about: "Let people in who wrote to the agent and got a code",
  subcommands: {
    list: {
      about: "List who waits to be let in, and who was",
      options: { json: { type: "boolean", about: "print JSON" } },
      run: list,
    },
    approve: { about: "Let in whoever got this code", positionals: ["CODE"], ownerOnly: true, run: approve },
    deny: { about: "Refuse whoever got this code", positionals: ["CODE"], ownerOnly: true, run: deny },
    revoke: {
      about: "Let somebody in no more",
      positionals: ["ID"],
      options: { channel: { type: "string", value: "NAME", about: "only on this channel" } },
      ownerOnly: true,
      run: revoke,
    },
  },
});
