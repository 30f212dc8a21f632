/** The folders in which a command may be, and those in which it was before. */

import type { ParsedCommand } from "./parsed.ts";
import { staticText } from "./word.ts";

/** More than this is not followed one by one. */
const MOST_FOLDERS = 8;

/** Where a command may be at one moment. */
export interface Whereabouts {
  readonly current: readonly string[];
  readonly previous: readonly string[] | undefined;
  readonly movedUnknown: boolean;
}

export interface Folders {
  /** Both as `cd` names them and as they really are. */
  readonly current: ReadonlySet<string>;
  readonly visited: ReadonlySet<string>;
  /** Where `cd -` leads. `undefined` where that is not known, as where nothing went anywhere for certain. */
  readonly previous: readonly string[] | undefined;
  readonly movedUnknown: boolean;
  /** `definite`: everything after it happens there. */
  enter(paths: readonly string[], definite: boolean): void;
  enterUnknown(): void;
  remember(): Whereabouts;
  /** Back where it was. */
  restore(before: Whereabouts): void;
  /** Where it was, or where it is. */
  join(before: Whereabouts): void;
}

export function createFolders(cwd: string, parsed: ParsedCommand): Folders {
  const current = new Set([cwd]);
  const visited = new Set([cwd]);
  let previous: readonly string[] | undefined;
  let movedUnknown = false;
  const isOverwritten = setsVariable(parsed, "OLDPWD");
  return {
    current,
    visited,
    get previous() {
      return movedUnknown || isOverwritten ? undefined : previous;
    },
    get movedUnknown() {
      return movedUnknown;
    },
    enter(paths, definite) {
      const before = [...current];
      if (definite) previous = before;
      else if (previous !== undefined) previous = [...new Set([...previous, ...before, ...paths])];
      if (previous !== undefined && previous.length > MOST_FOLDERS) previous = undefined;
      if (definite) current.clear();
      for (const path of paths) {
        if (visited.size < MOST_FOLDERS) visited.add(path);
        if (current.size < MOST_FOLDERS) current.add(path);
        else if (!current.has(path)) movedUnknown = true;
      }
    },
    enterUnknown() {
      movedUnknown = true;
    },
    remember: () => ({ current: [...current], previous, movedUnknown }),
    restore(before) {
      current.clear();
      for (const path of before.current) current.add(path);
      ({ previous, movedUnknown } = before);
    },
    join(before) {
      for (const path of before.current) current.add(path);
      const both = previous && before.previous && [...new Set([...previous, ...before.previous])];
      previous = both !== undefined && both.length <= MOST_FOLDERS ? both : undefined;
      movedUnknown ||= before.movedUnknown || current.size > MOST_FOLDERS;
    },
  };
}

/** Whether the text gives a variable of the shell a value, also by naming it, as `read` does. */
export function setsVariable({ variables, commands }: ParsedCommand, name: string): boolean {
  const mentions = commands.some(({ words, assignments }) =>
    [...words.map(staticText), ...assignments.map((one) => one.name)].some((text) => text?.includes(name)),
  );
  return variables.has(name) || mentions;
}
