/** Skills: folders with a `SKILL.md` that tells the model how something is done. */

export interface Skill {
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** By which `read_file` reads its `SKILL.md`. */
  readonly path: string;
  readonly source: "workspace" | "built-in";
  /** Its text is in every prompt. */
  readonly isAlways: boolean;
  /** What it needs and this machine has not, in words: `the program gh`, `the variable GITHUB_TOKEN`, `macOS`. */
  readonly missing: readonly string[];
  /** What is wrong with the file or its folder, in words. It is used as far as it can be. */
  readonly problems: readonly string[];
}

/** What of the skills goes into the system prompt. The same object as long as nothing has changed. */
export interface SkillsPrompt {
  /** Whole texts of those that are always there, and "" when there are none. */
  readonly active: string;
  /** A line for each of the others. */
  readonly summary: string;
}

export interface Skills {
  /** Those that are not disabled, sorted by name. Those of the workspace hide built-in ones of the same name. */
  list(): Promise<readonly Skill[]>;
  /** The text of a skill without its header. */
  text(name: string): Promise<string | undefined>;
  prompt(): Promise<SkillsPrompt>;
  /** The texts of those that `message` names with `$name`, and "" when it names none that is not in the prompt already. */
  named(message: string): Promise<string>;
}
