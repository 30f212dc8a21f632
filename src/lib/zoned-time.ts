/** Moments as people write and read them: the clock on the wall of a time zone. */

/** Farther than any zone is off UTC. */
const DAY_MS = 24 * 60 * 60_000;

/** Since 1970 no clock was ever changed but at the full quarter. */
const QUARTER_MS = 15 * 60_000;

interface Zone {
  readonly format: Intl.DateTimeFormat;
  /** By quarter of an hour, off UTC. */
  readonly offsets: Map<number, number>;
}

const zones = new Map<string, Zone>();
/** Formats are costly to make, and offsets to ask for. Zones come from people, so that there may be any number of them. */
const MOST_ZONES = 20;
const MOST_OFFSETS = 1_000;

/** Throws a `RangeError` for a zone that there is not. */
function zoneOf(timeZone: string): Zone {
  const known = zones.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-u-ca-gregory-nu-latn", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  const zone = { format, offsets: new Map<number, number>() };
  if (zones.size >= MOST_ZONES) zones.clear();
  zones.set(timeZone, zone);
  return zone;
}

function partsOf(ms: number, timeZone: string): Readonly<Record<string, string>> {
  const parts = zoneOf(timeZone).format.formatToParts(ms);
  return Object.fromEntries(parts.map(({ type, value }) => [type, value]));
}

/** What the clock on the wall shows, to the second, as if it were UTC's. */
export function wallOf(ms: number, timeZone: string): number {
  const { offsets } = zoneOf(timeZone);
  const quarter = Math.floor(ms / QUARTER_MS) * QUARTER_MS;
  let offset = offsets.get(quarter);
  if (offset === undefined) {
    offset = shownAt(quarter, timeZone) - quarter;
    if (offsets.size >= MOST_OFFSETS) offsets.clear();
    offsets.set(quarter, offset);
  }
  return Math.floor((ms + offset) / 1_000) * 1_000;
}

function shownAt(ms: number, timeZone: string): number {
  const { year, month, day, hour, minute, second } = partsOf(ms, timeZone);
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
}

export function isTimeZone(name: string): boolean {
  // Intl takes offsets too, which know no summer time, and which others who read our files do not take.
  if (/^[+-]/.test(name)) return false;
  try {
    zoneOf(name);
    return true;
  } catch {
    // A RangeError is how Intl says that it does not know the zone.
    return false;
  }
}

/** As in `2026-11-30 09:00 (Europe/Berlin)`, with seconds where there are some. */
export function showMoment(ms: number, timeZone: string): string {
  const { year, month, day, hour, minute, second } = partsOf(ms, timeZone);
  const seconds = second === "00" ? "" : `:${second}`;
  return `${year}-${month}-${day} ${hour}:${minute}${seconds} (${timeZone})`;
}

/**
 * The moment at which the wall shows `wall`, as `wallOf` gives it: of two the first, and for a time that is left out,
 * because the clock is put forward, the moment of that.
 */
export function momentOf(wall: number, timeZone: string): number {
  const offsets = [wall - DAY_MS, wall + DAY_MS].map((ms) => wallOf(ms, timeZone) - ms);
  const moments = offsets.map((offset) => wall - offset);
  const shown = moments.filter((ms) => wallOf(ms, timeZone) === wall);
  if (shown.length > 0) return Math.min(...shown);
  let before = Math.min(...moments);
  let behind = Math.max(...moments);
  while (behind - before > 1_000) {
    const middle = before + Math.floor((behind - before) / 2_000) * 1_000;
    if (wallOf(middle, timeZone) < wall) before = middle;
    else behind = middle;
  }
  return behind;
}

const MOMENT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?\s?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * ISO 8601, to the second: with an offset or `Z` that moment, without in `timeZone`, and a day alone is its midnight
 * there. `undefined` for anything else, and for days and times that no calendar has.
 */
export function parseMoment(text: string, timeZone: string): number | undefined {
  const match = MOMENT.exec(text.trim());
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const wall = Date.UTC(year, month - 1, day, hour, minute, second);
  const written = [year, month, day, hour, minute, second].join();
  const date = new Date(wall);
  const read = [
    date.getUTCFullYear(),
    date.getUTCMonth() + 1,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  ].join();
  // The 30th of February would be a day of March.
  if (read !== written) return undefined;
  const offset = match[7]?.toUpperCase();
  if (offset === undefined) return momentOf(wall, timeZone);
  if (offset === "Z") return wall;
  const [hours, minutes] = [Number(offset.slice(1, 3)), Number(offset.slice(-2))];
  if (hours > 23 || minutes > 59) return undefined;
  const ms = (hours * 60 + minutes) * 60_000;
  return offset.startsWith("-") ? wall + ms : wall - ms;
}
