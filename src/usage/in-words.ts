/** What models used, in a few lines for a chat. */

import type { UsageStore, UsageTotals } from "../core/usage.ts";
import { never } from "../lib/abort.ts";

const DAY_MS = 24 * 60 * 60_000;
const SESSION_DAYS = 30;

const count = new Intl.NumberFormat("en");
const dollars = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 4 });

/** `12 calls, 34,567 tokens in (20,000 cached), 1,234 out, $0.12` */
function inWords({ calls, input, cached, output, cost, estimated, unpriced }: UsageTotals): string {
  const about = estimated > 0 ? "about " : "";
  const price = cost === undefined ? "" : `, ${unpriced > 0 ? "at least " : ""}$${dollars.format(cost)}`;
  const fromCache = cached > 0 ? ` (${count.format(cached)} cached)` : "";
  const noun = calls === 1 ? "call" : "calls";
  return `${count.format(calls)} ${noun}, ${about}${count.format(input)} tokens in${fromCache}, ${count.format(output)} out${price}`;
}

/** Of one session and of all of them, up to `now`. Throws a `UserError` when the record cannot be read. */
export async function usageInWords(store: UsageStore, sessionKey: string, now: number): Promise<string> {
  await store.flush();
  const since = now - SESSION_DAYS * DAY_MS;
  const bySession = await store.summarise({ by: "session", since, signal: never });
  const own = bySession.groups.find(({ name }) => name === sessionKey);
  const today = await store.summarise({ by: "session", since: now - DAY_MS, signal: never });
  return [
    `This session, ${SESSION_DAYS} days: ${own === undefined ? "nothing yet" : inWords(own)}`,
    `All sessions, 24 hours: ${today.total.calls === 0 ? "nothing yet" : inWords(today.total)}`,
  ].join("\n");
}
