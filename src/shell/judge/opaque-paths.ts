/** Refuses programs of other languages that reach outside the workspace or into the agent's own state. */

import type { Report } from "./check-paths.ts";
import type { Opaque } from "./parsed.ts";
import { judgeUse, outside } from "./path-use.ts";
import type { Scene } from "./scene.ts";
import { displayed, textWord } from "./word.ts";

/** A path that only the system has, in whatever text. */
const systemRoot =
  /^\/(?:bin|boot|dev|etc|home|lib\w*|media|mnt|opt|private|proc|root|run|s?bin|srv|sys|tmp|usr|var|Users|Library|System|Volumes)(?:\/|$)/;

/** Calls for which `"/"` is a folder and not a separator. */
const takesRoot =
  /\b(?:symlink\w*|link|chdir|chroot|listdir|scandir|walk\w*|readdir\w*|opendir|glob|iglob|Path)\s*\(?\s*["']\/["']/;

/** Calls that take whole folders away, or put into one what has a name elsewhere. */
const handlesFolders =
  /rmtree|remove_tree|rmdir|rm_?rf?\b|\brm(?:Sync)?\b|rename|\bmove\b|\bmv\b|os\.replace|copytree|\bcp(?:Sync|_r)?\b|unpack|extract|symlink/i;

/** Its text literals are looked at, as far as they look like paths. */
export async function checkOpaque(
  { language, text = "" }: Opaque,
  { scene, restrict, report }: { readonly scene: Scene; readonly restrict: boolean; readonly report: Report },
): Promise<void> {
  const fillsFolder = handlesFolders.test(text);
  for (const { text: literal, isRooted } of opaquePaths(text)) {
    const what = `${displayed(textWord(literal))}, in the ${language} program,`;
    const places = await scene.places(literal.replace(/^~(?=\/|$)/, scene.home ?? "~"));
    if (places === undefined && isRooted && restrict) report(outside(what));
    for (const place of places ?? []) {
      const use = {
        place,
        what,
        writes: true,
        runs: false,
        takesFolder: false,
        fillsFolder,
        inspects: false,
      };
      const finding = judgeUse(use, scene, restrict && isRooted);
      if (finding !== undefined) report(finding);
    }
  }
}

interface OpaquePath {
  readonly text: string;
  /** It is no data: nothing else begins like this. */
  readonly isRooted: boolean;
}

function opaquePaths(program: string): readonly OpaquePath[] {
  const literals = [...program.matchAll(/(["'`])((?:(?!\1)[^\\\n]|\\.)*)\1/g)].map(([, , inside = ""]) =>
    unescaped(inside)
      .replace(/^file:\/\//, "")
      .replace(/^[<>+]+\s*/, ""),
  );
  const paths = [...new Set(literals)].filter((text) => text.length > 1 && !/[\s<>|;:]/.test(text));
  const found = paths.map((text) => ({
    text,
    isRooted: systemRoot.test(text) || /^~(?:\/|$)|(?:^|\/)\.\.(?:\/|$)/.test(text),
  }));
  return takesRoot.test(program) ? [...found, { text: "/", isRooted: true }] : found;
}

/** What most languages make of a backslash. */
function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([\da-f]{2})|u([\da-f]{4})|([0-3]?[0-7]{1,2})|(.))/gi,
    (_, hex, wide, octal, other) => {
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
      const digits: string | undefined = hex ?? wide;
      return digits === undefined ? String(other) : String.fromCodePoint(Number.parseInt(digits, 16));
    },
  );
}
