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

/** A skill as whoever looks after them sees it. */
export interface SurveyedSkill extends Skill {
  /** The settings take it out: the model sees nothing of it. */
  readonly isDisabled: boolean;
}

export interface SkillSurvey {
  /** Sorted by name. `path` is as `read_file` takes it, and no file of that name need be there for a built-in one. */
  readonly skills: readonly SurveyedSkill[];
  /** Folders of the workspace's skills that are none, for want of a `SKILL.md`. */
  readonly without: readonly string[];
  /** What the settings take out and is not there. */
  readonly disabledInVain: readonly string[];
}

/** A file of a built-in skill. */
export interface BuiltInSkillFile {
  /** Below the skill's folder, with `/`. */
  readonly path: string;
  readonly isScript: boolean;
  readonly bytes: Uint8Array;
}

export interface Skills {
  /** Those that are not disabled, sorted by name. Those of the workspace hide built-in ones of the same name. */
  list(): Promise<readonly Skill[]>;
  /** All there are. Only reads: the built-in ones are shown as the executable holds them, and need no workspace. */
  survey(): Promise<SkillSurvey>;
  /** The files of a built-in skill, `SKILL.md` first; none where there is no such skill. Only reads too. */
  builtIn(name: string): Promise<readonly BuiltInSkillFile[]>;
  /** The text of a skill without its header. */
  text(name: string): Promise<string | undefined>;
  prompt(): Promise<SkillsPrompt>;
  /** The texts of those that `message` names with `$name`, and "" when it names none that is not in the prompt already. */
  named(message: string): Promise<string>;
}
