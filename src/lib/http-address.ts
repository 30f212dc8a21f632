/** Whether a text can be the address of an HTTP server. */

/** Variables count as right: what they stand for is known only where the address is used. */
export function isHttpAddress(text: string): boolean {
  if (/\$\{[A-Za-z_][A-Za-z0-9_]*\}/.test(text)) return true;
  const protocol = URL.parse(text.trim())?.protocol;
  return protocol === "http:" || protocol === "https:";
}
