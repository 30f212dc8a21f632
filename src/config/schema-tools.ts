/** The `tools` section of the configuration: what the agent may do, and how far it goes. */

import * as v from "valibot";
import { ENGINE_NAMES } from "../lib/engine-names.ts";
import { isRegularExpression } from "../lib/regular-expression.ts";
import { amount, flag, option, setting, shaped, text, textByName, texts, whole } from "./schema-entry.ts";

const patterns = v.array(shaped("a regular expression", isRegularExpression));

const web = v.object({
  enable: setting("Whether the agent can search and read the web", flag, true),
  proxy: option("The proxy to go through, in place of the one in HTTPS_PROXY and HTTP_PROXY", text),
  proxyResolvesNames: setting(
    "Whether names that cannot be resolved here are left to the proxy; where they lead is then not checked",
    flag,
    false,
  ),
  userAgent: option("What to present itself as", text),
  search: setting(
    "Searching the web",
    v.object({
      provider: option(
        `Where to search: ${ENGINE_NAMES.join(", ")}; without it brave where there is a key, else duckduckgo`,
        text,
      ),
      apiKey: setting(
        "The key for it; without it the vendor's usual variable, such as BRAVE_API_KEY",
        text,
        "",
      ),
      baseUrl: setting("The address of a SearXNG of your own; without it SEARXNG_BASE_URL", text, ""),
      maxResults: setting("How many results to show unless a search asks for another number", whole(1), 5),
      timeout: setting("Seconds a search may take", whole(1, 600), 30),
    }),
    {},
  ),
  fetch: setting(
    "Reading pages",
    v.object({
      useJinaReader: setting(
        "Whether pages are read by Jina's service, which then learns which",
        flag,
        false,
      ),
    }),
    {},
  ),
});

const exec = v.object({
  enable: setting("Whether the agent can run commands", flag, true),
  timeout: setting("Seconds a command may run unless it asks for another time; 0 is no limit", amount, 60),
  pathPrepend: setting("Folders to put before PATH", text, ""),
  pathAppend: setting("Folders to put after PATH", text, ""),
  policy: setting(
    "Which commands run: guarded refuses what destroys, ask puts that to the owner, allowlist runs only what allowPatterns name, off runs everything",
    v.picklist(["guarded", "ask", "allowlist", "off"]),
    "guarded",
  ),
  sandbox: setting(
    "What commands are shut in with: bwrap, none, or auto, which is bwrap where it works; empty is auto",
    v.picklist(["auto", "bwrap", "none", ""]),
    "auto",
  ),
  sandboxRoBinds: setting("More folders that commands in the sandbox can read", texts, []),
  sandboxRwBinds: setting("More folders that commands in the sandbox can change", texts, []),
  allowedEnvKeys: setting("More environment variables that commands get to see", texts, []),
  allowPatterns: setting(
    "Commands that are let through, as regular expressions for the whole of each one",
    patterns,
    [],
  ),
  denyPatterns: setting(
    "Commands that are refused, as regular expressions for any part of them",
    patterns,
    [],
  ),
});

const imageGeneration = v.object({
  enabled: setting("Whether the agent can make pictures", flag, false),
  provider: setting("The provider that makes them", text, "openrouter"),
  model: setting("The model that makes them", text, "openai/gpt-5.4-image-2"),
  defaultAspectRatio: setting("Their shape", text, "1:1"),
  defaultImageSize: setting("Their size", text, "1K"),
  maxImagesPerTurn: setting("How many in one turn", whole(1, 8), 4),
  saveDir: setting("The folder for them, below media", text, "generated"),
});

const cliApps = v.object({
  enable: setting("Whether command-line apps can be used", flag, true),
  installTimeout: setting("Seconds an installation may take", amount, 300),
  runTimeout: setting("Seconds a run may take", amount, 60),
  catalogTtlSeconds: setting("Seconds the list of apps is kept", amount, 3600),
});

const mcpServer = v.object({
  type: option(
    "How to reach it; without it the other keys decide",
    v.picklist(["stdio", "sse", "streamableHttp"]),
  ),
  auth: option("How to log in", v.picklist(["oauth"])),
  command: setting("The program to start", text, ""),
  args: setting("Its arguments", texts, []),
  env: setting("Environment variables for it", textByName, {}),
  cwd: option("The folder to start it in", text),
  url: setting("The address of a server that runs already", text, ""),
  headers: setting("HTTP headers to send to it", textByName, {}),
  toolTimeout: setting("Seconds a call may take", amount, 30),
  enabledTools: setting('Which of its tools to offer; "*" is all of them', texts, ["*"]),
});

export const tools = v.object({
  web: setting("The web", web, {}),
  exec: setting("Commands", exec, {}),
  file: setting("Files", v.object({ enable: setting("Whether the agent can use files", flag, true) }), {}),
  my: setting(
    "The agent's view of itself",
    v.object({
      enable: setting("Whether the agent can look at its own settings", flag, true),
      allowSet: setting("Whether the agent can change its own settings", flag, false),
    }),
    {},
  ),
  cliApps: setting("Command-line apps", cliApps, {}),
  imageGeneration: setting("Pictures", imageGeneration, {}),
  mcpServers: setting("MCP servers, by a name of your own", v.record(text, mcpServer), {}),
  restrictToWorkspace: setting("Whether tools are kept inside the workspace", flag, true),
  allowedPaths: setting("Folders beside the workspace that tools may use", texts, []),
  maxSessionMessagesPerMinute: setting("The most messages of a chat a minute; 0 is no limit", whole(0), 0),
  ssrfWhitelist: setting("Private networks and addresses that tools may reach, as 10.0.0.0/8", texts, []),
  webuiAllowLocalServiceAccess: setting("Kept for the original, without effect", flag, true),
  webuiAllowRemotePackageInstall: setting("Kept for the original, without effect", flag, false),
});
