/** `nanobot config`: checks the configuration, and says where it is and what it may hold. */

import { expandVariables } from "../config/expand.ts";
import { configJsonSchema } from "../config/json-schema.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { configPaths } from "../config/paths.ts";
import { checkTimeZone } from "../config/time-zone.ts";
import type { App } from "../core/app.ts";
import { UserError } from "../core/errors.ts";
import { safeJson } from "../lib/safe-json.ts";
import { type CommandContext, defineCommand, type ExitCode } from "./command.ts";

export const command = defineCommand({
  about: "Check the configuration, or say where it is and what it may hold",
  subcommands: {
    check: {
      about: "Say whether nanobot could start with the configuration",
      options: { json: { type: "boolean", about: "print JSON" } },
      run: check,
    },
    path: {
      about: "Print where the configuration file is",
      run: async ({ app }) => print(app, configFileOf(app)),
    },
    schema: {
      about: "Print the JSON Schema of the configuration, for editors",
      run: async ({ app }) => print(app, safeJson(await configJsonSchema(), 2)),
    },
  },
});

function print(app: App, text: string): ExitCode {
  app.platform.terminal.out(`${text}\n`);
  return 0;
}

function configFileOf(app: App): string {
  return configPaths(app.platform, app.flags).configFile;
}

async function check({ app, options }: CommandContext): Promise<ExitCode> {
  if (options["json"] !== true) return checkForPeople(app);
  try {
    const { path, exists, warnings, model } = await inspect(app);
    return print(app, safeJson({ ok: true, path, exists, model, warnings }));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    print(app, safeJson({ ok: false, error: error.message, hint: error.hint }));
    return 2;
  }
}

async function checkForPeople(app: App): Promise<ExitCode> {
  const { path, exists, warnings, model } = await inspect(app);
  for (const warning of warnings) print(app, `Warning: ${warning}`);
  return print(app, `${exists ? path : `No ${path}, so the defaults hold`}: ok, model ${model}`);
}

/** Throws a `UserError` when nanobot could not start like this. */
async function inspect(app: App): Promise<LoadedConfig & { readonly model: string }> {
  const { files, env } = app.platform;
  const mustExist = app.flags.config !== undefined;
  const loaded = await loadConfig({ files, path: configFileOf(app), env, mustExist });
  const { name, why } = await app.chooseModel({});
  const missing = checkVariables(loaded, env);
  // Networks, folders and what else only the tools themselves look at.
  await app.toolbox();
  const channels = await checkChannels(app);
  return {
    ...loaded,
    warnings: [...loaded.warnings, ...missing, ...channels],
    model: `${name} (${why})`,
  };
}

/** The warnings. One that does not exist here is only warned of, like every other setting of the original's. */
async function checkChannels(app: App): Promise<readonly string[]> {
  const channels = await app.channels();
  const wrong = channels.find(({ exists, problem }) => exists && problem !== undefined);
  if (wrong?.problem !== undefined) throw new UserError(wrong.problem);
  return channels.flatMap(({ enabled, warnings = [] }) => (enabled ? warnings : []));
}

/**
 * What is wrong with the variables in the settings. One that is not set here may be set where nanobot runs,
 * so that is a warning.
 */
function checkVariables({ config }: LoadedConfig, env: App["platform"]["env"]): string[] {
  let timezone: string | undefined;
  try {
    timezone = expandVariables(config, env, []).agents.defaults.timezone;
  } catch (error) {
    if (error instanceof UserError) return [error.message];
    throw error;
  }
  if (timezone !== undefined) checkTimeZone(timezone);
  return [];
}
