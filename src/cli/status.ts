/** `nanobot status`: where things are, which model answers and why, how commands are kept in, whether a gateway runs. */

import type { ChannelInfo, CommandsInfo } from "../core/app.ts";
import { safeJson } from "../lib/safe-json.ts";
import { oneLine, stripControls } from "../lib/text.ts";
import { type CommandContext, defineCommand, type ExitCode } from "./command.ts";
import { describeGateway, gatewayStatus } from "./gateway-status.ts";
import { describeModel, modelStatus } from "./model-status.ts";

async function run(context: CommandContext): Promise<ExitCode> {
  const { app, options, signal } = context;
  const { files, terminal, runtime, os, arch } = app.platform;
  const { configFile, workspace } = await app.paths();
  const model = await modelStatus(app);
  const status = {
    version: app.version,
    runtime: `${runtime}, ${os} ${arch}`,
    config: { path: configFile, exists: (await files.stat(configFile)) !== undefined },
    workspace: { path: workspace, exists: (await files.stat(workspace)) !== undefined },
    model,
    commands: await app.commands(),
    gateway: await gatewayStatus(app, signal),
    channels: (await app.channels()).filter(({ enabled }) => enabled),
    sessions: (await (await app.sessions()).keys()).length,
    tools: (await app.toolbox()).definitions.map(({ name }) => name),
  };
  if (options["json"] === true) {
    terminal.out(`${safeJson(status, 2)}\n`);
    return model.ready ? 0 : 1;
  }
  const mark = (there: boolean) => (there ? "✓" : "✗ not there yet");
  terminal.out(
    [
      `nanobot ${status.version} (${status.runtime})`,
      `Config:    ${configFile} ${mark(status.config.exists)}`,
      `Workspace: ${workspace} ${mark(status.workspace.exists)}`,
      `Model:     ${describeModel(model)}`,
      ...(model.ready && model.fallbacks.length > 0 ? [`Fallbacks: ${model.fallbacks.join(", ")}`] : []),
      `Commands:  ${describeCommands(status.commands)}`,
      `Gateway:   ${describeGateway(status.gateway)}`,
      `Channels:  ${describeChannels(status.channels)}`,
      `Sessions:  ${status.sessions}`,
      `Tools:     ${status.tools.join(", ")}`,
      "",
    ].join("\n"),
  );
  return model.ready ? 0 : 1;
}

const LONGEST_PROBLEM = 200;

function describeChannels(enabled: readonly ChannelInfo[]): string {
  const each = enabled.map(({ name, problem }) =>
    problem === undefined ? name : `${name} ✗ ${oneLine(problem, LONGEST_PROBLEM)}`,
  );
  return each.length === 0 ? "none is enabled" : each.join(", ");
}

/** Which rules hold, and what commands are shut in with, or why with nothing. */
function describeCommands({ enabled, policy, sandbox }: CommandsInfo): string {
  if (!enabled) return "none can be run (tools.exec.enable is false)";
  switch (sandbox.kind) {
    case "bwrap":
      return `${policy}, in a sandbox (bwrap${sandbox.hasProc ? "" : ", without /proc"})`;
    case "none":
      return `${policy}, no sandbox (${stripControls(sandbox.why)})`;
    case "refused":
      return `✗ refused, because tools.exec.sandbox is bwrap (${stripControls(sandbox.why)})`;
  }
}

export const command = defineCommand({
  about: "Show where things are, which model answers, and whether a gateway runs",
  options: { json: { type: "boolean", about: "print JSON" } },
  run,
});
