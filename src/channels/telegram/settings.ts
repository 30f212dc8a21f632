/** What the block of the configuration comes to: checked, secrets told, addresses complete. */

import type { ChannelContext } from "../../core/channel.ts";
import { UserError } from "../../core/errors.ts";
import { parseProxy } from "../../lib/proxy.ts";
import type { TelegramConfig } from "./config.ts";
import { derivedSecret } from "./webhook.ts";

export interface TelegramSettings {
  readonly token: string;
  readonly apiRoot: string;
  readonly proxy: string | undefined;
  /** Absent when it polls. */
  readonly webhook: { readonly url: string; readonly secret: string } | undefined;
}

type SettingsContext = Pick<ChannelContext, "addSecret" | "expand" | "publicUrl">;

const at = (key: string) => `channels.telegram.${key}`;

/** Throws a `UserError` for what only the owner can put right. */
export function readSettings(config: TelegramConfig, context: SettingsContext): TelegramSettings {
  const expanded = (key: "token" | "apiRoot" | "webhookUrl" | "webhookSecretToken") =>
    context.expand(config[key], at(key)).trim();
  const token = expanded("token");
  if (token === "") {
    throw new UserError(`Set "${at("token")}": there is none`, { hint: "@BotFather gives one to every bot" });
  }
  context.addSecret(token);
  // It becomes part of an address.
  if (!/^\d+:[\w-]+$/.test(token)) {
    throw new UserError(`"${at("token")}" does not look like a token`, {
      hint: "Copy it whole from @BotFather: digits, a colon, and letters behind it",
    });
  }
  return {
    token,
    apiRoot: addressOf(expanded("apiRoot"), "apiRoot"),
    proxy: proxyOf(config, context),
    webhook: config.mode === "webhook" ? webhookOf(token) : undefined,
  };

  function webhookOf(token: string): { url: string; secret: string } {
    const fallback = context.publicUrl === undefined ? "" : `${context.publicUrl}/webhook/telegram`;
    const url = expanded("webhookUrl") || fallback;
    if (url === "") {
      throw new UserError(`Set "${at("webhookUrl")}" or "gateway.publicUrl": the mode is "webhook"`, {
        hint: 'Without an address that Telegram can reach, use the mode "polling"',
      });
    }
    const secret = expanded("webhookSecretToken") || derivedSecret(token);
    context.addSecret(secret);
    if (!/^[\w-]{1,256}$/.test(secret)) {
      throw new UserError(`"${at("webhookSecretToken")}" may have 1 to 256 letters, digits, "_" and "-"`);
    }
    return { url: addressOf(url, "webhookUrl"), secret };
  }
}

function addressOf(value: string, key: string): string {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UserError(`"${at(key)}" is no address that begins with https://`);
  }
  return value.replace(/\/+$/, "");
}

function proxyOf({ proxy }: TelegramConfig, context: SettingsContext): string | undefined {
  if (!proxy) return undefined;
  const text = context.expand(proxy, at("proxy")).trim();
  const url = parseProxy(text);
  if (url === undefined) {
    throw new UserError(`"${at("proxy")}" is no address of a proxy that begins with http:// or https://`);
  }
  if (url.password !== "") context.addSecret(decodeURIComponent(url.password));
  return url.href;
}
