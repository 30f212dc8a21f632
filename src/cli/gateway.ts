/** `nanobot gateway`: channels, agent and HTTP in one process, until a signal ends it. */

import { UserError } from "../core/errors.ts";
import { modelNameProblem } from "../lib/model-name.ts";
import { NO_CHANNELS } from "../lib/phrases.ts";
import { type CommandContext, defineCommand, type ExitCode, textOption } from "./command.ts";
import { ensureWorkspace } from "./workspace.ts";

function portFrom(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new UserError("Read --port: expected a number from 0 to 65535");
}

async function run({ app, options, signal }: CommandContext): Promise<ExitCode> {
  const wanted = textOption(options, "model");
  const problem = wanted === undefined ? undefined : modelNameProblem(wanted);
  if (problem !== undefined) throw new UserError(`Read --model: ${problem}`);
  const offline = options["offline"] === true;
  const port = portFrom(textOption(options, "port"));
  const { terminal } = app.platform;
  const outcome = await app.gateway(
    {
      async prepare() {
        const model = await app.chooseModel({ ...(wanted === undefined ? {} : { model: wanted }), offline });
        if (model.offline && !offline) throw noModel();
        await ensureWorkspace(app);
        return model;
      },
      isModelWanted: wanted !== undefined || offline,
      host: textOption(options, "host"),
      port,
      onReady({ address, channels, model }) {
        const where = channels.length === 0 ? "" : ` on ${channels.join(", ")}`;
        terminal.err(`nanobot ${app.version} listens on ${address}, ${model} answers${where}\n`);
        if (channels.length === 0) terminal.err(`${NO_CHANNELS}\n`);
      },
    },
    signal,
  );
  return outcome === "ended" ? 0 : app.startAgain();
}

function noModel(): UserError {
  return new UserError("Cannot start: no model is configured", {
    hint: 'Run "nanobot onboard" to set one up, or give --offline for the built-in stand-in, which is no language model',
  });
}

export const command = defineCommand({
  about: "Run the agent behind its channels, until a signal ends it",
  isService: true,
  ownerOnly: true,
  options: {
    host: { type: "string", value: "ADDRESS", about: "listen on this address (gateway.host)" },
    port: { type: "string", short: "p", value: "PORT", about: "listen on this port (gateway.port)" },
    model: { type: "string", value: "NAME", about: "use this model" },
    offline: { type: "boolean", about: "use the built-in stand-in, which is no language model" },
  },
  run,
});
