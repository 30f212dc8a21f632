/** What of the skills goes into a prompt: bounded, and the same bytes as long as nothing has changed. */

import type { Skill, SkillsPrompt } from "../core/skills.ts";
import { HOW_TO_USE_SKILLS, isMissing, skillCut, skillsLeftOut } from "../lib/phrases.ts";
import { clip, head } from "../lib/text.ts";
import { LONGEST_ACTIVE } from "./entry.ts";

/** In characters. */
const LONGEST_DESCRIPTION = 300;
const LONGEST_SUMMARY = 16_000;
/** Of it, for the names of those that are left out. */
const LONGEST_LEFT_OUT = 1_000;
/** Of a text, less than this is not worth its place. */
const LEAST_SHOWN = 500;

export interface ShownSkill {
  readonly skill: Skill;
  /** Its text, where it is always there. */
  readonly opening: string;
}

export function skillsPrompt(skills: readonly ShownSkill[]): SkillsPrompt {
  const active: string[] = [];
  const others: Skill[] = [];
  let room = LONGEST_ACTIVE;
  for (const { skill, opening } of skills) {
    const block = isActive(skill) ? activeBlock(skill, opening, room) : undefined;
    if (block === undefined) others.push(skill);
    else active.push(block);
    room -= (block?.length ?? 0) + BETWEEN.length;
  }
  return { active: active.join(BETWEEN), summary: summary(others) };
}

const BETWEEN = "\n\n";

const isActive = ({ isAlways, missing }: Skill) => isAlways && missing.length === 0;

const title = ({ name, path }: Skill) => `## Skill ${name} (\`${path}\`)\n\n`;

/** Whether its text is in `active`, which was made of it. */
export function isIn({ active }: SkillsPrompt, skill: Skill): boolean {
  return isActive(skill) && active.includes(title(skill));
}

/** `undefined` where it does not fit. */
function activeBlock(skill: Skill, text: string, room: number): string | undefined {
  const begin = title(skill);
  if (begin.length + text.length <= room) return begin + text;
  const end = `\n${skillCut(`\`${skill.path}\``)}`;
  const left = room - begin.length - end.length;
  return left < LEAST_SHOWN ? undefined : begin + head(text, left) + end;
}

function line({ name, description, missing, path }: Skill): string {
  const lack = missing.length === 0 ? "" : ` (unavailable: ${isMissing(missing)})`;
  return `- **${name}** — ${clip(description, LONGEST_DESCRIPTION)}${lack} \`${path}\``;
}

function summary(skills: readonly Skill[]): string {
  if (skills.length === 0) return "";
  const lines: string[] = [];
  let room = LONGEST_SUMMARY - LONGEST_LEFT_OUT - HOW_TO_USE_SKILLS.length - BETWEEN.length;
  for (const skill of skills) {
    const next = line(skill);
    room -= next.length + 1;
    if (room < 0) break;
    lines.push(next);
  }
  const left = skills.slice(lines.length).map(({ name }) => name);
  if (left.length > 0) {
    const names = clip(left.join(", "), LONGEST_LEFT_OUT - skillsLeftOut(left.length, "").length - 1);
    lines.push(skillsLeftOut(left.length, names));
  }
  return `${HOW_TO_USE_SKILLS}${BETWEEN}${lines.join("\n")}`;
}
