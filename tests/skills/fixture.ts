/** A workspace, built-in skills of the test's own, and the skills made of both. */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createAssets } from "../../src/platform/assets.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createPinnedFiles } from "../../src/platform/pinned-files.ts";
import { createSkills, type SkillsOptions } from "../../src/skills/skills.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";

type Content = string | Uint8Array;

export function put(path: string, content: Content): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

export interface SetUp extends Partial<SkillsOptions> {
  /** Files of the workspace's `skills`, and of the built-in ones. */
  readonly own?: Readonly<Record<string, Content>>;
  readonly builtIn?: Readonly<Record<string, Content>>;
  /** What commands find. */
  readonly programs?: readonly string[];
}

/** A SKILL.md with these lines in its header. */
export function skillFile(lines: readonly string[], body = "Do it well."): string {
  return ["---", ...lines, "---", "", body, ""].join("\n");
}

export const described = (name: string, description = `About ${name}.`) =>
  skillFile([`name: ${name}`, `description: ${description}`]);

export function setUp({ own = {}, builtIn = {}, programs = [], ...options }: SetUp = {}) {
  const workspace = options.workspace ?? tempFolder();
  const root = tempFolder();
  mkdirSync(join(root, "skills"));
  const putOwn = (path: string, content: Content) => put(join(workspace, "skills", path), content);
  const putBuiltIn = (path: string, content: Content) => put(join(root, "skills", path), content);
  for (const [path, content] of Object.entries(own)) putOwn(path, content);
  for (const [path, content] of Object.entries(builtIn)) putBuiltIn(path, content);
  const files = createFileSystem();
  const log = createFakeLog();
  const clock = createFakeClock();
  const installed = new Set(programs);
  const given: SkillsOptions = {
    files,
    pinned: createPinnedFiles({ os: process.platform }),
    assets: createAssets(root),
    env: {},
    findProgram: async (name) => installed.has(name),
    os: "linux",
    log,
    clock,
    workspace,
    disabled: [],
    ...options,
  };
  return {
    skills: createSkills(given),
    /** Another process of the same workspace. */
    again: (changed: Partial<SkillsOptions> = {}) => createSkills({ ...given, ...changed }),
    workspace,
    files,
    log,
    clock,
    installed,
    putOwn,
    putBuiltIn,
  };
}
