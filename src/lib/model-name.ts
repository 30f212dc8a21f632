/** What a model's name can be, wherever somebody types one. */

const LONGEST = 200;

/** Why `value` cannot be the name of a model. */
export function modelNameProblem(value: string): string | undefined {
  const name = value.trim();
  if (name === "") return "expected a name, found nothing";
  if (name.length > LONGEST) return `a model's name has at most ${LONGEST} characters`;
  if (/[\s\p{C}]/u.test(name)) return "a model's name has no spaces";
  return name.startsWith("-") ? "a model's name does not begin with -" : undefined;
}
