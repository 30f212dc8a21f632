import { expect, test } from "bun:test";
import { textOption } from "../../src/cli/command.ts";
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
