/** Whether a command may do to a place what it would do to it. */

import { Buffer } from "node:buffer";
import { isInside } from "../../lib/inside.ts";
import { foldPath } from "../../lib/own-places.ts";
import { segmentMatches } from "./file-patterns.ts";
import type { Finding } from "./finding.ts";
import { climbs, overlap } from "./overlap.ts";
import { isPermitted, type Place, type ProtectedPath, type Scene } from "./scene.ts";

/** Device files that hold nothing of anybody's. */
const harmlessDevice =
  /^\/dev\/(?:null|zero|full|u?random|tty|std(?:in|out|err)|fd(?:\/\d+)?)$|^\/proc\/self\/fd\/\d+$/;

/** Where programs live: they may be run, asked for and looked at, but not changed. */
export const programFolder = /^\/(?:usr\/(?:local\/)?|opt\/homebrew\/)?s?bin(?:\/|$)|^\/nix\/store\//;

/** As long as Linux takes a path, and the name of a file. */
const LONGEST_PATH = 4096;
const LONGEST_NAME = 255;

export interface Use {
  readonly place: Place;
  /** As it is put to the model. */
  readonly what: string;
  readonly writes: boolean;
  /** A program is run with it that is not known to change it, though it could. */
  readonly runs: boolean;
  /** The whole of a folder is taken or left with it. */
  readonly takesFolder: boolean;
  /** What is put into a folder with it has names that the command need not say. */
  readonly fillsFolder: boolean;
  /** Only what it is is asked, and not what it holds. */
  readonly inspects: boolean;
}

/** The first thing that is wrong with it. Places beyond the workspace are wrong only where `restrict` says so. */
export function judgeUse(use: Use, scene: Scene, restrict: boolean): Finding | undefined {
  const { place, what } = use;
  if (showsProcess(place)) {
    return ownState(
      `${what} shows what a process holds, keys among it; printenv shows what commands are given`,
    );
  }
  const broken = brokenPlaces(use, scene);
  const reached = broken.find(({ path }) => isDirect(place, path));
  if (reached !== undefined) return ownState(whyClosed(what, reached));
  if (restrict && isBeyond(use, scene)) return outside(what);
  const [taken] = broken;
  return taken === undefined ? undefined : ownState(whyTaken(what, taken, scene));
}

function isBeyond({ place, inspects }: Use, scene: Scene): boolean {
  if (harmlessDevice.test(place.path)) return false;
  if (isPermitted(place.path, scene) && !climbs(place, scene.dotted)) return false;
  return !(inspects && programFolder.test(`${place.path}/`));
}

const isDirect = ({ path }: Place, closed: string) => isInside(foldPath(closed), foldPath(path));

function whyClosed(what: string, { allows, isConfiguration = false }: ProtectedPath): string {
  const verb = allows === "nothing" ? "read or changed" : "changed";
  return isConfiguration
    ? `${what} is the configuration, which no command can have ${verb}; tell the user what should be in it`
    : `${what} is the agent's own state, which commands must not have ${verb}; tell the user if that is needed`;
}

/** It is only part of what the command would touch, and the rest may be allowed. */
function whyTaken(what: string, { path, allows }: ProtectedPath, { workspace }: Scene): string {
  const shown = isInside(workspace, path) ? path.slice(workspace.length + 1) : path;
  const verb = allows === "nothing" ? "read or changed" : "changed";
  return `${what} takes in "${shown}", which is the agent's own and which commands must not have ${verb}; name the files that are meant`;
}

/** The protected paths that this use breaks, the outermost first. */
function brokenPlaces(
  { place, writes, runs, takesFolder, fillsFolder }: Use,
  { protectedPaths, workspace, dotted }: Scene,
): readonly ProtectedPath[] {
  // What is put into the folder of a protected file may be that file.
  const isItsFolder = writes && place.path !== workspace && isInside(workspace, place.path);
  const touched = protectedPaths
    .filter(({ path, hasOthersBeside = false }) => {
      const how = overlap(place, path, dotted);
      const mayPutIt = isItsFolder && (fillsFolder || !hasOthersBeside);
      return how === "within" || (how === "around" && (takesFolder || mayPutIt));
    })
    .sort((one, other) => one.path.length - other.path.length);
  const breaks = ({ allows }: ProtectedPath) =>
    allows === "nothing" || (writes && !(runs && allows === "running"));
  const closest = touched.at(-1);
  if (closest === undefined) return [];
  // A pattern can reach what lies beside a permitted folder too.
  if (place.pattern.length > 0 && !isInside(closest.path, place.path)) return touched.filter(breaks);
  return breaks(closest) ? touched.filter(breaks) : [];
}

/** Where the system shows the environment or the memory of processes, the agent's among them. */
function showsProcess({ path, pattern }: Place): boolean {
  const [top, ...below] = [...path.split("/").filter((segment) => segment !== ""), ...pattern];
  const last = below.at(-1);
  return (
    top === "proc" &&
    last !== undefined &&
    below.length > 1 &&
    ["environ", "mem"].some((name) => segmentMatches(last, name, true))
  );
}

const ownState = (reason: string): Finding => ({ rule: "own-state", reason });

const ALLOWED = "commands may use paths below the workspace, and relative ones are the best";

/** Where a path goes up, it matters where the command is, and `cd` may fail. */
const ALLOWED_UP = `${ALLOWED}; where it goes up from a folder, join the cd to it with &&`;

const allowedFor = (what: string) => (/(?:^"|\/)\.\.(?:"|\/)|^"-"/.test(what) ? ALLOWED_UP : ALLOWED);

export function outside(what: string): Finding {
  return { rule: "outside-workspace", reason: `${what} is outside the workspace; ${allowedFor(what)}` };
}

/** `text` is a path that cannot be followed. */
export function unknownPlace(what: string, text: string): Finding {
  const isTooLong =
    text.length > LONGEST_PATH || text.split("/").some((name) => Buffer.byteLength(name) > LONGEST_NAME);
  return {
    rule: "outside-workspace",
    reason: isTooLong
      ? `${what} is longer than a path can be; use a shorter name`
      : `it is not known whether ${what} is in the workspace; ${allowedFor(what)}`,
  };
}
