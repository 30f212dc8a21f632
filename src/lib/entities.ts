/** Decodes references to characters in markup: by number as HTML has them, by name as the caller knows them. */

const windows1252 = new TextDecoder("windows-1252");

function fromCode(code: number): string {
  if (code >= 0x80 && code <= 0x9f) return windows1252.decode(Uint8Array.of(code));
  if (!(code > 0 && code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) return "\ufffd";
  return String.fromCodePoint(code);
}

const ENTITY = /&(?:#x([0-9a-f]{1,8});?|#([0-9]{1,8});?|[a-z][a-z0-9]{1,31};?)/gi;

/**
 * `byName` gets an entity as it is written, such as `&amp;`, perhaps without its semicolon and with letters
 * behind it; what it does not know stays as it is.
 */
export function decodeEntities(text: string, byName: (entity: string) => string | undefined): string {
  if (!text.includes("&")) return text;
  return text.replace(ENTITY, (entity, hex?: string, decimal?: string) => {
    if (hex !== undefined) return fromCode(Number.parseInt(hex, 16));
    return decimal === undefined ? (byName(entity) ?? entity) : fromCode(Number(decimal));
  });
}

/** Those of XML, which all other markup has too. */
export const XML_ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&amp;", "&"],
  ["&apos;", "'"],
  ["&gt;", ">"],
  ["&lt;", "<"],
  ["&quot;", '"'],
]);
