/** Reads a text as Telegram's HTML and refuses what its documents forbid. */

const TAGS: ReadonlySet<string> = new Set([
  ..."b strong i em u ins s strike del a code pre blockquote tg-spoiler tg-emoji span".split(" "),
]);
const CHARACTERS: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };
const ATTRIBUTES: Readonly<Record<string, RegExp>> = {
  a: /^ href="[^"<>]*"$/,
  code: /^ class="language-[^"<>]*"$/,
  pre: /^ language="[^"<>]*"$/,
  span: /^ class="tg-spoiler"$/,
  blockquote: /^ expandable$/,
  "tg-emoji": /^ emoji-id="\d+"$/,
};

export type ReadHtml =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly description: string };

const bad = (why: string): ReadHtml => ({
  ok: false,
  description: `Bad Request: can't parse entities: ${why}`,
});

/** The text as it is shown. */
export function readHtml(html: string): ReadHtml {
  const open: string[] = [];
  let text = "";
  let at = 0;
  while (at < html.length) {
    const character = html.charAt(at);
    const token =
      character === "<" || character === "&" ? /^(?:<[^<>]*>|&[^;&<\s]*;)/.exec(html.slice(at)) : undefined;
    if (token === undefined) {
      text += character;
      at++;
      continue;
    }
    if (token === null) {
      return bad(
        character === "<" ? `Unclosed start tag at byte offset ${at}` : `Stray "&" at byte offset ${at}`,
      );
    }
    at += token[0].length;
    if (character === "&") {
      const decoded = decode(token[0].slice(1, -1));
      if (decoded === undefined) return bad(`Unsupported entity "${token[0]}"`);
      text += decoded;
      continue;
    }
    const problem = tag(token[0], open);
    if (problem !== undefined) return bad(problem);
  }
  const left = open.at(-1);
  return left === undefined
    ? { ok: true, text }
    : bad(`Can't find end tag corresponding to start tag "${left}"`);
}

function decode(name: string): string | undefined {
  const number = /^#(?:x([0-9a-f]+)|(\d+))$/i.exec(name);
  if (number === null) return CHARACTERS[name];
  const code = number[1] === undefined ? Number(number[2]) : Number.parseInt(number[1], 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

/** Why this tag cannot stand here. */
function tag(text: string, open: string[]): string | undefined {
  const [, slash, name = "", attributes = ""] = /^<(\/?)([a-z-]+)([^>]*)>$/i.exec(text) ?? [];
  const lower = name.toLowerCase();
  if (!TAGS.has(lower)) return `Unsupported start tag "${name}"`;
  if (slash) {
    const expected = open.pop();
    if (expected === lower && attributes.trim() === "") return undefined;
    return `Unmatched end tag, expected "</${expected ?? ""}>", found "${text}"`;
  }
  const needsAttribute = lower === "a" || lower === "span" || lower === "tg-emoji";
  const isRight = attributes === "" ? !needsAttribute : ATTRIBUTES[lower]?.test(attributes);
  if (!isRight) return `Unsupported attributes of the tag "${text}"`;
  open.push(lower);
  return undefined;
}
