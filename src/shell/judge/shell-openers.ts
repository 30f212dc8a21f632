/** Programs that may give a shell to whoever types, here or elsewhere. */

import { isContainerEngine } from "./containers.ts";
import { names } from "./names.ts";
import { wrapperOf } from "./wrappers.ts";

/** Beside wrappers and engines, which are known for the commands that they are given. */
const others: ReadonlySet<string> = names("login lxc machinectl nc ncat runuser screen socat su telnet tmux");

export function opensShell(name: string): boolean {
  return others.has(name) || isContainerEngine(name) || wrapperOf(name)?.opensShell === true;
}
