import { expect, test } from "bun:test";
import * as v from "valibot";
import { configPaths, workspacePath } from "../../src/config/paths.ts";
import { configSchema } from "../../src/config/schema.ts";
import { UserError } from "../../src/core/errors.ts";
import { variable } from "./fixture.ts";

const around = { env: {}, homeFolder: "/home/ada", cwd: "/srv" };
const none = { config: undefined, workspace: undefined };

function configWith(workspace?: string) {
  return v.parse(configSchema, workspace === undefined ? {} : { agents: { defaults: { workspace } } });
}

test("configPaths() takes .nanobot in the home folder", () => {
  expect(configPaths(around, none)).toEqual({
    home: "/home/ada/.nanobot",
    configFile: "/home/ada/.nanobot/config.json",
  });
});

test("configPaths() lets NANOBOT_HOME win, with a tilde or relative too", () => {
  const home = (value: string) => configPaths({ ...around, env: { NANOBOT_HOME: value } }, none).home;
  expect(home("/srv/bot")).toBe("/srv/bot");
  expect(home("~/bot")).toBe("/home/ada/bot");
  expect(home("bot")).toBe("/srv/bot");
  expect(home("")).toBe("/home/ada/.nanobot");
});

test("configPaths() moves only the file for --config", () => {
  const paths = (config: string) => configPaths(around, { config });
  expect(paths("/etc/bot.json")).toEqual({ home: "/home/ada/.nanobot", configFile: "/etc/bot.json" });
  expect(paths("sub/../bot.json").configFile).toBe("/srv/bot.json");
  expect(paths("~/bot.json").configFile).toBe("/home/ada/bot.json");
});

test("configPaths() says to set NANOBOT_HOME when no home is known", () => {
  expect(() => configPaths({ ...around, homeFolder: undefined }, none)).toThrow(UserError);
  expect(() => configPaths({ ...around, homeFolder: undefined }, { config: "~/x" })).toThrow("not known");
});

test("configPaths() lives beside a named config when no home is known", () => {
  const paths = configPaths({ ...around, homeFolder: undefined }, { config: "/etc/bot/config.json" });
  expect(paths.home).toBe("/etc/bot");
});

test("configPaths() asks for no current folder when no path is relative", () => {
  const gone = {
    ...around,
    get cwd(): string {
      throw new Error("the folder was removed");
    },
  };
  expect(configPaths(gone, { config: "/etc/bot.json" }).configFile).toBe("/etc/bot.json");
});

test("workspacePath() is workspace in the home unless something else is said", () => {
  expect(workspacePath(configWith(), "/h", around, none)).toBe("/h/workspace");
  expect(workspacePath(configWith(""), "/h", around, none)).toBe("/h/workspace");
  expect(workspacePath(configWith("~/ws"), "/h", around, none)).toBe("/home/ada/ws");
  expect(workspacePath(configWith("ws"), "/h", around, none)).toBe("/h/ws");
  expect(workspacePath(configWith("/ws"), "/h", around, { workspace: "mine" })).toBe("/srv/mine");
});

test("workspacePath() expands variables", () => {
  const config = configWith(`${variable("DATA")}/ws`);
  expect(workspacePath(config, "/h", { ...around, env: { DATA: "/data" } }, none)).toBe("/data/ws");
  expect(() => workspacePath(config, "/h", around, none)).toThrow("agents.defaults.workspace");
});
