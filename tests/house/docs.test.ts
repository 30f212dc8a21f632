/** What the documents and the lock files say, against what is there. */

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { aliases, commands } from "../../src/cli/registry.ts";

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
