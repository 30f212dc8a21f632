/** Which model answers in one run of `nanobot agent`, and the line that is said about it. */

import type { LocalServer, ModelChoice } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import { modelNameProblem } from "../lib/model-name.ts";
import { type CommandContext, textOption } from "./command.ts";
import { pickLocalModel, someOf } from "./local.ts";
import type { CreatePrompter } from "./prompter.ts";

export interface AgentModel {
  readonly model: ModelChoice;
  readonly notice: string | undefined;
}

export async function chooseAgentModel(
  { app, options, signal }: CommandContext,
  createPrompter: CreatePrompter,
): Promise<AgentModel> {
  const wanted = textOption(options, "model");
  const problem = wanted === undefined ? undefined : modelNameProblem(wanted);
  if (problem !== undefined) throw new UserError(`Read --model: ${problem}`);
  const offline = options["offline"] === true;
  if (options["local"] === true) {
    if (offline) throw new UserError("--local and --offline contradict each other");
    const { stdinIsTty, stdoutIsTty } = app.platform.terminal;
    const canAsk = stdinIsTty && stdoutIsTty && options["json"] !== true;
    const prompter = canAsk ? () => createPrompter(signal, "Models on this machine") : undefined;
    const { server, model } = await pickLocalModel(app, wanted, { signal, prompter });
    return {
      model: await app.chooseModel({ model, server }),
      notice: `${model} of ${server.label} on this machine answers.`,
    };
  }
  const model = await app.chooseModel({ ...(wanted === undefined ? {} : { model: wanted }), offline });
  if (!model.offline) return { model, notice: undefined };
  if (offline) return { model, notice: "The built-in offline stand-in answers. It is no language model." };
  return { model, notice: notConfigured(await app.localServers(signal)) };
}

/** What was found is only named: nobody said that it may be used. */
function notConfigured(servers: readonly LocalServer[]): string {
  const found = servers.map(({ label, models }) => `${label} with ${someOf(models)}`).join("; ");
  const way =
    found === ""
      ? 'Run "nanobot onboard" to set one up.'
      : `On this machine runs ${found}: use it with "nanobot agent --local", or run "nanobot onboard".`;
  return `No model is configured, so the built-in offline stand-in answers. ${way}`;
}
