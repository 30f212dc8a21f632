/** `nanobot agent`: one message, or a conversation, in the terminal. */

import { fromCwd } from "../config/paths.ts";
import { Stopped, UserError } from "../core/errors.ts";
import { IMAGES_PER_MESSAGE } from "../core/media.ts";
import type { Media } from "../core/messages.ts";
import { join } from "../lib/path.ts";
import { chooseAgentModel } from "./agent-model.ts";
import { type CommandContext, defineCommand, type ExitCode, textOption, textOptions } from "./command.ts";
import { type CreatePrompter, createPrompter } from "./prompter.ts";
import { ensureWorkspace } from "./workspace.ts";

/** Piped text is one message, so it is bounded like one. */
const LONGEST_PIPED = 1024 * 1024;

/** The message to answer, or `undefined` for a conversation. */
async function messageFrom({ app, options, signal }: CommandContext): Promise<string | undefined> {
  const hasImages = textOptions(options, "image").length > 0;
  const { terminal } = app.platform;
  const given = textOption(options, "message");
  if (given !== undefined) return checked(given, "-m", hasImages);
  if (!terminal.stdinIsTty) {
    return checked(await terminal.readAll(LONGEST_PIPED, signal), "stdin", hasImages);
  }
  if (terminal.stdoutIsTty && options["json"] !== true) return undefined;
  if (hasImages) return "";
  throw new UserError("A conversation needs a terminal", {
    hint: 'Give the message with -m "…", or pipe it in',
  });
}

/** Images may come without a word. */
function checked(message: string, source: string, hasImages: boolean): string {
  if (message.trim() === "" && !hasImages) throw new UserError(`The message from ${source} is empty`);
  return message.trim();
}

/** Kept in the workspace, where the model's tools find them too. */
async function saveImages({ app, options }: CommandContext): Promise<readonly Media[]> {
  const paths = textOptions(options, "image");
  if (paths.length === 0) return [];
  if (paths.length > IMAGES_PER_MESSAGE) {
    throw new UserError(`Cannot send ${paths.length} images: a message takes ${IMAGES_PER_MESSAGE}`);
  }
  const store = await app.media();
  const saved: Media[] = [];
  for (const path of paths) {
    saved.push(await store.save({ channel: "cli", path: fromCwd(path, app.platform), imagesOnly: true }));
  }
  return saved;
}

export async function agent(context: CommandContext, createPrompter: CreatePrompter): Promise<ExitCode> {
  const { app, options, signal } = context;
  const session = textOption(options, "session") ?? "cli:direct";
  if (session === "") throw new UserError("A session key cannot be empty");
  const message = await messageFrom(context);
  const chosen = await chooseAgentModel(context, createPrompter).catch(leftAtQuestion);
  if (chosen === undefined) return 130;
  const { model, notice } = chosen;
  await ensureWorkspace(app);
  const media = await saveImages(context);
  const { home } = await app.paths();
  const { env } = app.platform;
  const conversation = app.converse(
    {
      channel: "cli",
      model,
      isModelWanted: ["model", "local", "offline"].some((name) => options[name] !== undefined),
      showReasoning: options["show-reasoning"] === true,
      config: {
        session,
        media: media.map((file) => ({ ...file })),
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
  try {
    const outcome = await conversation;
    return message !== undefined && outcome !== "answer" && outcome !== "command" ? 1 : 0;
  } catch (error) {
    leftAtQuestion(error);
    return 130;
  }
}

/** Whoever leaves at a question wants nothing more. */
function leftAtQuestion(error: unknown): undefined {
  if (!(error instanceof Stopped)) throw error;
}

export const command = defineCommand({
  about: "Ask the agent, or talk with it",
  ownerOnly: true,
  options: {
    message: {
      type: "string",
      short: "m",
      value: "TEXT",
      about: "answer this one message and leave; stdin is not read then",
    },
    image: {
      type: "string",
      value: "FILE",
      multiple: true,
      about: "send this PNG, JPEG, GIF or WebP image along, with a message or without",
    },
    session: {
      type: "string",
      short: "s",
      value: "KEY",
      about: "the conversation to go on with (cli:direct)",
    },
    model: { type: "string", value: "NAME", about: "use this model" },
    local: { type: "boolean", about: "use a model server that runs on this machine" },
    offline: { type: "boolean", about: "use the built-in stand-in, which is no language model" },
    json: { type: "boolean", about: "print one JSON object instead of text" },
    "show-reasoning": { type: "boolean", about: "show what the model thinks, on stderr" },
    "no-markdown": { type: "boolean", about: "print the text as the model wrote it" },
  },
  run: (context) => agent(context, createPrompter),
});
