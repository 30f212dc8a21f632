/** `nanobot onboard`: makes the configuration and the workspace, by asking or by flags. */

import { merged } from "../config/environment.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import {
  type Answers,
  apiBaseProblem,
  apiKeyProblem,
  CUSTOM,
  checkAnswers,
  emptyConfig,
  planSetup,
  vendorNamed,
} from "../config/onboarding.ts";
import { configPaths } from "../config/paths.ts";
import { saveConfig } from "../config/save.ts";
import type { App, LocalServer, VendorInfo } from "../core/app.ts";
import { Stopped, UserError } from "../core/errors.ts";
import { modelNameProblem } from "../lib/model-name.ts";
import { findSameName, isSameName } from "../lib/same-name.ts";
import { type CommandContext, defineCommand, type ExitCode, textOption } from "./command.ts";
import { someOf } from "./local.ts";
import { type CreatePrompter, createPrompter, type Prompter } from "./prompter.ts";

export const command = defineCommand({
  about: "Set up the configuration and the workspace",
  ownerOnly: true,
  options: {
    provider: { type: "string", value: "NAME", about: "who runs the model" },
    "api-key": { type: "string", value: "KEY", about: "the key for it" },
    "api-base": {
      type: "string",
      value: "URL",
      about: "the address of its API, where it is one of your own",
    },
    model: { type: "string", value: "NAME", about: "the model to talk to" },
    yes: { type: "boolean", short: "y", about: "ask nothing" },
  },
  run: (context) => onboard(context, createPrompter),
});

const INTRO = "This writes nanobot's configuration file. Ctrl-C leaves all as it is.";

export async function onboard(
  { app, options, signal }: Pick<CommandContext, "app" | "options" | "signal">,
  createPrompter: CreatePrompter,
): Promise<ExitCode> {
  const { terminal, files, env } = app.platform;
  const given = answersFrom(options);
  const canAsk = terminal.stdinIsTty && terminal.stdoutIsTty && options["yes"] !== true;
  const isTold = options["yes"] === true || Object.values(given).some((value) => value !== undefined);
  if (!canAsk && !isTold) throw nobodyToAsk();

  const { configFile } = configPaths(app.platform, app.flags);
  // Only what the file says: the environment is not ours to copy into it.
  const loaded = await loadConfig({ files, path: configFile, env: {} });
  checkAnswers(given, { vendors: app.vendors, config: loaded.config, env });
  try {
    const asking = async () => {
      const needsNoSearch = given.provider !== undefined && given.model !== undefined;
      const found = needsNoSearch ? [] : await app.localServers(signal);
      return ask(await createPrompter(signal, INTRO), given, loaded, { vendors: app.vendors, found });
    };
    await setUp(app, loaded, canAsk ? await asking() : await completed(given, app, signal));
  } catch (error) {
    if (error instanceof Stopped) return 130;
    throw error;
  }
  return 0;
}

function answersFrom(options: CommandContext["options"]): Answers {
  return {
    provider: textOption(options, "provider"),
    apiKey: textOption(options, "api-key"),
    apiBase: textOption(options, "api-base"),
    model: textOption(options, "model"),
  };
}

/** A server on this machine has the models it has, and not the one that many have. */
async function completed(given: Answers, app: App, signal: AbortSignal): Promise<Answers> {
  const vendor = given.provider === undefined ? undefined : vendorNamed(given.provider, app.vendors);
  const isTold = given.model !== undefined || given.apiBase !== undefined;
  if (!vendor?.local || isTold) return given;
  const server = (await app.localServers(signal)).find(({ name }) => name === vendor.name);
  const usual = vendor.defaultModel;
  const model = usual !== undefined && server?.models.includes(usual) ? usual : server?.models[0];
  return model === undefined ? given : { ...given, model };
}

function nobodyToAsk(): UserError {
  return new UserError("Set up nanobot: there is no terminal to ask on", {
    hint: "Say it with --provider NAME --api-key KEY (and --api-base URL, --model NAME), or --yes to go without a model",
  });
}

/** `undefined` leaves the file as it is. */
async function setUp(app: App, loaded: LoadedConfig, answers: Answers | undefined): Promise<void> {
  const { terminal, files, env, clock } = app.platform;
  const say = (line: string) => terminal.out(`${line}\n`);
  const notes: string[] = [];
  if (answers === undefined) {
    say(`Kept ${loaded.path}`);
  } else {
    const plan = planSetup(answers, { vendors: app.vendors, config: loaded.config, env });
    const changes = loaded.exists ? plan.changes : merged(emptyConfig, plan.changes);
    const saved = await saveConfig({ files, path: loaded.path, changes, now: clock.now() });
    say(`${saved.changed ? "Wrote" : "Kept"} ${loaded.path}`);
    if (saved.backup !== undefined) say(`Kept the old one as ${saved.backup}`);
    if (plan.model !== undefined) say(`Model: ${plan.model}`);
    notes.push(...plan.notes);
  }
  const added = await app.prepareWorkspace();
  const { workspace } = await app.paths();
  say(added.length === 0 ? `Workspace: ${workspace}` : `Workspace: ${workspace}, added ${added.join(", ")}`);
  for (const note of notes) say(note);
  say("Next: nanobot agent");
}

