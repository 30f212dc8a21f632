/** The hooks as they are used: secrets known, addresses checked, and where an event of each belongs. */

import { createHash } from "node:crypto";
import type { ChannelContext } from "../../core/channel.ts";
import { UserError } from "../../core/errors.ts";
import { quote } from "../../lib/file-error.ts";
import { isStandardSecret } from "../../lib/signatures.ts";
import { head, oneLine } from "../../lib/text.ts";
import { parseWebAddress } from "../../lib/web-address.ts";
import type { HookConfig, Scheme, WebhookConfig } from "./config.ts";
import { fillIn, hasPlaceholders } from "./template.ts";

const LONGEST_NAME = 128;
/** A shorter one can be guessed by trying. */
const SHORT_SECRET = 16;

export interface Hook extends Omit<HookConfig, "chatId" | "sessionKey" | "replyUrl" | "replySecret"> {
  readonly name: string;
  readonly reply: { readonly url: string; readonly secret: string } | undefined;
  /** `undefined` where each event can be of another chat. */
  readonly fixedChatId: string | undefined;
  chatIdOf(json: unknown): string;
  sessionKeyOf(json: unknown): string;
}

export type Hooks = ReadonlyMap<string, Hook>;

type Ports = Pick<ChannelContext, "expand" | "addSecret" | "log">;

/** Throws a `UserError` for a secret or an address that is none. */
export function openHooks({ hooks }: WebhookConfig, ports: Ports): Hooks {
  if (Object.keys(hooks).length === 0) {
    throw new UserError("Describe a hook in channels.webhook.hooks: there is none", {
      hint: 'As in {"try": {"secret": "…", "scheme": "bearer"}}',
    });
  }
  return new Map(Object.entries(hooks).map(([name, config]) => [name, openHook(name, config, ports)]));
}

function openHook(name: string, config: HookConfig, ports: Ports): Hook {
  if (!/^[a-z0-9-]{1,64}$/.test(name)) {
    throw new UserError(`Rename the hook ${quote(name)} in channels.webhook.hooks`, {
      hint: "A name has up to 64 small letters, digits and -",
    });
  }
  const { chatId = name, sessionKey, replyUrl, replySecret, ...rest } = config;
  const setting = `channels.webhook.hooks.${name}`;
  const prefix = `webhook:${name}`;
  const openSecret = (value: string, key: string) =>
    readSecret(value, `${setting}.${key}`, config.scheme, ports);
  const secret = openSecret(config.secret, "secret");
  const chatIdOf = (json: unknown) => placed(chatId, json) || name;
  return {
    ...rest,
    name,
    secret,
    reply:
      replyUrl === undefined
        ? undefined
        : {
            url: openAddress(replyUrl, `${setting}.replyUrl`, ports),
            secret: replySecret === undefined ? secret : openSecret(replySecret, "replySecret"),
          },
    fixedChatId: hasPlaceholders(chatId) ? undefined : chatIdOf(undefined),
    chatIdOf,
    sessionKeyOf(json) {
      if (sessionKey === undefined) return prefix;
      const key = placed(sessionKey, json);
      // Whoever can write into an event must not be able to name the session of somebody else's chat.
      if (!hasPlaceholders(sessionKey) || key.startsWith(`${prefix}:`)) return key || prefix;
      return key === "" ? prefix : `${prefix}:${key}`;
    },
  };
}

function readSecret(
  value: string,
  setting: string,
  scheme: Scheme,
  { expand, addSecret, log }: Ports,
): string {
  const secret = expand(value, setting).trim();
  if (secret === "") {
    throw new UserError(
      `Set ${setting}: it is empty, and a hook without a secret would be open to everybody`,
    );
  }
  addSecret(secret);
  if (scheme === "standard" && !isStandardSecret(secret)) {
    throw new UserError(`Correct ${setting}: the secret of Standard Webhooks is whsec_ and base64 behind it`);
  }
  if (scheme === "bearer" && /[^\x21-\x7e]/.test(secret)) {
    throw new UserError(`Correct ${setting}: what goes into a header has no white space, and only ASCII`);
  }
  if (secret.replace(/^whsec_/, "").length < SHORT_SECRET)
    log.warn("Choose a longer secret: this one can be guessed", { setting });
  return secret;
}

function openAddress(value: string, setting: string, { expand, addSecret }: Ports): string {
  const address = parseWebAddress(expand(value, setting).trim());
  if (!address.ok) throw new UserError(`Correct ${setting}: ${address.reason}`);
  // Addresses of this kind often hold the right to post there.
  addSecret(address.url.href);
  return address.url.href;
}

/** One line that is fit to be part of a name, and that stays different where the whole is. */
function placed(template: string, json: unknown): string {
  const whole = fillIn(template, json);
  const line = oneLine(whole, whole.length);
  if (line.length <= LONGEST_NAME) return line;
  const digest = createHash("sha256").update(line).digest("hex").slice(0, 32);
  return `${head(line, LONGEST_NAME - digest.length - 1)}-${digest}`;
}
