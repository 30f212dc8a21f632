import { expect, test } from "bun:test";
import fc from "fast-check";
import { mentioned } from "../../src/skills/mentions.ts";

const names = [
  "path",
  "git-hub",
  "git",
  "notes",
  "weather-now",
  "HOME",
  "1",
  "A_B",
  "天气",
  "1password",
  "v1.2",
];
const find = (message: string) => mentioned(message, names, 3);

test.each([
  ["$path", ["path"]],
  ["use $path.", ["path"]],
  ["($path), please", ["path"]],
  ["'$git-hub'", ["git-hub"]],
  ["$git-hub: list", ["git-hub"]],
  ["$git and $notes and $git", ["git", "notes"]],
  ["$notes\n$git", ["notes", "git"]],
  ["$git- $notes!", ["git", "notes"]],
  ["$1password", ["1password"]],
  ["$v1.2.", ["v1.2"]],
  ["请用$notes记下来", ["notes"]],
  ["请用$天气查一下", ["天气"]],
  ["$git를 써", ["git"]],
  ["$path $git $notes $weather-now", ["path", "git", "notes"]],
  ["用，$天气。", ["天气"]],
  ["$notes：买牛奶", ["notes"]],
  ["「$notes」에", ["notes"]],
  ["ใช้$notesบันทึก", ["notes"]],
  ["```sh\necho $path\n```\nand $git", ["git"]],
  ["`$notes` and ```$git```", ["notes", "git"]],
  ["> ~~~\n> $path\n\n$git", ["git"]],
])("mentioned() finds in %j %j", (message, expected) => {
  expect(find(message)).toEqual(expected);
});

test.each([
  "$PATHX",
  "$paths",
  "$pathé",
  "$path_x",
  "$path-x",
  "$path.x",
  "$path/bin",
  "\\$path",
  "x$path",
  "é$path",
  "/home/$path",
  "$$path",
  "\u0024{path}",
  "$ path",
  "$HOME",
  "$1",
  "$1.50",
  "$A_B",
  "path",
  "$Path",
  "$git-hubs",
  "$constructor",
  "```\n$path\n```",
  "~~~sh\n$path\n```\n$git\n~~~",
  "````\n```\n$path\n```\n````",
  "why?\n```\n$path",
  "1. see\n   ```\n   $path\n   ```",
  "",
])("mentioned() finds nothing in %j", (message) => {
  expect(find(message)).toEqual([]);
});

test("mentioned() looks at a bounded number of signs", () => {
  expect(find(`${"$x ".repeat(999)}$git`)).toEqual(["git"]);
  expect(find(`${"$x ".repeat(1_000)}$git`)).toEqual([]);
  expect(find("$".repeat(1_000_000))).toEqual([]);
});

test("mentioned() finds a name between any characters that are no part of a word, and none that is not there", () => {
  const around = fc.string({ unit: fc.constantFrom(" ", "\n", ",", "(", ")", "!", "?", "“", "。", "字") });
  fc.assert(
    fc.property(around, around, fc.constantFrom("path", "git-hub", "notes"), (before, after, name) => {
      expect(find(`${before}$${name}${after}`)).toEqual([name]);
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (message) => {
      for (const name of find(message)) expect(message).toContain(`$${name}`);
    }),
  );
});
