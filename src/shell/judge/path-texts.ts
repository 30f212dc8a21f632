/** The paths that a word may hold: itself, the value of an option, the parts of a list. */

import { names } from "./names.ts";
import { UNKNOWN } from "./readings.ts";
import type { Scene } from "./scene.ts";
import type { Word } from "./word.ts";

/** `search-path` is a list of folders with programs. */
export type Role = "assignment" | "search-path" | "argument" | "file";

export interface PathText {
  readonly text: string;
  /** `false` where only the folders at its beginning are known. */
  readonly whole: boolean;
  /** It goes up from a place that is not known. */
  readonly climbs: boolean;
  /** What it would be if the unknown parts were of the plainest kind. */
  readonly isGuess: boolean;
}

export function pathTexts(scene: Scene, word: Word, as: Role, program: string): readonly PathText[] {
  return scene
    .read(word)
    .flatMap(({ outline, glob }) => partsOf(outline, glob, as, program))
    .filter((part) => part !== "" && !(part.startsWith("-") && as === "argument"))
    .flatMap(knownOf);
}

function knownOf(part: string): readonly PathText[] {
  const at = part.indexOf(UNKNOWN);
  if (at < 0) return [{ text: part, whole: true, climbs: false, isGuess: false }];
  const folders = part.slice(0, part.lastIndexOf("/", at) + 1);
  const climbs = /(?:^|\/)\.\.(?:\/|$)/.test(part.slice(at + 1));
  const sure = { text: folders, whole: false, climbs, isGuess: false };
  return [
    ...(climbs || folders !== "" ? [sure] : []),
    ...guesses(part).map((text) => ({ text, whole: true, climbs: false, isGuess: true })),
  ];
}

/** The unknown as nothing, and as anything within its segment. */
function guesses(part: string): readonly string[] {
  const without = part.replaceAll(UNKNOWN, "");
  if (/^[/.]*$/.test(without)) return [];
  const segments = part.replaceAll(UNKNOWN, "*").split("/");
  return [
    part.startsWith(UNKNOWN) ? without.replace(/^\/+/, "") : without,
    ...(/^\*+$/.test(segments[0] ?? "") ? [] : [segments.join("/")]),
  ];
}

/** Programs that take `host:path`, and programs that take `folder:place in a container`. */
const copiesBetweenHosts = names("scp rsync sftp");
const containers = names("docker podman nerdctl");

/** A folder for programs: whoever put them there may have them run. */
const holdsPrograms = /(?:^|\/)\.?s?bin\/?$/;

function partsOf(text: string, glob: boolean, as: Role, program: string): readonly string[] {
  if (as === "file") return [withoutScheme(text)];
  // What is left out is not opened.
  if (/^--(?:exclude(?:-dir)?|ignore)=/.test(text)) return [];
  if (as === "search-path") return text.split(":").filter((part) => part !== "" && !holdsPrograms.test(part));
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text) && !/^file:/i.test(text)) return [];
  if (copiesBetweenHosts.has(program) && /^[\w.@-]+:/.test(text)) return [];
  const [, value = "", attached = ""] =
    /^(?:--?[\w-]+=|[\w.]+=)([\s\S]*)$|^-[A-Za-z]([\s\S]+)$/.exec(text) ?? [];
  const mount = containers.has(program) ? mountOf(value || attached || text) : undefined;
  if (mount !== undefined) return /^[/~.]/.test(mount) ? [mount] : [];
  const parts = [text, value, attached, ...lastOfBundle(text)].map(withoutScheme);
  parts.push(...[text, attached].flatMap((one) => listed(one, as)));
  return [...new Set(parts)].filter((part) => glob || !/\n/.test(part));
}

/** `-cf/etc/x`: letters before a value that can only be a path. */
function lastOfBundle(text: string): readonly string[] {
  return /^-[A-Za-z]+((?:[/~]|\.)[\s\S]*)$/.exec(text)?.slice(1) ?? [];
}

/** `a=/b,/c`, `name=@file;type=x`, `"name=<file"`. Addresses are no lists, and a path may hold a `=`. */
function listed(text: string, as: Role): readonly string[] {
  const plain = text.replace(/\b(?!file:)[a-z][a-z\d+.-]*:\/\/[^\s,;]*/gi, "");
  return [...plain.matchAll(/([:,;=@<]|^)"?(?=([^:,;@<"]+))/g)].flatMap(([, before = "", part = ""]) => {
    const isPath =
      /^[/~]|^\.{1,2}(?:\/|$)|^\.[^.]/.test(part) && (before !== "" || as === "assignment" || part !== plain);
    return isPath || before === "@" || before === "<" ? [part] : [];
  });
}

/** `folder:place` and `folder:place:options`, where the place is in the container. */
function mountOf(text: string): string | undefined {
  return /^([^:=,]+):\/[^:]*(?::[\w,]+)?$/.exec(text)?.[1];
}

function withoutScheme(text: string): string {
  if (!/^file:/i.test(text)) return text;
  // What curl would expand may be anything.
  const path = text
    .replace(/^file:(?:\/\/(?:localhost|127\.0\.0\.1)?(?=\/))?/i, "")
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, "*");
  try {
    return decodeURIComponent(path);
  } catch {
    // A broken escape is for the program to reject; the path is checked as it is written.
    return path;
  }
}
