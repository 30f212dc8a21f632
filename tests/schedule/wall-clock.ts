/** The clock on the wall of a time zone and what a schedule means by it, worked out minute by minute: slow, and beyond doubt. */

const MINUTE = 60_000;

const known = new Map<string, Map<number, number>>();

/** Local time as if it were UTC, for whole minutes. Offsets change at whole minutes, so one look in 15 of them is enough. */
function createWall(timeZone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
  const offsets = known.get(timeZone) ?? new Map<number, number>();
  known.set(timeZone, offsets);
  let quarter = Number.NaN;
  let offset = 0;
  return (ms) => {
    const current = Math.floor(ms / (15 * MINUTE)) * 15 * MINUTE;
    if (current !== quarter) {
      quarter = current;
      offset = offsets.get(quarter) ?? Date.parse(`${format.format(quarter).replace(" ", "T")}Z`) - quarter;
      offsets.set(quarter, offset);
    }
    return ms + offset;
  };
}

/** The minutes from which on the clock is another number of minutes off UTC. */
export function clockChanges(timeZone: string, from: number, until: number): number[] {
  const wallOf = createWall(timeZone);
  const changes: number[] = [];
  for (let ms = from; ms < until; ms += 15 * MINUTE)
    if (wallOf(ms) - ms !== wallOf(ms - 15 * MINUTE) - (ms - 15 * MINUTE)) changes.push(ms);
  return changes;
}

export interface Fields {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** `undefined` is every day. */
  readonly days?: readonly number[];
  readonly weekdays?: readonly number[];
}

function matchesDay(wall: Date, { days, weekdays }: Fields): boolean {
  const isDay = days?.includes(wall.getUTCDate());
  const isWeekday = weekdays?.includes(wall.getUTCDay());
  // Either counts where both are said.
  if (isDay !== undefined && isWeekday !== undefined) return isDay || isWeekday;
  return isDay ?? isWeekday ?? true;
}

function matches(wallMs: number, fields: Fields): boolean {
  const minutes = Math.floor(wallMs / MINUTE);
  return (
    fields.minutes.includes(minutes % 60) &&
    fields.hours.includes(Math.floor(minutes / 60) % 24) &&
    matchesDay(new Date(wallMs), fields)
  );
}

/** Every minute at which the wall shows a match: what "every" means. */
export function evenSlots(timeZone: string, fields: Fields, from: number, until: number): number[] {
  const wallOf = createWall(timeZone);
  const slots: number[] = [];
  for (let ms = from; ms < until; ms += MINUTE) if (matches(wallOf(ms), fields)) slots.push(ms);
  return slots;
}

/**
 * Each match of the wall's own days once: the first time that it is shown, and where it is left out, the minute in
 * which the clock is put forward over it.
 */
export function fixedSlots(timeZone: string, fields: Fields, from: number, until: number): number[] {
  const wallOf = createWall(timeZone);
  const slots: number[] = [];
  let latest = wallOf(from - MINUTE);
  for (let ms = from; ms < until; ms += MINUTE) {
    const wall = wallOf(ms);
    let isSlot = false;
    for (let shown = latest + MINUTE; shown <= wall; shown += MINUTE) isSlot ||= matches(shown, fields);
    if (isSlot) slots.push(ms);
    latest = Math.max(latest, wall);
  }
  return slots;
}
