/** `nanobot tools`: the agent's tools by hand, through the same wrapper as in a turn. */

import { Stopped } from "../core/errors.ts";
import { type InboundId, NOWHERE } from "../core/messages.ts";
import { fileLabel } from "../lib/breadcrumb.ts";
import { safeJson } from "../lib/safe-json.ts";
import { oneLine, stripControls } from "../lib/text.ts";
import { BY_HAND } from "./by-hand.ts";
import { type CommandContext, defineCommand, type ExitCode } from "./command.ts";
import { ensureWorkspace } from "./workspace.ts";

async function list({ app, options }: CommandContext): Promise<ExitCode> {
  const { terminal } = app.platform;
  const { definitions } = await app.toolbox();
  if (options["json"] === true) {
    terminal.out(`${safeJson(definitions, 2)}\n`);
    return 0;
  }
  const width = Math.max(0, ...definitions.map(({ name }) => name.length));
  for (const { name, description } of definitions)
    terminal.out(`${name.padEnd(width)}  ${oneLine(description, 100)}\n`);
  return 0;
}

/** Far above any sensible call. */
const LONGEST_PIPED = 4 * 1024 * 1024;

/** Nothing at all means no arguments. */
async function argumentsFrom({ app, positionals, signal }: CommandContext): Promise<string> {
  const [, given] = positionals;
  const { terminal } = app.platform;
  const isPiped = given === "-" || (given === undefined && !terminal.stdinIsTty);
  const json = isPiped ? await terminal.readAll(LONGEST_PIPED, signal) : (given ?? "");
  return json.trim() === "" ? "{}" : json;
}

async function call(context: CommandContext): Promise<ExitCode> {
  const { app, positionals, options, signal } = context;
  const [name = ""] = positionals;
  const json = await argumentsFrom(context);
  await ensureWorkspace(app);
  const toolbox = await app.toolbox();
  const interrupt = new AbortController();
  await app.askAtTerminal(() => interrupt.abort(new Stopped("user")));
  const id = `cli_${app.platform.ids.next()}`;
  const result = await toolbox.run(
    { id, name, arguments: json },
    {
      sessionKey: BY_HAND,
      turn: id as InboundId,
      sender: "user",
      origin: "chat",
      channel: NOWHERE,
      chatId: "",
      signal: AbortSignal.any([signal, interrupt.signal]),
    },
  );
  const { terminal } = app.platform;
  // Images are told by where they are kept: in base64 they would flood a terminal.
  const { images: _, ...said } = result;
  if (options["json"] === true) terminal.out(`${safeJson({ tool: name, ...said })}\n`);
  else
    for (const part of [said.text, ...(said.media ?? []).map(fileLabel)])
      terminal.out(`${stripControls(part)}\n`);
  if ((await app.commandsLeft(BY_HAND)) > 0)
    terminal.err("The session ends with this command: only a conversation keeps one\n");
  if (interrupt.signal.aborted) return 130;
  return result.ok ? 0 : 1;
}

const json = { type: "boolean", about: "print JSON" } as const;

export const command = defineCommand({
  about: "List the agent's tools, or call one without a model",
  subcommands: {
    list: { about: "List the tools", options: { json }, run: list },
    call: {
      about:
        "Call a tool as the agent would, with a JSON object of arguments; left out or -, it is read from stdin",
      positionals: ["NAME", "JSON?"],
      options: { json },
      ownerOnly: true,
      run: call,
    },
  },
});
