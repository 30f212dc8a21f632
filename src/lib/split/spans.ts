/** Where a text must not be cut if it can be helped: inside bold, inline code or a link. */

const TOKEN = /\\.|`+|\*\*|__|~~|\|\||[*_[\]()]|\n[ \t]*\n/gs;
const MARKS: ReadonlySet<string> = new Set(["**", "__", "~~", "||", "*", "_"]);

/** One entry for each place between two characters: 1 where a span goes over it. */
export function inlineSpans(text: string): Uint8Array {
  const covered = new Uint8Array(text.length + 1);
  const cover = (from: number, to: number) => covered.fill(1, from + 1, to);
  const open = new Map<string, number>();
  const brackets: number[] = [];
  let code: { readonly marks: string; readonly at: number } | undefined;
  let label: number | undefined;
  let address: number | undefined;

  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const end = index + token.length;
    if (token.startsWith("\n")) {
      open.clear();
      brackets.length = 0;
      code = undefined;
      label = undefined;
      address = undefined;
    } else if (token.startsWith("`")) {
      if (code === undefined) code = { marks: token, at: index };
      else if (code.marks === token) {
        cover(code.at, end);
        code = undefined;
      }
    } else if (token === "[") {
      brackets.push(index);
    } else if (token === "]") {
      label = brackets.pop();
      if (label !== undefined && text[end] !== "(") {
        cover(label, end);
        label = undefined;
      }
    } else if (token === "(") {
      if (label !== undefined && text[index - 1] === "]") address = label;
    } else if (token === ")") {
      if (address !== undefined) cover(address, end);
      address = undefined;
    } else if (MARKS.has(token)) {
      const from = open.get(token);
      if (from !== undefined && text[index - 1]?.trim() !== "") {
        cover(from, end);
        open.delete(token);
      } else if (text[end]?.trim() !== "") open.set(token, index);
    }
  }
  return covered;
}
