/** What the built-in skills say of this program, against the program: tools, commands, chat commands, settings. */

import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { parseInvocation } from "../../src/cli/parse.ts";
import { commands } from "../../src/cli/registry.ts";
import { configJsonSchema } from "../../src/config/json-schema.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { chatCommands } from "../../src/lib/chat-commands.ts";
import { isObject } from "../../src/lib/is-object.ts";
import * as registry from "../../src/tools/registry.ts";
import { makeConfig } from "../config/fixture.ts";
import { blocks, type Code, commandLines, readText, root, spans } from "./skill-files.ts";

const tools = new Map((Object.values(registry) as readonly AnyTool[]).map((tool) => [tool.name, tool]));
const parameters = new Set([...tools.values()].flatMap(parametersOf));

function parametersOf(tool: AnyTool | undefined): readonly string[] {
  // All are objects, which the type of any tool does not say.
  const { entries } = (tool?.parameters ?? {}) as { readonly entries?: object };
  if (entries === undefined)
    throw new Error(`No parameters are known of ${tool?.name ?? "a tool that is missing"}`);
  return Object.keys(entries);
}

/** The words of a line as a shell would have them, without what is behind `#`. */
function words(line: string): readonly string[] {
  return [...line.replace(/\s#.*$/, "").matchAll(/'([^']*)'|"([^"]*)"|[^\s'"]+/g)].map(
    ([whole, single, double]) => single ?? double ?? whole,
  );
}

/** Of a thing that is wrong: where, and what. */
function told({ where, text }: Code): string {
  return `${where}: ${text}`;
}

describe("tools", () => {
  const calls = commandLines.flatMap((code) => {
    const [, name = "", json] = /^(\w+) (\{.*\})$/.exec(code.text) ?? [];
    return json === undefined ? [] : [{ ...code, name, json }];
  });

  test("are called in skills as they take it", () => {
    expect(calls.length).toBeGreaterThan(15);
    for (const { name, json, ...code } of calls) {
      const tool = tools.get(name);
      if (tool === undefined) throw new Error(`There is no tool in ${told(code)}`);
      const { issues = [] } = v.safeParse(tool.parameters, JSON.parse(json));
      expect([told(code), ...issues.map(({ message }) => message)]).toEqual([told(code)]);
    }
  });

  test("are shown by the skill that explains them, with every parameter of cron and memory_search", () => {
    const shown = (name: string) =>
      new Set(
        calls.filter((call) => call.name === name).flatMap(({ json }) => Object.keys(JSON.parse(json))),
      );
    for (const name of ["cron", "memory_search"])
      expect([...shown(name)].sort()).toEqual(parametersOf(tools.get(name)).toSorted());
  });

  test("and their parameters are what words with underscores mean", () => {
    const foreign = new Set(["weather_code", "tool_name"]);
    const unknown = spans
      .filter(({ text }) => /^[a-z]+(_[a-z]+)+$/.test(text))
      .filter(({ text }) => !tools.has(text) && !parameters.has(text) && !foreign.has(text));
    expect(unknown.map(told)).toEqual([]);
  });
});

describe("scripts", () => {
  test("that skills call lie where they say", () => {
    const called = commandLines.flatMap(({ text, ...where }) =>
      [...text.matchAll(/SCRIPTS\/([\w.-]+)/g)].map(([, name = ""]) => ({ ...where, text: name })),
    );
    expect(called.length).toBeGreaterThan(4);
    const missing = called.filter(({ skill, text }) => !existsSync(join(root, skill, "scripts", text)));
    expect(missing.map(told)).toEqual([]);
  });
});

describe("commands", () => {
  const shown = commandLines
    // The version is told before any command is looked for.
    .filter(({ text }) => /^nanobot [a-z-]/.test(text) && text !== "nanobot --version")
    .map((code) => ({ ...code, argv: words(code.text).slice(1) }));

  test("of the program that skills show are understood by it", async () => {
    expect(shown.length).toBeGreaterThan(40);
    for (const { argv, ...code } of shown) {
      const { command } = await parseInvocation(argv).catch((error: unknown) => {
        throw new Error(told(code), { cause: error });
      });
      const isProgram = argv[0]?.startsWith("-") === true;
      if (!isProgram && command?.run === undefined) throw new Error(`Not a whole command: ${told(code)}`);
    }
  });

  test("of the program are all in references/commands.md of nanobot, with their subcommands", async () => {
    const listed = new Set<string>();
    for (const { where, argv } of shown) {
      if (!where.endsWith("references/commands.md")) continue;
      const invocation = await parseInvocation(argv);
      listed.add(invocation.words.join(" "));
    }
    for (const [name, load] of Object.entries(commands)) {
      const { command } = await load();
      const below = Object.keys(command.subcommands ?? {}).map((sub) => `${name} ${sub}`);
      for (const wanted of below.length > 0 ? below : [name]) expect([...listed]).toContain(wanted);
    }
  });

  test("of a chat are all in the skill nanobot, and no other", () => {
    const named = spans.flatMap(({ text }) => /^\/([a-z]+)( [A-Z]+)?$/.exec(text)?.[1] ?? []);
    const known: readonly string[] = chatCommands.map(({ name }) => name);
    expect(named.filter((name) => !known.includes(name) && name !== "tmp")).toEqual([]);
    const text = readText("nanobot/SKILL.md");
    expect(known.filter((name) => !text.includes(`\`/${name}`))).toEqual([]);
  });
});

describe("settings", () => {
  const sections = "agents|providers|channels|gateway|tools|access|limits|logging|api|transcription";
  const keys = spans.filter(({ text }) => new RegExp(`^(${sections})\\.[A-Za-z.]+$`).test(text));

  /** The part of the schema that describes a key. */
  async function settingAt(path: string) {
    let part: unknown = await configJsonSchema();
    for (const key of path.split(".")) {
      const properties: unknown = isObject(part) ? part["properties"] : undefined;
      part = isObject(properties) ? properties[key] : undefined;
    }
    return isObject(part) ? part : undefined;
  }

  test("that skills name exist", async () => {
    expect(keys.length).toBeGreaterThan(40);
    for (const key of keys) {
      if ((await settingAt(key.text)) === undefined) throw new Error(`No such setting: ${told(key)}`);
    }
  });

  test("have the defaults that references/settings.md of nanobot says", async () => {
    const rows = [
      ...readText("nanobot/references/settings.md").matchAll(/^\| `([\w.]+)` \| (?:`([^`]*)`)? ?\|/gm),
    ];
    expect(rows.length).toBeGreaterThan(40);
    for (const [, key = "", written] of rows) {
      const setting = await settingAt(key);
      if (setting === undefined) throw new Error(`No such setting: ${key}`);
      expect([key, JSON.stringify(setting["default"])]).toEqual([key, written as string]);
    }
  });

  test("in examples are taken without a warning", async () => {
    const examples = blocks("json").filter(({ skill }) => skill === "nanobot");
    expect(examples.length).toBeGreaterThan(2);
    for (const example of examples) {
      const { warnings } = await makeConfig(example.text).load();
      expect([example.where, ...warnings]).toEqual([example.where]);
    }
  });

  test("and parameters are what words in camel case mean", async () => {
    const known = new Set(parameters);
    const collect = (part: unknown): void => {
      if (Array.isArray(part)) part.forEach(collect);
      if (!isObject(part)) return;
      const { properties } = part;
      if (isObject(properties)) for (const key of Object.keys(properties)) known.add(key);
      Object.values(part).forEach(collect);
    };
    collect(await configJsonSchema());
    const unknown = spans.filter(({ text }) => /^[a-z]+([A-Z][a-z]+)+$/.test(text) && !known.has(text));
    expect(unknown.map(told)).toEqual([]);
  });
});
