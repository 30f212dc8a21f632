/** The webhook channel: one route for all hooks, and answers on their way back. */

import { type Channel, type ChannelContext, SendError } from "../../core/channel.ts";
import type { FinalMessage } from "../../core/messages.ts";
import { aborted } from "../../lib/abort.ts";
import { basename } from "../../lib/path.ts";
import { type Answer, createAnswers } from "./answers.ts";
import type { WebhookConfig } from "./config.ts";
import { type Hook, openHooks } from "./hooks.ts";
import { createReceiver } from "./receive.ts";
import { postReply } from "./reply.ts";

export function createWebhook(config: WebhookConfig, context: ChannelContext): Channel {
  const hooks = openHooks(config, context);
  const answers = createAnswers(context.clock);
  const receive = createReceiver({ hooks, answers, ports: context });
  let ending = new AbortController();

  /** The one whose event is answered; for what nobody asked for, the one that always uses this chat. */
  function hookOf({ turn, answers: answered, chatId }: FinalMessage): Hook | undefined {
    const asking = hooks.get(/^webhook:([a-z0-9-]+):/.exec(turn)?.[1] ?? "");
    if (asking !== undefined && answered.includes(turn)) return asking;
    const fixed = [...hooks.values()].filter(({ fixedChatId }) => fixedChatId === chatId);
    const own = asking?.fixedChatId === undefined ? asking : undefined;
    return fixed.find(({ reply }) => reply !== undefined) ?? fixed[0] ?? own;
  }

  return {
    async start(signal) {
      ending = new AbortController();
      context.report({ isConnected: true });
      await aborted(AbortSignal.any([signal, ending.signal]));
    },

    async stop() {
      ending.abort();
      answers.close();
    },

    async send(part, signal) {
      const { message, index, chatId, content } = part;
      // Files are only named, in what goes with the first part.
      if (message.kind !== "final" || index > 0) return "";
      const answer = answerOf(message, content.kind === "text" ? content.text : "");
      answers.put(message.answers, answer);
      const hook = hookOf(message);
      if (hook === undefined) throw new SendError("refused", `no webhook has the chat "${chatId}"`);
      const { reply } = hook;
      // Nobody wants it: whoever waited has it.
      if (reply !== undefined)
        await postReply({ hook: { ...hook, reply }, part, message, answer }, context, signal);
      return "";
    },

    // An answer without any text or file has no part, and whoever waits must hear of it all the same.
    async ended(message) {
      answers.put(message.answers, answerOf(message, message.content));
    },

    routes: [{ path: "/webhook/in/:name", isAbsolute: true, fetch: receive }],
  };
}

function answerOf({ outcome, media }: FinalMessage, content: string): Answer {
  return { outcome, content, media: media.map(({ name, path }) => name ?? basename(path)) };
}
