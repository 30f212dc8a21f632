/** What a SKILL.md says of its skill: what it is for, when it is there, and what it needs. */

import { isObject } from "../lib/is-object.ts";
import { parseJson } from "../lib/parse-json.ts";
import { isSkillName, SKILL_NAME_RULE } from "../lib/skill-name.ts";
import { TEMPLATE_DESCRIPTION, TEMPLATE_STEPS } from "../lib/skill-template.ts";
import { isVisible, oneLine } from "../lib/text.ts";
import { type Header, parseHeader } from "./header.ts";
import type { SkillText } from "./skill-text.ts";

/** What must be there for a skill to be of use. Each is empty where nothing is asked for. */
export interface Needs {
  /** Programs, of which all must be there, and programs of which one must. */
  readonly bins: readonly string[];
  readonly anyBins: readonly string[];
  /** Names of environment variables. */
  readonly env: readonly string[];
  /** Names of systems, of which one must be this. */
  readonly os: readonly string[];
}

export interface Facts {
  /** One line. */
  readonly description: string;
  readonly isAlways: boolean;
  readonly needs: Needs;
  /** In words. */
  readonly problems: readonly string[];
}

/** By the published format. */
const LONGEST_DESCRIPTION = 1024;

/** The rest of a list of names is left out. */
const MOST_NAMES = 20;
const LONGEST_NAME = 100;

/** Under which names the settings of programs like this one stand in `metadata`. The first that is there counts. */
const SECTIONS = ["nanobot", "openclaw", "clawdbot", "clawdis"];

/** `folder` is the name of the skill's folder, which counts, whatever its file says. */
export async function readFacts(text: SkillText, folder: string): Promise<Facts> {
  const { header, linesBefore, body, problem } = text;
  const parsed = header === undefined ? undefined : await parseHeader(header, linesBefore);
  const fields = parsed?.fields ?? {};
  const problems = [problem, parsed?.problem].filter((one) => one !== undefined);
  const note = (what: string) => void problems.push(what);
  const metadata = metadataOf(fields, note);
  const section = sectionOf(metadata, note);
  checkName(fields["name"], folder, header !== undefined, note);
  if (fields["description"] === TEMPLATE_DESCRIPTION) note("its description is that of the template still");
  if (body.includes(TEMPLATE_STEPS)) note("its text is that of the template still, which teaches nothing");
  return {
    description: descriptionOf(fields["description"], body, header !== undefined, note) || folder,
    isAlways: [fields, section].some(({ always }) => truth(always, note)),
    needs: needsOf([fields, metadata, section], note),
    problems: [...new Set(problems)],
  };
}

type Note = (problem: string) => void;

function checkName(name: unknown, folder: string, hasHeader: boolean, note: Note): void {
  if (!isSkillName(folder)) note(`its folder's name is not one that ${SKILL_NAME_RULE}`);
  if (typeof name !== "string") {
    if (hasHeader) note(name == null ? "its header has no name" : "the name in its header is not a text");
  } else if (name.trim() !== folder) {
    note(`the name in its header, "${oneLine(name, LONGEST_NAME)}", is not that of its folder`);
  }
}

function descriptionOf(description: unknown, body: string, hasHeader: boolean, note: Note): string {
  if (typeof description === "string" && isVisible(description)) {
    if (description.length > LONGEST_DESCRIPTION) {
      note(`its description is longer than ${LONGEST_DESCRIPTION} characters`);
    }
    return oneLine(description, LONGEST_DESCRIPTION);
  }
  if (hasHeader) {
    const isMissing = description == null || description === "";
    note(isMissing ? "its header has no description" : "the description in its header is not a text");
  }
  const first = body.split("\n").find((line) => /[\p{L}\p{N}]/u.test(line)) ?? "";
  return oneLine(first.replace(/^[\s#>*-]+/, ""), LONGEST_DESCRIPTION);
}

/** As YAML of both versions says yes and no. */
function truth(value: unknown, note: Note): boolean {
  if (value == null || typeof value === "boolean") return value === true;
  const text = typeof value === "string" ? value.trim().toLowerCase() : "";
  if (["true", "yes", "on"].includes(text)) return true;
  if (!["false", "no", "off"].includes(text)) note("always is neither true nor false");
  return false;
}

/** A map, or one as JSON. */
function metadataOf({ metadata }: Header, note: Note): Header {
  if (metadata == null) return {};
  const value = typeof metadata === "string" ? parseJson(metadata) : metadata;
  if (isObject(value)) return value;
  note(typeof metadata === "string" ? "its metadata is not valid JSON" : "its metadata is not a map");
  return {};
}

function sectionOf(metadata: Header, note: Note): Header {
  const name = SECTIONS.find((one) => Object.hasOwn(metadata, one) && metadata[one] != null);
  const section = name === undefined ? {} : metadata[name];
  if (isObject(section)) return section;
  note(`metadata.${name} is not a map`);
  return {};
}

/** Some write what a skill needs at the top of the header, or right below `metadata`. */
function needsOf(places: readonly Header[], note: Note): Needs {
  const requires = places.flatMap(({ requires: value }) => {
    if (value == null) return [];
    if (isObject(value)) return [value];
    note("requires is not a map");
    return [];
  });
  const required = (key: string) =>
    unique(requires.flatMap((one) => namesOf(one[key], `requires.${key}`, note)));
  return {
    bins: required("bins"),
    anyBins: required("anyBins"),
    env: required("env"),
    os: unique(places.flatMap(({ os }) => namesOf(os, "os", note))),
  };
}

const unique = (names: readonly string[]) => [...new Set(names)].slice(0, MOST_NAMES);

function namesOf(value: unknown, key: string, note: Note): readonly string[] {
  if (value == null) return [];
  if (!Array.isArray(value)) note(`${key} is not a list`);
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (all.length > MOST_NAMES) note(`${key} has more than ${MOST_NAMES} names`);
  return all.slice(0, MOST_NAMES).flatMap((one) => {
    const name = typeof one === "string" ? one.trim() : "";
    if (/^[\w.+-]+$/.test(name) && name.length <= LONGEST_NAME) return [name];
    note(`${key} holds something that is no name`);
    return [];
  });
}
