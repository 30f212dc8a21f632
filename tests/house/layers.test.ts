/** Who may import whom, and what only the platform may touch: the rules of ARCHITECTURE.md, checked. */

import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const src = resolve(import.meta.dir, "../../src");
const adapters = [
  "bus providers tools shell web channels sessions memory skills access audit usage schedule subagents",
].flatMap((names) => names.split(" "));

/** Folders of `src`, and what each may import beside itself. Files directly in `src` stand for themselves. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  core: [],
  lib: ["core"],
  platform: ["core", "lib"],
  ...Object.fromEntries(adapters.map((name) => [name, ["core", "lib"]])),
  agent: ["core", "lib"],
  gateway: ["core", "lib"],
  config: ["core", "lib", "tools/registry.ts", "channels/registry.ts", "providers/registry.ts"],
  cli: ["core", "lib", "config"],
  "workers.ts": ["core", "lib"],
  "main.ts": ["core", "platform", "cli", "app.ts"],
};
const everything = new Set(["app.ts", "app", "worker.ts"]);

/** The real world, which everybody else receives as ports. */
const worldly: readonly RegExp[] = [
  /from "node:(fs|fs\/promises|child_process|net|http|https|dns|timers|timers\/promises|os|tty|readline|process)"/,
  /import\("node:(fs|fs\/promises|child_process|net|http|https|dns|timers|os|tty|readline|process)"\)/,
  /\bprocess\.\w+/,
  /\b(setTimeout|setInterval|setImmediate)\(/,
  /\bDate\.now\(|\bnew Date\(\)/,
  /\bMath\.random\(/,
  /\bnew (Worker|MessageChannel|BroadcastChannel)\(/,
  /\bBun\.\w+|\bDeno\.\w+/,
  /from "bun"/,
];
const mayTouchTheWorld = (file: string) =>
  file.startsWith("platform/") || ["main.ts", "worker.ts", "workers.ts"].includes(file);

const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => name.replaceAll("\\", "/"));

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

function importsOf(file: string): string[] {
  const text = withoutComments(readFileSync(join(src, file), "utf8"));
  const specifiers = [...text.matchAll(/(?:from\s+|import\(\s*|import\s+)"(\.[^"]+)"/g)].map(
    (match) => match[1] ?? "",
  );
  return specifiers.map((specifier) =>
    relative(src, resolve(src, dirname(file), specifier)).replaceAll("\\", "/"),
  );
}

const topOf = (file: string) => file.split("/")[0] ?? file;

function mayImport(file: string, target: string): boolean {
  const from = topOf(file);
  if (everything.has(from) || target.startsWith("../")) return true;
  const permitted = allowed[from];
  if (permitted === undefined) return false;
  return topOf(target) === from || permitted.includes(topOf(target)) || permitted.includes(target);
}

test("mayImport() finds breaches", () => {
  expect(mayImport("core/a.ts", "lib/b.ts")).toBe(false);
  expect(mayImport("tools/a.ts", "channels/b.ts")).toBe(false);
  expect(mayImport("cli/a.ts", "platform/b.ts")).toBe(false);
  expect(mayImport("unheard-of/a.ts", "core/b.ts")).toBe(false);
  expect(mayImport("cli/a.ts", "app/b.ts")).toBe(false);
  expect(mayImport("config/a.ts", "tools/registry.ts")).toBe(true);
  expect(mayImport("app/a.ts", "tools/registry.ts")).toBe(true);
});

test("src imports only along the layers", () => {
  const breaches = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => !mayImport(file, target))
      .map((target) => `${file} imports ${target}`),
  );
  expect(breaches).toEqual([]);
});

test("src touches the real world only in platform", () => {
  const breaches = files
    .filter((file) => !mayTouchTheWorld(file))
    .flatMap((file) => {
      const text = withoutComments(readFileSync(join(src, file), "utf8"));
      return worldly
        .filter((pattern) => pattern.test(text))
        .map((pattern) => `${file}: ${pattern.exec(text)?.[0]}`);
    });
  expect(breaches).toEqual([]);
});

test("core imports no package but valibot, and uses node:path only through lib/path.ts", () => {
  const packages = (file: string) =>
    [...readFileSync(join(src, file), "utf8").matchAll(/from "([^."][^"]*)"/g)].map(
      (match) => match[1] ?? "",
    );
  const core = files.filter((file) => file.startsWith("core/"));
  expect(core.flatMap(packages).filter((name) => name !== "valibot")).toEqual([]);
  const pathUsers = files.filter((file) => packages(file).includes("node:path"));
  expect(pathUsers).toEqual(["lib/path.ts"]);
});
