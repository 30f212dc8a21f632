/** Text that came from anywhere, made fit to store, send or show. Lengths are UTF-16 code units. */

/** Replaces lone surrogates, which JSON encoders pass on and strict servers refuse. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The beginning of `text`, at most `max` long, never ending inside a surrogate pair. */
export function head(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = max > 0 && isHighSurrogate(text.charCodeAt(max - 1)) ? max - 1 : max;
  return text.slice(0, Math.max(0, end));
}

/** The end of `text`, at most `max` long, never beginning inside a surrogate pair. */
export function tail(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = text.length - max;
  return text.slice(max > 0 && isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start);
}

/** At most `max` long; what was cut shows as an ellipsis. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${head(text, Math.max(0, max - 1))}…`;
}

/**
 * The beginning and the end of a text that is longer than `max`, with `marker(cut)` between them, where
 * `cut` is the number of code units left out. The whole is at most `max` long if the marker fits.
 */
export function headTail(text: string, max: number, marker: (cut: number) => string): string {
  if (text.length <= max) return text;
  const room = Math.max(0, max - marker(text.length).length);
  const first = head(text, Math.ceil(room / 2));
  const last = tail(text, Math.floor(room / 2));
  return first + marker(text.length - first.length - last.length) + last;
}

// ESC sequences first, whole, so that their printable rest goes too: CSI, then OSC, DCS, SOS, PM and APC
// up to their terminator or the end of the line, then two-character escapes. Last the single controls, C1
// and bidi overrides.
const controls =
  /\x1b\[[0-?]*[ -/]*[@-~]?|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/** Removes what could steer a terminal or reorder a line. Newlines and tabs stay; CRLF becomes LF. */
export function stripControls(text: string): string {
  return text.replace(controls, "");
}

/** One line for people: white space folded, controls gone, at most `max` long. */
export function oneLine(text: string, max: number): string {
  return clip(
    stripControls(head(text, max * 4))
      .replace(/\s+/g, " ")
      .trim(),
    max,
  );
}

const VISIBLE = /[^\s\p{Cf}\u115f\u1160\u3164\uffa0\u2800]/u;

/** Whether anybody would see anything of it. */
export function isVisible(text: string): boolean {
  return VISIBLE.test(text);
}
