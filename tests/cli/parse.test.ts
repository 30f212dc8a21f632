import { expect, test } from "bun:test";
import { textOption, textOptions } from "../../src/cli/command.ts";
import { help } from "../../src/cli/help.ts";
import { parseInvocation } from "../../src/cli/parse.ts";

test("textOption() is the value of an option that was given one", () => {
  const options = { model: "m", empty: "", json: true };
  expect(textOption(options, "model")).toBe("m");
  expect(textOption(options, "empty")).toBe("");
  expect(textOption(options, "json")).toBeUndefined();
  expect(textOption(options, "session")).toBeUndefined();
});

test("parseInvocation() keeps the options of the program apart from those of the command", async () => {
  const { flags, options, help, words } = await parseInvocation([
    "-c",
    "c.json",
    "agent",
    "-m",
    "hi",
    "--workspace",
    "w",
    "--verbose",
  ]);
  expect(flags).toEqual({ config: "c.json", workspace: "w", verbose: true });
  expect(options).toEqual({ message: "hi" });
  expect(help).toBe(false);
  expect(words).toEqual(["agent"]);
});

test("parseInvocation() keeps all values of an option that can be given several times, and the last of others", async () => {
  const { options } = await parseInvocation(["agent", "--image", "a", "-m", "x", "--image=b", "-m", "y"]);
  expect(textOptions(options, "image")).toEqual(["a", "b"]);
  expect(textOption(options, "message")).toBe("y");
  expect([textOption(options, "image"), textOptions(options, "message")]).toEqual([undefined, []]);
});

test("help() says which options can be given several times", async () => {
  const { words, command } = await parseInvocation(["agent", "--help"]);
  const rows = (await help(words, command))
    .split("\n")
    .filter((row) => row.endsWith("can be given several times"));
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatch(/^ +--image FILE /);
});

test("parseInvocation() takes a number below zero for the value of the option before it", async () => {
  for (const args of [["--limit", "-1"], ["--limit=-1"]])
    expect((await parseInvocation(["audit", "list", ...args])).options).toEqual({ limit: "-1" });
  expect((await parseInvocation(["agent", "-m", "-5 degrees"])).options).toEqual({ message: "-5 degrees" });
  expect((await parseInvocation(["sessions", "show", "--", "-1"])).positionals).toEqual(["-1"]);
});

test("parseInvocation() says how to give a value that looks like an option", async () => {
  for (const [args, said] of [
    [["audit", "list", "--session", "--json"], 'Missing the value of "--session"'],
    [["agent", "-m", "--json"], 'Missing the value of "-m"'],
  ] as const)
    await expect(parseInvocation(args)).rejects.toThrow(said);
});
