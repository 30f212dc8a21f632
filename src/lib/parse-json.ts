/** JSON that others wrote, where a text that is none is an answer and no error. */

/** `undefined`, which no JSON stands for, when `text` is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
