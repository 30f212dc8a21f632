/** `nanobot status`: where things are, which model answers and why. */

import { UserError } from "../core/errors.ts";
import { safeJson } from "../lib/safe-json.ts";
import { type CommandContext, defineCommand, type ExitCode } from "./command.ts";

async function modelStatus({ app }: CommandContext) {
  try {
    const { name, why, offline, contextWindowTokens } = await app.chooseModel({});
    return { ready: true, model: name, why, offline, contextWindowTokens };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { ready: false, problem: error.message, hint: error.hint };
  }
}

async function run(context: CommandContext): Promise<ExitCode> {
  const { app, options } = context;
  const { files, terminal, runtime, os, arch } = app.platform;
  const { configFile, workspace } = await app.paths();
  const model = await modelStatus(context);
  const status = {
    version: app.version,
    runtime: `${runtime}, ${os} ${arch}`,
    config: { path: configFile, exists: (await files.stat(configFile)) !== undefined },
    workspace: { path: workspace, exists: (await files.stat(workspace)) !== undefined },
    model,
    sessions: (await (await app.sessions()).keys()).length,
    tools: (await app.toolbox()).definitions.map(({ name }) => name),
  };
  if (options["json"] === true) {
    terminal.out(`${safeJson(status, 2)}\n`);
    return model.ready ? 0 : 1;
  }
  const mark = (there: boolean) => (there ? "✓" : "✗ not there yet");
  const answering = model.ready
    ? `${model.model} (${model.why})`
    : `✗ ${model.problem}${model.hint ? `. ${model.hint}` : ""}`;
  terminal.out(
    [
      `nanobot ${status.version} (${status.runtime})`,
      `Config:    ${configFile} ${mark(status.config.exists)}`,
      `Workspace: ${workspace} ${mark(status.workspace.exists)}`,
      `Model:     ${answering}`,
      `Sessions:  ${status.sessions}`,
      `Tools:     ${status.tools.join(", ")}`,
      "",
    ].join("\n"),
  );
  return model.ready ? 0 : 1;
}

export const command = defineCommand({
  about: "Show where things are and which model answers",
  options: { json: { type: "boolean", about: "print JSON" } },
  run,
});
