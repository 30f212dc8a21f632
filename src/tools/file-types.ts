/** Names of kinds of files, as ripgrep has them, and the endings they stand for. */

import { UserError } from "../core/errors.ts";
import { quote } from "../lib/file-error.ts";

const TYPES: Readonly<Record<string, string>> = {
  c: "c h",
  config: "cfg conf config ini",
  cpp: "cc cpp cxx h hh hpp hxx inl",
  cs: "cs",
  css: "css scss",
  csv: "csv tsv",
  dart: "dart",
  docker: "Dockerfile dockerfile",
  elixir: "ex exs",
  go: "go",
  html: "htm html",
  java: "java",
  js: "cjs js jsx mjs",
  json: "json jsonl",
  kotlin: "kt kts",
  log: "log",
  lua: "lua",
  make: "Makefile mk",
  markdown: "markdown md mdx",
  perl: "pl pm",
  php: "php",
  py: "py pyi",
  ruby: "Gemfile Rakefile rb",
  rust: "rs",
  sh: "bash fish sh zsh",
  sql: "sql",
  svelte: "svelte",
  swift: "swift",
  toml: "toml",
  ts: "cts mts ts tsx",
  txt: "txt",
  vue: "vue",
  xml: "svg xml xsd xsl",
  yaml: "yaml yml",
  zig: "zig",
};

const ALIASES: Readonly<Record<string, string>> = {
  bash: "sh",
  csharp: "cs",
  "c++": "cpp",
  javascript: "js",
  jsx: "js",
  kt: "kotlin",
  md: "markdown",
  python: "py",
  rb: "ruby",
  rs: "rust",
  shell: "sh",
  text: "txt",
  tsx: "ts",
  typescript: "ts",
  yml: "yaml",
};

/** Whether a path names a file of the type. Throws a `UserError` for a type nobody knows. */
export function createTypeFilter(type: string): (path: string) => boolean {
  const wanted = type.toLowerCase().replace(/^\./, "");
  const name = Object.hasOwn(ALIASES, wanted) ? (ALIASES[wanted] ?? wanted) : wanted;
  const endings = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
  if (endings === undefined) {
    throw new UserError(`Cannot search files of type ${quote(type)}: it is not known`, {
      hint: `Use glob, such as "*.xyz", or one of: ${Object.keys(TYPES).join(", ")}`,
    });
  }
  const known = new Set(endings.split(" "));
  return (path) => {
    const file = path.slice(path.lastIndexOf("/") + 1);
    return known.has(file) || (file.includes(".") && known.has(file.slice(file.lastIndexOf(".") + 1)));
  };
}
