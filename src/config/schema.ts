/**
 * The whole configuration as one schema: the original's keys, our defaults, and what editors show.
 * Defaults are here and nowhere else.
 */

import * as v from "valibot";
import { channels as channelRegistry } from "../channels/registry.ts";
import { isTimeZone } from "../lib/zoned-time.ts";
import {
  amount,
  anythingByName,
  described,
  flag,
  fraction,
  option,
  port,
  setting,
  shaped,
  text,
  textByName,
  texts,
  whole,
} from "./schema-entry.ts";
import { tools } from "./schema-tools.ts";
import { TIME_ZONE } from "./time-zone.ts";

const timeZone = shaped(TIME_ZONE, isTimeZone);

const provider = setting("The provider of the model, or auto to find it by the model's name", text, "auto");
const maxTokens = setting("The most tokens one reply may have", whole(1), 8192);
const contextWindowTokens = setting("How many tokens the model can look at", whole(1), 200_000);
const temperature = setting("How freely the model chooses its words", fraction(0, 2), 0.1);
const reasoningEffort = option(
  "How long the model thinks",
  shaped("none, minimal, low, medium, high, xhigh, max or adaptive", (value) =>
    /^\s*(none|minimal|low|medium|high|xhigh|max|adaptive)?\s*$/i.test(value),
  ),
);

const fallbackModel = v.object({
  provider: described("The provider of this model", text),
  model: described("The model's name, as the provider knows it", text),
  maxTokens: option("The most tokens one reply may have", whole(1)),
  contextWindowTokens: option("How many tokens the model can look at", whole(1)),
  temperature: option("How freely the model chooses its words", fraction(0, 2)),
  reasoningEffort,
});

const dream = v.object({
  enabled: setting("Whether memory is tidied up in the background", flag, true),
  intervalH: setting("Hours between two runs", whole(1), 2),
  cron: option("When to run, as a cron expression; wins over intervalH", text),
  modelOverride: option("The preset to use for it", text),
});

const agentDefaults = v.object({
  workspace: option("The folder of the agent's files; without it `workspace` below NANOBOT_HOME", text),
  modelPreset: option("The preset of modelPresets to use; wins over model and provider", text),
  model: option("The model to talk to, as its provider knows it", text),
  provider,
  maxTokens,
  contextWindowTokens,
  contextBlockLimit: option("The most tokens of a prompt, where it should be less than fits", whole(1)),
  temperature,
  fallbackModels: setting(
    "What to try in turn when the model fails: names of presets, or models",
    v.array(v.union([text, fallbackModel])),
    [],
  ),
  maxToolIterations: setting("How often the model may call tools before it must answer", whole(1), 40),
  maxConcurrentSubagents: setting("How many subagents may work at once", whole(1, 64), 4),
  maxSubagentIterations: setting("How often a subagent may call tools before it must answer", whole(1), 15),
  failOnToolError: setting("Whether a subagent stops at the first tool that fails", flag, true),
  maxToolResultChars: setting("The most characters of a tool's result the model sees", whole(1), 16_000),
  providerRetryMode: setting(
    "How long to go on when a provider fails: a few times, or for as long as one call may take three times over",
    v.picklist(["standard", "persistent"]),
    "standard",
  ),
  toolHintMaxLength: setting("The longest hint of a tool call that is shown", whole(20, 500), 40),
  reasoningEffort,
  timezone: option("The time zone of the agent, as in Europe/Berlin; without it the machine's", timeZone),
  timezoneMode: option("Kept for the original; timezone alone decides", v.picklist(["auto", "manual"])),
  botName: setting("What the agent is called", text, "nanobot"),
  botIcon: setting("What stands before its name", text, "🐈"),
  unifiedSession: setting("Whether all chats share one conversation", flag, false),
  maxConcurrentTurns: setting(
    "How many turns may run at once over all chats; 0 as many as there are",
    whole(0),
    0,
  ),
  midTurn: setting(
    "What becomes of a message that comes while its chat is being answered: it joins that turn, or waits for its own",
    v.picklist(["steer", "queue"]),
    "steer",
  ),
  disabledSkills: setting("Names of skills that are not used", texts, []),
  idleCompactAfterMinutes: setting(
    "Minutes of silence after which a chat is summed up; 0 never",
    whole(0),
    15,
  ),
  idleCompactCheckIntervalSeconds: setting("Seconds between two looks for silent chats", whole(0), 60),
  consolidationRatio: setting(
    "The part of the context window that is left after summing up",
    fraction(0.1, 0.95),
    0.5,
  ),
  dream: setting("Tidying up memory in the background", dream, {}),
});

