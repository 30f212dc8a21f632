/** Where a command would run: what its words can stand for, and where its paths lead. */

import { isInside } from "../../lib/inside.ts";
import { dirname } from "../../lib/path.ts";
import { isPattern, segmentMatches, splitPattern } from "./file-patterns.ts";
import { createFolders, setsVariable, type Whereabouts } from "./folders.ts";
import { names } from "./names.ts";
import type { ParsedCommand, Scope, SimpleCommand } from "./parsed.ts";
import { programName } from "./program-name.ts";
import { createReader, type Reader } from "./readings.ts";
import { asUnknown, createResolver } from "./resolver.ts";
import { shown } from "./word.ts";

export interface ProtectedPath {
  readonly path: string;
  /** What a command may do below it: `running` takes in reading. The longest path that holds a place decides. */
  readonly allows: "nothing" | "reading" | "running";
  /** No tool is made for it. */
  readonly isConfiguration?: boolean;
  /** A file in a folder that holds others, which commands may write. */
  readonly hasOthersBeside?: boolean;
}

export interface SceneOptions {
  readonly workspace: string;
  /** Folders beside the workspace that commands may use. Real, as is the workspace. */
  readonly allowedPaths?: readonly string[];
  readonly cwd: string;
  readonly home: string | undefined;
  /** A folder for temporary files that is the command's own, real. Omitted where it shares one with others. */
  readonly temporaryFolder?: string | undefined;
  readonly protectedPaths: readonly ProtectedPath[];
  /** The real path of the nearest parent that exists, with the rest added. Rejects like the file system. */
  readonly resolve: (path: string) => Promise<string>;
  /**
   * What the shell could put in the place of a file name pattern, or `undefined` where that is too much to
   * look at. Omitted where patterns are judged by their text alone, and what links lead to is not seen.
   */
  readonly list?: (folder: string) => Promise<readonly Entry[] | undefined>;
}

interface Entry {
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "other";
}

export interface Place {
  /** Real, absolute. Of a pattern: the folder in which it begins. */
  readonly path: string;
  /** What follows the folder, segment by segment, where a pattern was given. */
  readonly pattern: readonly string[];
}

export interface Scene extends SceneOptions, Reader {
  /** Where a path leads from every folder that the command may be in. `undefined` where that cannot be known. */
  places(text: string): Promise<readonly Place[] | undefined>;
  /** The same for `cd`, which goes up by taking names away and not by what the folders are. */
  placesToGo(text: string): Promise<readonly Place[] | undefined>;
  /** The command that runs next: where it may be depends on the lists that end before it and begin with it. */
  stepTo(command: SimpleCommand): void;
  /** A command goes to this folder. `definite`: everything after it happens there. */
  enter(text: string | undefined, definite?: boolean): Promise<void>;
  /** `cd -`. Answers whether it is known where that leads. */
  goBack(definite: boolean): boolean;
  /** Whether `cd` to it succeeds if nothing has changed it meanwhile. */
  canEnter(text: string): Promise<boolean>;
  /** Nothing before the command can have changed folders, or how the shell treats them. */
  isUntouched(command: SimpleCommand): boolean;
  /** What stands behind a `cd` runs where that leads: no function, loop or `CDPATH` makes it otherwise. */
  readonly plainCd: boolean;
  /** The text makes a function of this name, whatever a program of the name does. */
  isFunction(name: string): boolean;
  /** File name patterns match hidden files too. */
  readonly dotted: boolean;
  readonly movedUnknown: boolean;
}

/** The folder of a process, and its root, in the place of which the system puts what they are. */
const ofProcess = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(cwd|root)(?=\/|$)(.*)$/s;

/** Programs that leave folders as they are; a function of such a name consists of commands itself. */
const changeless = names("cd pwd ls echo printf true : cat head tail wc grep test [");

/** More than this is not followed one by one. */
const MOST_LISTED = 1_000;

