/** Whether a command is given paths that the text does not name where they are used. */

import type { SimpleCommand } from "./parsed.ts";
import { pathWords, readers } from "./path-words.ts";
import { programName } from "./program-name.ts";
import type { Scene } from "./scene.ts";
import type { Word } from "./word.ts";
import { writtenWords } from "./written-words.ts";

/** What is done to such paths, which may be any that another command puts out. */
export type Heard = "read" | "written" | undefined;

export function hearsay(commands: readonly SimpleCommand[], scene: Scene): Heard {
  let heard: Heard;
  for (const command of commands) {
    if (command.keyword || command.remote) continue;
    scene.lookAt(command);
    const name = programName(command) ?? "";
    const args = command.words.slice(1);
    const written = [
      ...writtenWords(name, args),
      ...command.redirects.flatMap((one) => (one.writes ? one.target : [])),
    ];
    if (written.some(isUnknown)) return "written";
    const used = [...pathWords(name, args), ...command.redirects.map(({ target }) => target)];
    if (used.some(isUnknown)) {
      if (!readers.has(name)) return "written";
      heard = "read";
    }
  }
  return heard;

  function isUnknown(word: Word): boolean {
    return scene.read(word).some(({ whole }) => !whole);
  }
}
