/** What a skill may be called: its folder has that name, and people write it behind a `$`. */

const LONGEST = 64;

/** For people, behind "a skill's name". */
export const SKILL_NAME_RULE = `has lower-case letters, digits and single hyphens between them, ${LONGEST} characters at the most`;

/** Names that mean the same skill where one is taken out: neither case nor the width of letters is a reason to keep it. */
export function foldSkillName(name: string): string {
  return name.trim().normalize("NFKC").toLowerCase();
}

export function isSkillName(name: string): boolean {
  return name.length <= LONGEST && /^[a-z\d]+(?:-[a-z\d]+)*$/.test(name);
}
