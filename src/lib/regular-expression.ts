/** Regular expressions that the owner writes. */

/** Whether `text` is one, without regard to case as they are used. */
export function isRegularExpression(text: string): boolean {
  try {
    new RegExp(text, "i");
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
