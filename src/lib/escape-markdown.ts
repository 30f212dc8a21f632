/** Text of somebody else inside Markdown of ours. */

/** No words in it become a link, or stand out. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>~|&]/g, "\\$&");
}