export function createScene(options: SceneOptions, parsed: ParsedCommand): Scene {
  const { home, temporaryFolder, cwd, list } = options;
  const folders = createFolders(cwd, parsed);
  const functions = new Set([...parsed.functions].map((name) => name.toLowerCase()));
  const firstChange = parsed.commands.findIndex(
    (command) => command.words.length > 0 && !changeless.has(programName(command) ?? ""),
  );
  const untouched = new Set(firstChange < 0 ? parsed.commands : parsed.commands.slice(0, firstChange));
  const dotted =
    parsed.variables.has("GLOBIGNORE") ||
    parsed.commands.some(({ words }) => words.some((word) => shown(word).includes("dotglob")));
  const makesLinks = parsed.commands.some((command) => programName(command) === "ln");
  const { real, isOpen } = createResolver(options.resolve, makesLinks);
  const reader = createReader(parsed, {
    home,
    temporaryFolder,
    folders: () => (folders.movedUnknown ? undefined : [...folders.current]),
    previous: () => folders.previous,
  });

  async function places(text: string): Promise<readonly Place[] | undefined> {
    if (text.startsWith("~")) return behindTilde(text);
    const [, process, rest = ""] = ofProcess.exec(text.replace(/\/(?:\.?\/)+/g, "/")) ?? [];
    if (process !== undefined)
      return placesOf(process === "root" ? [`/${rest}`] : [...folders.current].map((from) => from + rest));
    const { folder, pattern } = splitPattern(text);
    if (folder.startsWith("/")) return placed([folder], pattern);
    if (folders.movedUnknown && folder.split("/").includes("..")) return undefined;
    return placed(
      [...folders.current].map((from) => `${from}/${folder}`),
      pattern,
    );
  }

  /** `~+` and `~-` are folders that the shell is or was in; `~user` may be whoever runs the agent. */
  async function behindTilde(text: string): Promise<readonly Place[] | undefined> {
    const [, name = "", rest = ""] = /^~([^/]*)(.*)$/s.exec(text) ?? [];
    if (name === "+" || name === "-")
      return folders.movedUnknown ? undefined : placesOf([...folders.visited].map((from) => from + rest));
    if (home === undefined || name === "") return undefined;
    return placesOf([home + rest, `${dirname(home)}/${name}${rest}`]);
  }

  async function placesOf(texts: readonly string[]): Promise<readonly Place[] | undefined> {
    const found = await Promise.all(texts.map(places));
    return found.includes(undefined) ? undefined : found.flatMap((one) => one ?? []);
  }

  async function placesToGo(text: string): Promise<readonly Place[] | undefined> {
    const physical = await places(text);
    if (physical === undefined || !text.split("/").includes("..")) return physical;
    const logical = [...folders.current].map((from) =>
      withoutParents(text.startsWith("/") ? text : `${from}/${text}`),
    );
    const more = await placed(logical, []);
    return more && [...physical, ...more];
  }

  async function placed(
    paths: readonly string[],
    pattern: readonly string[],
  ): Promise<readonly Place[] | undefined> {
    const found: Place[] = [];
    for (const path of paths) {
      const reached = await real(path);
      if (reached === undefined) return undefined;
      found.push({ path: reached, pattern });
      const linked = await linkedPlaces(reached, pattern);
      if (linked === undefined) return undefined;
      found.push(...linked);
    }
    return found;
  }

  /** Where a pattern leads by way of links that it matches. */
  async function linkedPlaces(
    from: string,
    pattern: readonly string[],
  ): Promise<readonly Place[] | undefined> {
    const found: Place[] = [];
    const pending = pattern.length > 0 && list !== undefined ? [{ path: from, pattern }] : [];
    for (let looked = 0; pending.length > 0; looked++) {
      const at = pending.pop();
      // What cannot be looked at could hold any link.
      const entries = at && (await list?.(at.path).catch(asUnknown));
      if (at === undefined || entries === undefined || looked > MOST_LISTED) return undefined;
      const [segment = "", ...rest] = at.pattern;
      for (const { name, kind } of entries) {
        if (!(isPattern(segment) ? segmentMatches(segment, name, dotted) : segment === name)) continue;
        const path = kind === "link" ? await real(`${at.path}/${name}`) : `${at.path}/${name}`;
        if (path === undefined) return undefined;
        if (kind === "link") found.push({ path, pattern: rest });
        if (rest.length > 0 && kind !== "file") pending.push({ path, pattern: rest });
      }
    }
    return found;
  }

  const open: { readonly scope: Scope; readonly before: Whereabouts }[] = [];

  function stepTo({ scopes }: SimpleCommand): void {
    let common = 0;
    while (common < open.length && open[common]?.scope === scopes[common]) common++;
    for (const { scope, before } of open.splice(common).reverse()) {
      if (scope.isApart) folders.restore(before);
      else folders.join(before);
    }
    for (const scope of scopes.slice(common)) open.push({ scope, before: folders.remember() });
  }

  return {
    ...options,
    ...reader,
    stepTo,
    places,
    placesToGo,
    dotted,
    plainCd: !(functions.size > 0 || setsVariable(parsed, "CDPATH") || parsed.commands.some(leavesOrder)),
    async enter(text, definite = false) {
      const reached = text === undefined ? undefined : await placesToGo(text);
      if (text === undefined || reached === undefined || reached.some(({ pattern }) => pattern.length > 0)) {
        folders.enterUnknown();
        return;
      }
      const named = [...folders.current].map((from) =>
        withoutParents(text.startsWith("/") ? text : `${from}/${text}`),
      );
      folders.enter([...named, ...reached.map((place) => place.path)], definite);
    },
    goBack(definite) {
      const { previous } = folders;
      if (previous === undefined) folders.enterUnknown();
      else folders.enter(previous, definite);
      return previous !== undefined;
    },
    async canEnter(text) {
      const reached = await placesToGo(text);
      // Nothing is known of folders where nobody can look.
      if (list === undefined) return false;
      const asked = reached?.map(({ path, pattern }) => (pattern.length > 0 ? false : isOpen(path)));
      return asked !== undefined && (await Promise.all(asked)).every(Boolean);
    },
    isUntouched: (command) => untouched.has(command),
    isFunction: (name) => functions.has(name),
    get movedUnknown() {
      return folders.movedUnknown;
    },
  };
}

/** What stands before it in the text may run after it: it moves in a loop, or is kept for later. */
const leavesOrder = ({ repeats, via, words }: SimpleCommand) =>
  via.includes("trap") || (repeats && /^(?:cd|pushd|popd)$/.test(programName({ words }) ?? ""));

/** `a/b/..` as `a`, whatever `b` is. */
function withoutParents(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") kept.pop();
    else if (segment !== "" && segment !== ".") kept.push(segment);
  }
  return `/${kept.join("/")}`;
}

/** In the workspace, or in what is allowed beside it. */
export function isPermitted(
  path: string,
  { workspace, temporaryFolder = workspace, allowedPaths = [] }: SceneOptions,
): boolean {
  return [workspace, temporaryFolder, ...allowedPaths].some((folder) => isInside(folder, path));
}
