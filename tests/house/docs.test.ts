/** What the documents and the lock files say, against what is there. */

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { aliases, commands } from "../../src/cli/registry.ts";
import { unsupported } from "../../src/config/checks.ts";
import { configJsonSchema } from "../../src/config/json-schema.ts";
import { sharedChannelKeys } from "../../src/config/schema.ts";
import { isObject } from "../../src/lib/is-object.ts";

const root = resolve(import.meta.dir, "../..");
const read = (name: string) => readFileSync(resolve(root, name), "utf8");

/** The first cells of the rows of the table that follows `heading`. */
function tableUnder(heading: string): readonly string[] {
  const section = read("README.md").split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("|"));
  return rows.slice(2).map((row) => row.split("|")[1]?.trim() ?? "");
}

test("README.md lists every command", () => {
  const listed = tableUnder("Commands").flatMap((cell) =>
    [...cell.matchAll(/`([a-z]+)/g)].map((match) => match[1]),
  );
  for (const name of [...Object.keys(commands), ...Object.keys(aliases)]) expect(listed).toContain(name);
});

test("README.md gives a reason for every dependency, and for no other", () => {
  const listed = tableUnder("Dependencies").flatMap((cell) => cell.split(", "));
  expect(listed.sort()).toEqual(Object.keys(packageJson.dependencies).sort());
});

test("README.md shows commands whose options exist", async () => {
  const used = [...read("README.md").matchAll(/scripts\/nanobot (\w+)([^\n`#|]*)/g)];
  expect(used.length).toBeGreaterThan(4);
  for (const [line, name = "", rest = ""] of used) {
    const command = (await commands[aliases[name] ?? name]?.())?.command;
    if (command === undefined) throw new Error(`README.md shows "${line}"`);
    const flags = [...rest.replace(/"[^"]*"/g, "").matchAll(/--([a-z-]+)/g)].map((match) => match[1] ?? "");
    expect(Object.keys(command.options ?? {})).toEqual(expect.arrayContaining(flags));
  }
});

interface Key {
  readonly type?: string;
  readonly anyOf?: unknown;
  readonly default?: unknown;
}

/** The keys at a place of the configuration's schema. */
async function keysAt(...path: readonly string[]): Promise<Readonly<Record<string, Key>>> {
  let part: unknown = await configJsonSchema();
  for (const key of [...path, ""]) {
    const properties = isObject(part) ? part["properties"] : undefined;
    if (!isObject(properties)) throw new Error(`The configuration has no ${path.join(".")}`);
    part = key === "" ? properties : properties[key];
  }
  return part as Readonly<Record<string, Key>>;
}

/** The rows of the table whose first head is `head`: each key with its default as it is written. */
function settingsIn(file: string, head: string): ReadonlyMap<string, string> {
  const table = read(file).split(`| ${head} |`)[1]?.split("\n\n")[0] ?? "";
  const rows = table.split("\n").slice(2);
  return new Map(
    rows.flatMap((row) => {
      const [, keys = "", value = ""] = row.split("|");
      return [...keys.matchAll(/`([^`]+)`/g)].map((match) => [match[1] ?? "", value.trim()] as const);
    }),
  );
}

/** A default in code is the schema's, word for word; one in words is for people. */
function differing(documented: ReadonlyMap<string, string>, keys: Readonly<Record<string, Key>>) {
  return Object.entries(keys).filter(([name, key]) => {
    const written = documented.get(name);
    if (written?.startsWith("`") && key.default !== undefined)
      return written !== `\`${JSON.stringify(key.default)}\``;
    return written === undefined;
  });
}

test("docs/gateway.md has each setting of the gateway with its default, and no other", async () => {
  const documented = settingsIn("docs/gateway.md", "key");
  expect(documented.size).toBeGreaterThan(15);
  const sections = {
    gateway: await keysAt("gateway"),
    access: await keysAt("access"),
    channels: await keysAt("channels"),
    "agents.defaults": await keysAt("agents", "defaults"),
  };
  const keys: Record<string, Key> = {};
  for (const [section, entries] of Object.entries(sections))
    for (const [key, entry] of Object.entries(entries)) keys[`${section}.${key}`] = entry;
  for (const name of documented.keys()) expect(Object.keys(keys)).toContain(name);
  const wanted = Object.entries(keys).filter(
    ([name]) =>
      documented.has(name) || (/^(gateway|access)\./.test(name) && !unsupported.some((key) => key === name)),
  );
  expect(differing(documented, Object.fromEntries(wanted))).toEqual([]);
});

test("docs/gateway.md has each key that channels share, and no other", () => {
  const documented = settingsIn("docs/gateway.md", "key of every channel");
  expect([...documented.keys()].sort()).toEqual([...sharedChannelKeys].sort());
});

test.each([
  ["docs/gateway.md", "key of `channels.telegram`", "telegram"],
  ["docs/websocket.md", "key", "websocket"],
])("%s has each key of a channel with its default, and no other: %s", async (file, head, channel) => {
  const documented = settingsIn(file, head);
  const block = await keysAt("channels", channel);
  const own = Object.entries(block).filter(
    // The original's keys that have no effect take anything.
    ([name, { type, anyOf }]) =>
      !sharedChannelKeys.includes(name) && (type !== undefined || anyOf !== undefined),
  );
  expect([...documented.keys()].sort()).toEqual(own.map(([name]) => name).sort());
  expect(differing(documented, Object.fromEntries(own))).toEqual([]);
});

test.each([
  ["docs/schedule.md", "key of `gateway.heartbeat`", "gateway.heartbeat"],
  ["docs/schedule.md", "key of `limits`", "limits"],
])("%s has each %s with its default, and no other", async (file, head, section) => {
  const documented = settingsIn(file, head);
  const keys = await keysAt(...section.split("."));
  expect([...documented.keys()].sort()).toEqual(Object.keys(keys).sort());
  expect(differing(documented, keys)).toEqual([]);
});

test.each(["docs/memory.md", "docs/schedule.md"])(
  "%s gives settings of the agent as they are",
  async (file) => {
    const documented = settingsIn(file, "key of `agents.defaults`");
    expect(documented.size).toBeGreaterThan(1);
    const keys = Object.entries(await keysAt("agents", "defaults")).filter(([name]) => documented.has(name));
    expect(keys.map(([name]) => name).sort()).toEqual([...documented.keys()].sort());
    expect(differing(documented, Object.fromEntries(keys))).toEqual([]);
  },
);

test("package.json pins exact versions", () => {
  const versions = Object.values({ ...packageJson.dependencies, ...packageJson.devDependencies });
  for (const version of versions) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
});

test("package-lock.json has the versions of bun.lock and no address of a registry", () => {
  const npm = JSON.parse(read("package-lock.json")) as {
    packages: Record<string, { version?: string; resolved?: string }>;
  };
  const bun = new Set(
    [...read("bun.lock").matchAll(/^ {4}"[^"]+": \["((?:@[^/"]+\/)?[^@"]+@[^"]+)"/gm)].map((m) => m[1]),
  );
  expect(bun.size).toBeGreaterThan(40);
  for (const [path, { version, resolved }] of Object.entries(npm.packages)) {
    expect(resolved).toBeUndefined();
    const name = path.split("node_modules/").at(-1) ?? "";
    if (name !== "") expect(bun).toContain(`${name}@${version}`);
  }
});
