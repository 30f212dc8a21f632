/** Terminal cells of a text, near enough for aligning: for runtimes that do not know them exactly. */

const styles = /\x1b\[[0-9;]*m/g;
const zeroWidth = /^[\p{M}\p{Cf}\p{Cc}]/u;
const emoji = /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\p{RI}\p{RI})/u;
// The wide and full-width blocks of Unicode's East Asian Width.
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;

/** Styles take no cell; what the eye sees as one character counts once. */
export function approximateWidth(text: string): number {
  let cells = 0;
  for (const { segment } of new Intl.Segmenter().segment(text.replace(styles, ""))) {
    if (zeroWidth.test(segment)) continue;
    cells += emoji.test(segment) || wide.test(segment) ? 2 : 1;
  }
  return cells;
}