const LATER = "";

interface Known {
  readonly vendors: readonly VendorInfo[];
  /** What runs on this machine. */
  readonly found: readonly LocalServer[];
}

/** Asks for what no flag said. `undefined` when an existing file shall stay as it is. */
async function ask(
  prompter: Prompter,
  given: Answers,
  { exists, config }: LoadedConfig,
  known: Known,
): Promise<Answers | undefined> {
  const isChanging =
    !exists ||
    (await prompter.confirm(
      "There is a configuration. Choose its model anew? All else stays, and a backup is made.",
    ));
  if (!isChanging) return undefined;
  const { vendors, found } = known;
  const current = currentProvider(config, vendors);
  const provider =
    given.provider ??
    (await prompter.choose("Who runs the model?", {
      choices: providerChoices(known, current),
      initial: current,
    }));
  if (provider === LATER) return given;
  const vendor = vendorNamed(provider, vendors);
  const name = vendor?.name ?? provider;
  const saved = config.providers[findSameName(name, Object.keys(config.providers)) ?? name];
  const server = given.apiBase === undefined ? found.find((one) => one.name === vendor?.name) : undefined;
  const apiBase =
    given.apiBase ??
    (vendor?.baseUrl ? foundAddress(server, saved?.apiBase) : await askAddress(prompter, saved?.apiBase));
  const apiKey =
    given.apiKey ?? (await askKey(prompter, vendor, { isSaved: Boolean(saved?.apiKey?.trim()) }));
  const kept = current !== undefined && isSameName(name, current) ? config.agents.defaults.model : undefined;
  const usual = kept ?? vendor?.defaultModel ?? "";
  const model = given.model ?? (await askModel(prompter, usual, server?.models ?? []));
  return { provider, apiBase, apiKey, model };
}

/** The server that was found is meant, and not one at another address in the file. */
function foundAddress(server: LocalServer | undefined, saved: string | undefined): string | undefined {
  return server !== undefined && saved?.trim() ? server.baseUrl : undefined;
}

function askAddress(prompter: Prompter, saved: string | undefined): Promise<string> {
  const fallback = saved !== undefined && apiBaseProblem(saved) === undefined ? saved : "";
  return prompter.text("Address of its API", { fallback, check: apiBaseProblem });
}

const ANOTHER = "";

/** Out of `models`, where they are known. */
async function askModel(prompter: Prompter, usual: string, models: readonly string[]): Promise<string> {
  if (models.length > 0) {
    const model = await prompter.choose("Model", {
      choices: [
        ...models.map((name) => ({ value: name, label: name })),
        { value: ANOTHER, label: "Another one" },
      ],
      initial: models.includes(usual) ? usual : undefined,
    });
    if (model !== ANOTHER) return model;
  }
  return prompter.text("Model", { fallback: usual, check: modelNameProblem });
}

/** The provider in use: a known one, or one of the user's own as the file spells it. */
function currentProvider(
  { agents, providers }: LoadedConfig["config"],
  vendors: readonly VendorInfo[],
): string | undefined {
  const { provider } = agents.defaults;
  return vendorNamed(provider, vendors)?.name ?? findSameName(provider, Object.keys(providers));
}

/** First what runs on this machine already, then what is in use, then everybody. */
function providerChoices(
  { vendors, found }: Known,
  current: string | undefined,
): { value: string; label: string }[] {
  const isOwn = current !== undefined && current !== CUSTOM && vendorNamed(current, vendors) === undefined;
  const isFound = (name: string) => found.some((server) => server.name === name);
  const known = [
    ...found.map((server) => ({
      value: server.name,
      label: `${server.label} on this machine (${someOf(server.models)})`,
    })),
    ...(isOwn ? [{ value: current, label: current }] : []),
    ...vendors.filter(({ name }) => !isFound(name)).map(({ name, label }) => ({ value: name, label })),
  ];
  const other = vendors.some(({ name }) => name === CUSTOM)
    ? []
    : [{ value: CUSTOM, label: "Another one that speaks the OpenAI protocol" }];
  return [...known, ...other, { value: LATER, label: "Decide later" }];
}

/** Nothing typed leaves the key to the environment, or to the file as it was. */
async function askKey(
  prompter: Prompter,
  vendor: VendorInfo | undefined,
  { isSaved }: { isSaved: boolean },
): Promise<string | undefined> {
  if (vendor?.local) return undefined;
  const withoutSaved = vendor?.keyVariable
    ? `empty to take it from ${vendor.keyVariable}`
    : "empty if it takes none";
  const otherwise = isSaved ? "empty to keep the saved one" : withoutSaved;
  const key = await prompter.secret(`API key, ${otherwise}`, (value) =>
    value.trim() === "" ? undefined : apiKeyProblem(value),
  );
  return key.trim() === "" ? undefined : key;
}
