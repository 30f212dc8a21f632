/** Decodes the entities of HTML text. The two thousand names are known to the parser that is used anyway. */

/** Each look-up costs as much as a small page; what makes up more names than this has none worth knowing. */
const MOST_NAMES = 300;

const windows1252 = new TextDecoder("windows-1252");

function fromCode(code: number): string {
  if (code >= 0x80 && code <= 0x9f) return windows1252.decode(Uint8Array.of(code));
  if (!(code > 0 && code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) return "\ufffd";
  return String.fromCodePoint(code);
}

/** `lookUp` decodes one entity with a name, which may stand without its semicolon and be followed by letters. */
export function createEntityDecoder(lookUp: (entity: string) => string): (raw: string) => string {
  const known = new Map([
    ["&amp;", "&"],
    ["&lt;", "<"],
    ["&gt;", ">"],
    ["&quot;", '"'],
    ["&nbsp;", "\u00a0"],
  ]);

  function fromName(entity: string): string {
    const found = known.get(entity);
    if (found !== undefined) return found;
    if (known.size >= MOST_NAMES) return entity;
    const text = lookUp(entity);
    known.set(entity, text);
    return text;
  }

  return (raw) =>
    raw.includes("&")
      ? raw.replace(
          /&(?:#x([0-9a-f]{1,8});?|#([0-9]{1,8});?|[a-z][a-z0-9]{1,31};?)/gi,
          (entity, hex?: string, decimal?: string) => {
            if (hex !== undefined) return fromCode(Number.parseInt(hex, 16));
            return decimal === undefined ? fromName(entity) : fromCode(Number(decimal));
          },
        )
      : raw;
}
