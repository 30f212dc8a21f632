/** Every channel there is, one line each; a channel is imported when it is asked for. */

export const channels = {
  cli: () => import("./cli/channel.ts"),
  telegram: () => import("./telegram/channel.ts"),
  webhook: () => import("./webhook/channel.ts"),
  websocket: () => import("./websocket/channel.ts"),
} as const;
