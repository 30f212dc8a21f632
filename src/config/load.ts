/** The configuration as it holds: defaults, then the file, then the environment. */

import * as v from "valibot";
import { UserError } from "../core/errors.ts";
import type { Environment, FileSystem } from "../core/platform.ts";
import { isObject } from "../lib/is-object.ts";
import { contradictionWarnings, findContradiction, type Problem, unsupportedWarnings } from "./checks.ts";
import { applyEnvironment } from "./environment.ts";
import { explainIssue } from "./issues.ts";
import { configError, lineOf, parseConfigText, readConfigText } from "./json-text.ts";
import { showPath } from "./keys.ts";
import { type Config, configSchema } from "./schema.ts";
import { found, type Path, valueAt } from "./shape.ts";
import { type Translation, translate } from "./translate.ts";

/** A value of any kind by key, as parsed. */
export type RawConfig = Readonly<Record<string, unknown>>;

export interface LoadedConfig {
  readonly config: Config;
  /** The file as it was written, unknown keys and all; empty when there is none. */
  readonly raw: RawConfig;
  /** One sentence each, for people. */
  readonly warnings: readonly string[];
  readonly path: string;
  /** Whether there is a file. */
  readonly exists: boolean;
  /** What is wrong with `value`, whose keys are `path` as they are written: with file and line, where it is from there. */
  refusal(path: Path, text: string, value: unknown): Promise<UserError>;
}

export interface LoadOptions {
  readonly files: FileSystem;
  readonly path: string;
  readonly env: Environment;
  /** For a file that somebody named: that it is missing is then an error and not a beginning. */
  readonly mustExist?: boolean;
}

/** Throws a `UserError` with file, line and key for whatever is not fully understood; never falls back to defaults. */
export async function loadConfig({
  files,
  path,
  env,
  mustExist = false,
}: LoadOptions): Promise<LoadedConfig> {
  const text = await readConfigText(files, path);
  if (text === undefined && mustExist) throw configError(path, undefined, "there is no such file");
  const file = await parseConfig(text ?? "{}", path);
  const { values, warnings } = applyEnvironment(configSchema, file.values, env);
  const config = parseWhole(values);
  const problem = findContradiction(config);
  if (problem) throw await contradictionError(text ?? "", path, file.translation, problem);
  return {
    config,
    raw: file.raw,
    warnings: [
      ...file.translation.warnings.map((warning) => `${warning} (in ${path})`),
      ...warnings,
      ...unsupportedWarnings(config),
      ...contradictionWarnings(config),
    ],
    path,
    exists: text !== undefined,
    async refusal(at, what, value) {
      const isOfFile = text !== undefined && JSON.stringify(valueAt(file.raw, at)) === JSON.stringify(value);
      return isOfFile ? problemAt(text, path, at, what) : settingsError(at, what);
    },
  };
}

export interface ParsedConfig {
  readonly raw: RawConfig;
  /** With the schema's keys, without defaults. */
  readonly values: RawConfig;
  readonly translation: Translation;
}

/** The text of a configuration file, checked. Throws a `UserError` with the line. */
export async function parseConfig(text: string, path: string): Promise<ParsedConfig> {
  const raw = await parseConfigText(text, path);
  if (!isObject(raw)) throw configError(path, 1, `expected an object, found ${found(raw)}`);
  const translation = translate(configSchema, raw);
  if (translation.twice) {
    throw await problemAt(text, path, translation.twice, "the key is there twice, in two spellings");
  }
  const { issues } = v.safeParse(configSchema, translation.value);
  if (issues) throw await issuesError(text, path, translation, issues);
  // The schema's root is an object, and that is what it became.
  return { raw, values: isObject(translation.value) ? translation.value : {}, translation };
}

async function problemAt(text: string, path: string, source: Path, problem: string, hint?: string) {
  return configError(path, await lineOf(text, source), `${showPath(source)}: ${problem}`, hint);
}

/** It may have come from the environment, where there are no lines. */
async function contradictionError(text: string, path: string, translation: Translation, problem: Problem) {
  return translation.has(problem.path)
    ? problemAt(text, path, translation.source(problem.path), problem.text)
    : settingsError(problem.path, problem.text);
}

const SHOWN_ISSUES = 5;

async function issuesError(
  text: string,
  path: string,
  translation: Translation,
  issues: readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]],
): Promise<UserError> {
  const [first, ...others] = issues.map((issue) => explainIssue(configSchema, issue));
  const more: string[] = [];
  for (const { path: key, text: problem } of others.slice(0, SHOWN_ISSUES)) {
    const source = translation.source(key);
    more.push(`line ${await lineOf(text, source)}, ${showPath(source)}: ${problem}`);
  }
  const hint = more.length > 0 ? `Wrong too: ${more.join("; ")}` : undefined;
  const source = translation.source(first?.path ?? []);
  return problemAt(text, path, source, first?.text ?? "it does not fit", hint);
}

/** File and variables were checked one by one; a block that a variable began can still lack a key. */
function parseWhole(values: unknown): Config {
  const { output, issues, success } = v.safeParse(configSchema, values);
  if (success) return output;
  const { path, text } = explainIssue(configSchema, issues[0]);
  throw settingsError(path, text);
}

function settingsError(path: Path, text: string): UserError {
  return new UserError(`Read settings: ${showPath(path)}: ${text}`);
}
