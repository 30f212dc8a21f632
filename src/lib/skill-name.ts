/** What a skill may be called: its folder has that name, and people write it behind a `$`. */

const LONGEST = 64;

/** For people, behind "a skill's name". */
export const SKILL_NAME_RULE = `has lower-case letters, digits and single hyphens between them, ${LONGEST} characters at the most`;

export function isSkillName(name: string): boolean {
  return name.length <= LONGEST && /^[a-z\d]+(?:-[a-z\d]+)*$/.test(name);
}