const modelPreset = v.object({
  model: described("The model's name, as the provider knows it", text),
  provider,
  maxTokens,
  contextWindowTokens,
  temperature,
  reasoningEffort,
});

const modelPrice = v.object({
  input: described("US dollars for a million tokens of input", amount),
  output: described("US dollars for a million tokens of output", amount),
  cached: option("The same for input that the provider has in its cache", amount),
});

const providerBlock = v.object({
  apiKey: option("The key, or a variable of the environment that holds it", text),
  apiBase: option("The address of the API, where it is not the usual one", text),
  apiType: setting("Which API of it to use", v.picklist(["auto", "chat_completions", "responses"]), "auto"),
  extraHeaders: option("HTTP headers to send along", textByName),
  extraBody: option("Fields to add to every request, but for the conversation and its tools", anythingByName),
  extraQuery: option("Parameters to add to the address", anythingByName),
  proxy: option("The proxy to go through", text),
  thinkingStyle: option(
    "How this provider is asked to think",
    v.picklist(["thinking_type", "enable_thinking", "reasoning_split"]),
  ),
  displayName: option("What to call it", text),
  region: option("The region of a cloud provider", text),
  profile: option("The profile of a cloud provider", text),
});

/** Ids that do not fit a number would silently become those of somebody else. */
const senderId = v.union([text, v.pipe(v.number(), v.safeInteger())]);

const enabled = option("Whether this channel runs", flag);
const allowFrom = option('Who may talk to the agent; "*" is everybody, none is nobody', v.array(senderId));

const channelBlock = v.looseObject({
  enabled,
  allowFrom,
  pairing: option(
    "Whether strangers are given a code by which they can be let in; wins over access.pairing",
    flag,
  ),
  groupPolicy: option(
    "Whom the agent hears in groups: those who mention it, everybody who may talk to it, or those of groupAllowFrom",
    v.picklist(["mention", "open", "allowlist"]),
  ),
  groupAllowFrom: option("Ids of groups in which it is heard, with the policy allowlist", v.array(senderId)),
  sendProgress: option("Wins over channels.sendProgress", flag),
  sendToolHints: option("Wins over channels.sendToolHints", flag),
  showReasoning: option("Wins over channels.showReasoning", flag),
});

/** Those that no channel reads by itself. */
export const sharedChannelKeys: readonly string[] = Object.keys(channelBlock.entries);

/** One that does not exist here may have keys of these names that mean something else. */
const unknownChannelBlock = v.looseObject({ enabled, allowFrom });

/** Those that have a block of their own: the terminal is set up by flags. */
export const channelNames: readonly string[] = Object.keys(channelRegistry).filter((name) => name !== "cli");

const channelBlocks = Object.fromEntries(
  channelNames.map((name) => [name, option(`The channel ${name}`, channelBlock)]),
);

const channels = v.objectWithRest(
  {
    sendProgress: setting("Whether text written between tool calls is sent", flag, true),
    sendToolHints: setting("Whether a line is sent for each tool call", flag, true),
    showReasoning: setting("Whether the model's thinking is sent", flag, false),
    sendMaxRetries: setting(
      "How often a message that a platform did not take is tried again",
      whole(0, 10),
      3,
    ),
    extractDocumentText: setting("Kept for the original, without effect", flag, true),
    transcriptionProvider: option("Kept for the original: see transcription.provider", text),
    transcriptionLanguage: option("Kept for the original: see transcription.language", text),
    // Their names are not known to the types, to which each is one of the others.
    ...(channelBlocks as object),
  },
  unknownChannelBlock,
);

