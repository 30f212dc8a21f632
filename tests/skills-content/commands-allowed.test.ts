/** The commands that the built-in skills show, against the guard that judges them before they run. */

import { expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import type { RealPath } from "../../src/core/tool.ts";
import { BUILT_IN_SKILLS } from "../../src/lib/own-places.ts";
import { createCommandGuard } from "../../src/shell/command-guard.ts";
import { createPlace } from "../shell/sandbox/fixture.ts";
import { system } from "../tools/fixture.ts";
import { type Code, commandLines, root } from "./skill-files.ts";

/** Below the workspace, as the skills are put there. */
const EXTRACTED = `${BUILT_IN_SKILLS}/0123456789abcdef`;

function permitter() {
  const place = createPlace();
  cpSync(root, join(place.workspace, EXTRACTED), { recursive: true });
  const permit = createCommandGuard({
    files: system,
    // What is reachable is not for a skill to say.
    web: { whyRefused: async () => undefined },
    sandbox: { state: async () => ({ kind: "none", why: "this is a test" }), allowedPaths: async () => [] },
    policy: "guarded",
    allowPatterns: [],
    denyPatterns: [],
    restrictToWorkspace: true,
    workspace: place.workspace,
    home: place.base,
    configFile: place.configFile,
    ownResults: ".nanobot/tool-results/own",
  });
  const { signal } = new AbortController();
  return (command: string) => permit(command, { cwd: place.workspace as RealPath, signal });
}

/** What is for `exec`: the commands in its calls, lines of blocks and spans that begin like a command, and no line for the owner. */
const shown: readonly Code[] = commandLines.flatMap(({ text, ...where }) => {
  const call = /^exec (\{.*\})$/.exec(text)?.[1];
  const line = call === undefined ? text : (JSON.parse(call) as { command: string }).command;
  const isCommand = call !== undefined || /^(gh|curl|tmux|sh|yt-dlp|split) \S/.test(line);
  const command = line.replaceAll("SCRIPTS", `${EXTRACTED}/${where.skill}/scripts`).replaceAll("…", "x");
  return isCommand ? [{ ...where, text: command }] : [];
});

test("the guard lets every command run that a built-in skill shows", async () => {
  expect(shown.length).toBeGreaterThan(35);
  const permit = permitter();
  for (const { where, text } of shown) {
    expect([where, text, await permit(text)]).toEqual([where, text, { decision: "allow" }]);
  }
});

test("the guard does not let a skill's commands run that destroy", async () => {
  const permit = permitter();
  for (const command of [
    "tmux -S tmux.sock send-keys -t py -l -- 'rm -rf /'",
    `sh ${EXTRACTED}/tmux/scripts/serve.sh tmux.sock; rm -rf .`,
    `echo x > ${EXTRACTED}/tmux/scripts/serve.sh`,
  ])
    expect(await permit(command)).toMatchObject({ decision: "deny" });
});
