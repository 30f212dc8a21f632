/** The chat commands there are, for the list that `/help` shows and for the menus of platforms. */

/** In the order of the lists. */
export const chatCommands = [
  { name: "new", about: "start a new session; the old one is kept in the archive" },
  { name: "stop", about: "stop what is running in this session" },
  { name: "status", about: "show version, model, channels and what is running" },
  { name: "model", takes: "[name]", about: "show the model of this session, or choose another" },
  { name: "usage", about: "show what the models of this session used" },
  { name: "memory", about: "show what is remembered beyond this session" },
  { name: "tasks", about: "show what works in the background for this session" },
  { name: "approve", takes: "CODE", about: "allow what the agent asked for" },
  { name: "deny", takes: "CODE", about: "refuse what the agent asked for" },
  {
    name: "pairing",
    takes: "[list | approve CODE | deny CODE | revoke ID]",
    about: "show who may talk here, or let somebody in or out",
  },
  { name: "restart", about: "restart the program" },
  { name: "help", about: "show this list" },
] as const satisfies readonly ChatCommandInfo[];

export interface ChatCommandInfo {
  /** Lower-case letters, as every platform takes them. */
  readonly name: string;
  readonly about: string;
  /** What comes behind it; absent when nothing may. */
  readonly takes?: string;
}

export type ChatCommandName = (typeof chatCommands)[number]["name"];
