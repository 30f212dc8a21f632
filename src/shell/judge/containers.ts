/** What a container engine is given: options for this machine, and a command for inside the container. */

import { names } from "./names.ts";
import { readOptions } from "./options.ts";
import { shown, staticText, type Word } from "./word.ts";

const engines = names("docker podman nerdctl kubectl docker-compose");

/** Options with a value, of `run` and `exec`. */
const spec = {
  short: "aceghlmnpuvwf",
  long: (
    "add-host annotation attach cap-add cap-drop cpus cpu-shares device dns entrypoint env env-file expose gpus group-add " +
    "hostname ip ipc label link log-driver log-opt memory mount name network network-alias pid platform publish pull " +
    "restart runtime security-opt shm-size stop-signal stop-timeout tmpfs ulimit user userns volume volumes-from workdir " +
    "container namespace context file index detach-keys"
  ).split(" "),
};

/** Values that mean something inside the container alone. */
const insideOnly = ["w", "workdir", "e", "env", "entrypoint", "tmpfs"];

export const isContainerEngine = (name: string) => engines.has(name);

export interface Container {
  /** The words that can be paths of this machine. */
  readonly host: readonly Word[];
  readonly inner: readonly Word[];
}

export function containerCommand(name: string, args: readonly Word[]): Container | undefined {
  if (!engines.has(name)) return undefined;
  const at = args.findIndex((word) => ["run", "exec"].includes(staticText(word) ?? ""));
  // `docker compose -f file exec`: nothing else stands before it.
  if (at < 0 || at > 4) return undefined;
  const { operands, values } = readOptions(args.slice(at + 1), spec, false);
  const inner = operands.slice(staticText(operands[1]) === "--" ? 2 : 1);
  const given = [...values].flatMap(([option, words]) =>
    insideOnly.includes(option) ? [] : words.filter((word) => word !== undefined),
  );
  // An option that is not known here may have ended the options too early: mounts count wherever they stand.
  const mounts = inner.filter((word) => shown(word).includes(":"));
  return { host: [...args.slice(0, at), ...given, ...operands.slice(0, 1), ...mounts], inner };
}
