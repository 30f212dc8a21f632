/** Regular expressions that the owner writes. */

/** Whether `text` is one. Tried with the flag `i`, with which it will be used. */
export function isRegularExpression(text: string): boolean {
  try {
    new RegExp(text, "i");
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