const transcription = v.object({
  enabled: setting("Whether voice messages are turned into text", flag, true),
  provider: option("The provider that does it", text),
  model: option("The model that does it", text),
  language: option(
    "The language spoken, as two or three letters",
    shaped("two or three small letters", (value) => /^[a-z]{2,3}$/.test(value)),
  ),
  maxDurationSec: setting("The longest recording, in seconds", whole(1, 600), 120),
  maxUploadMb: setting("The largest recording, in megabytes", whole(1, 100), 25),
});

const api = v.object({
  host: setting("The address the API listens on", text, "127.0.0.1"),
  port: setting("The port the API listens on", port, 8900),
  timeout: setting("Seconds a request may take", amount, 120),
  apiKey: setting("What callers must send; required where the address is not this machine's own", text, ""),
});

const heartbeat = v.object({
  enabled: setting("Whether HEARTBEAT.md is looked at from time to time", flag, true),
  intervalS: setting("Seconds between two looks", whole(1), 1800),
  keepRecentMessages: setting("How many messages of earlier looks the next one sees", whole(0), 8),
});

const gateway = v.object({
  host: setting("The address the gateway listens on", text, "127.0.0.1"),
  port: setting("The port the gateway listens on", port, 18_790),
  owner: option(
    "The chat of whoever owns the agent, as channel:chatId",
    shaped("a channel and a chat, as in telegram:123456789", (value) => /^[^:]+:./.test(value)),
  ),
  publicUrl: option(
    "Where platforms reach the gateway, as in https://bot.example.com",
    shaped("an address that begins https:// or http://", (value) => /^https?:\/\/[^/]/.test(value)),
  ),
  trustedProxies: setting(
    "Addresses of proxies whose CF-Connecting-IP is believed, as in 127.0.0.1",
    texts,
    [],
  ),
  maxBodyBytes: setting("The largest body of a request, in bytes", whole(1_024), 4_194_304),
  drainSeconds: setting(
    "How long running turns may go on when the gateway is told to end",
    whole(0, 3_600),
    20,
  ),
  restartMode: setting(
    "How a restart is done: exit leaves it to whoever started the program, exec and spawn begin it anew; auto is exit under systemd",
    v.picklist(["auto", "exec", "spawn", "exit"]),
    "auto",
  ),
  heartbeat: setting("Tasks the agent looks at from time to time", heartbeat, {}),
});

const access = v.object({
  pairing: setting(
    "Whether strangers in private chats are given a code by which they can be let in",
    flag,
    false,
  ),
  approvers: setting(
    "Who may answer what is put to the owner, as channel:senderId; without any the owner alone",
    v.array(shaped("a channel and an id, as in telegram:123456789", (value) => /^[^:]+:./.test(value))),
    [],
  ),
});

const limits = v.object({
  toolCallsPerHour: setting("Tool calls a session may make in an hour", whole(1), 1_000),
  tasksPerHour: setting(
    "Tasks a session may give to subagents in an hour, and how often a job may run in one",
    whole(1),
    200,
  ),
  jobs: setting("Jobs there may be at once", whole(1, 10_000), 100),
});

const logging = v.object({
  level: setting("The least important lines to show", v.picklist(["debug", "info", "warn", "error"]), "warn"),
});

export const configSchema = v.object({
  agents: setting("The agent", v.object({ defaults: setting("How it works", agentDefaults, {}) }), {}),
  modelPresets: setting("Models with their settings, by a name of your own", v.record(text, modelPreset), {}),
  modelPrices: setting(
    "What models cost where their provider does not say, by name or provider/name",
    v.record(text, modelPrice),
    {},
  ),
  providers: setting("Keys and addresses of model providers, by name", v.record(text, providerBlock), {}),
  channels: setting("Where the agent can be reached: a block for each channel", channels, {}),
  transcription: setting("Voice messages", transcription, {}),
  api: setting("The OpenAI-compatible API", api, {}),
  gateway: setting("The gateway", gateway, {}),
  access: setting("Who may talk to the agent, and who decides", access, {}),
  tools: setting("What the agent may do", tools, {}),
  limits: setting("How much the agent may do, so that loops end by themselves", limits, {}),
  logging: setting("What is written to stderr", logging, {}),
});

export type Config = v.InferOutput<typeof configSchema>;
export type ChannelBlock = v.InferOutput<typeof channelBlock>;
