/** How a code of eight characters is shown to people: `ABCD-EFGH`. */

export function showCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}
