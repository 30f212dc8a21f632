/** Shows a text that nobody trusts so that it is what it looks like: what cannot be seen is spelled out. */

/**
 * Controls, what changes the direction of writing or is invisible, spaces that are no space, characters
 * that no font has, and marks piled up so high that they cover their neighbours. A newline is none of them.
 */
const unseen =
  /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Me}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}|(?<=\p{M}\p{M})\p{M}/u;

/** The slashes and dots that are none, which hide where an address leads, and letters of another alphabet inside a word of ours. */
const alike =
  /[\u2024\u2044\u2215\u2571\u29f8]|(?<=\p{sc=Latn})[\p{sc=Armn}\p{sc=Cher}\p{sc=Cyrl}\p{sc=Grek}]|[\p{sc=Armn}\p{sc=Cher}\p{sc=Cyrl}\p{sc=Grek}](?=\p{sc=Latn})/u;

const deceptive = new RegExp(`${unseen.source}|${alike.source}`, "gu");

/** `text` with `⟨U+202E⟩` in the place of each character that is not what it looks like. */
export function exactText(text: string): string {
  return text.replace(deceptive, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}
