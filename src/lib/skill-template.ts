/** The SKILL.md that a skill begins with, and by which it is seen that nobody has filled it in. */

export const TEMPLATE_DESCRIPTION = "What this skill does, and when to use it.";

export const TEMPLATE_STEPS =
  "Say here, step by step, how it is done: which tools or commands, in which order, and what the result should look like.";

/** `description` is one line. */
export function skillTemplate(name: string, description: string): string {
  // JSON texts are YAML too, whatever is in them.
  return `---
name: ${name}
description: ${JSON.stringify(description)}
---

# ${name}

${TEMPLATE_STEPS}
Longer explanations go to files beside this one (references/), and what can be run to scripts/.
`;
}
