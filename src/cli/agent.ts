/** `nanobot agent`: one message, or a conversation, in the terminal. */

import type { ModelChoice } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import { join } from "../lib/path.ts";
import { type CommandContext, defineCommand, type ExitCode, textOption } from "./command.ts";
import { ensureWorkspace } from "./workspace.ts";

/** Piped text is one message, so it is bounded like one. */
const LONGEST_PIPED = 1024 * 1024;

/** The message to answer, or `undefined` for a conversation. */
async function messageFrom({ app, options, signal }: CommandContext): Promise<string | undefined> {
  const { terminal } = app.platform;
  const given = textOption(options, "message");
  if (given !== undefined) return checked(given, "-m");
  if (!terminal.stdinIsTty) return checked(await terminal.readAll(LONGEST_PIPED, signal), "stdin");
  if (terminal.stdoutIsTty && options["json"] !== true) return undefined;
  throw new UserError("A conversation needs a terminal", {
    hint: 'Give the message with -m "…", or pipe it in',
  });
}

function checked(message: string, source: string): string {
  if (message.trim() === "") throw new UserError(`The message from ${source} is empty`);
  return message.trim();
}

/** One line about a model that is none. */
function noticeFor(model: ModelChoice, isWanted: boolean): string | undefined {
  if (!model.offline) return undefined;
  return isWanted
    ? "The built-in offline stand-in answers. It is no language model."
    : 'No model is configured, so the built-in offline stand-in answers. Run "nanobot onboard" to set one up.';
}

async function run(context: CommandContext): Promise<ExitCode> {
  const { app, options, signal } = context;
  const session = textOption(options, "session") ?? "cli:direct";
  if (session === "") throw new UserError("A session key cannot be empty");
  const message = await messageFrom(context);
  const wanted = textOption(options, "model");
  const model = await app.chooseModel({
    ...(wanted === undefined ? {} : { model: wanted }),
    offline: options["offline"] === true,
  });
  await ensureWorkspace(app);
  const { home } = await app.paths();
  const { env } = app.platform;
  const notice = noticeFor(model, options["offline"] === true);
  const outcome = await app.converse(
    {
      channel: "cli",
      model,
      config: {
        session,
        markdown: options["no-markdown"] !== true,
        json: options["json"] === true,
        color: !env["NO_COLOR"],
        modelLabel: model.name,
        historyFile: join(home, "history", "cli_history.jsonl"),
        ...(message === undefined ? {} : { message }),
        ...(notice === undefined ? {} : { notice }),
      },
    },
    signal,
  );
  return message !== undefined && outcome !== "answer" && outcome !== "command" ? 1 : 0;
}

export const command = defineCommand({
  about: "Ask the agent, or talk with it",
  options: {
    message: {
      type: "string",
      short: "m",
      value: "TEXT",
      about: "answer this one message and leave; stdin is not read then",
    },
    session: {
      type: "string",
      short: "s",
      value: "KEY",
      about: "the conversation to go on with (cli:direct)",
    },
    model: { type: "string", value: "NAME", about: "use this model" },
    offline: { type: "boolean", about: "use the built-in stand-in, which is no language model" },
    json: { type: "boolean", about: "print one JSON object instead of text" },
    "no-markdown": { type: "boolean", about: "print the text as the model wrote it" },
  },
  run,
});
