/** What the webhook channel is told: its hooks, by name. */

import * as v from "valibot";
import { isHttpAddress } from "../../lib/http-address.ts";

/** Longer, and proxies in front of us give up. */
export const LONGEST_WAIT_SECONDS = 95;

const MAX_BODY_BYTES = 1024 * 1024;
const LARGEST_BODY_BYTES = 32 * 1024 * 1024;

const secret = v.pipe(
  v.string(),
  v.check((text) => text.trim() !== "", "a secret, which whoever calls the hook must know"),
);

const hook = v.object({
  secret: v.pipe(secret, v.description("What a caller proves to know")),
  scheme: v.pipe(
    v.picklist(["bearer", "standard", "github", "slack"]),
    v.description(
      "How it is proved: Authorization: Bearer, Standard Webhooks, GitHub's or Slack's signature",
    ),
  ),
  template: v.exactOptional(
    v.pipe(v.string(), v.description("The text made of an event, with {{path.in.the.json}}")),
  ),
  instructions: v.exactOptional(
    v.pipe(
      v.string(),
      v.description("What the agent should do with an event; nothing of the event goes into it"),
    ),
  ),
  chatId: v.exactOptional(v.pipe(v.string(), v.description("Without it the hook's name; may be a template"))),
  sessionKey: v.exactOptional(
    v.pipe(v.string(), v.description("Without it one session for the hook; may be a template")),
  ),
  senderId: v.exactOptional(v.pipe(v.string(), v.description("Without it the hook's name"))),
  replyUrl: v.exactOptional(
    v.pipe(
      v.string(),
      v.check(isHttpAddress, "a web address such as https://example.com/answers"),
      v.description("Where answers are posted"),
    ),
  ),
  replySecret: v.exactOptional(
    v.pipe(secret, v.description("What answers are signed with; without it the hook's secret")),
  ),
  wait: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(LONGEST_WAIT_SECONDS),
      v.description("For how many seconds a request is held until its answer is there"),
    ),
    0,
  ),
  maxBodyBytes: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(LARGEST_BODY_BYTES),
      v.description("The largest body that is taken"),
    ),
    MAX_BODY_BYTES,
  ),
});

export const config = v.object({
  hooks: v.optional(
    v.pipe(v.record(v.string(), hook), v.description("The hooks, by name: POST /webhook/in/<name>")),
    {},
  ),
});

export type WebhookConfig = v.InferOutput<typeof config>;
export type HookConfig = v.InferOutput<typeof hook>;
export type Scheme = HookConfig["scheme"];
