/** What a sandbox shows of the file system: a list of mounts, and bubblewrap's arguments for them. */

import { isInside } from "../../lib/inside.ts";
import { dirname } from "../../lib/path.ts";

/** `rw` and `ro` show what is at the same place outside. */
export type Mount =
  | {
      readonly kind: "ro" | "rw" | "temporary" | "hidden-folder" | "hidden-file" | "proc" | "dev";
      readonly path: string;
    }
  | { readonly kind: "link"; readonly path: string; readonly target: string };

/**
 * Of two mounts at one place the later holds; otherwise the deeper one, wherever it stands in the list. A link
 * is left out where what is around it is shown as it is, with the link in it.
 */
export function arrange(mounts: readonly Mount[]): readonly Mount[] {
  const shown = mounts.filter(({ kind }) => kind === "ro" || kind === "rw");
  const isThere = (mount: Mount) => mount.kind === "link" && covering(shown, mount.path) !== undefined;
  const needed = mounts.filter((mount) => !isThere(mount));
  return [...new Map(needed.map((mount) => [mount.path, mount])).values()].sort(
    (one, other) => one.path.length - other.path.length,
  );
}

/** The mount that decides about `path`. */
export function covering(mounts: readonly Mount[], path: string): Mount | undefined {
  return mounts
    .filter((mount) => isInside(mount.path, path))
    .reduce<Mount | undefined>(
      (deepest, mount) =>
        deepest !== undefined && deepest.path.length > mount.path.length ? deepest : mount,
      undefined,
    );
}

/**
 * A folder above something that is guarded could be renamed and a new one be put in its place. What is a
 * mount itself cannot, so every such folder becomes one.
 */
export function pins(mounts: readonly Mount[], guarded: readonly string[]): readonly Mount[] {
  const pinned = new Map<string, Mount>();
  for (const path of guarded) {
    for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
      const cover = covering(mounts, at);
      if (cover?.kind === "rw" && cover.path !== at) pinned.set(at, { kind: "rw", path: at });
    }
  }
  return [...pinned.values()];
}

/** Nothing but what is mounted can be written: a file that vanishes with the command helps nobody. */
export function mountArguments(mounts: readonly Mount[]): readonly string[] {
  const arranged = arrange(mounts);
  const closed = arranged.filter(({ kind }) => kind === "hidden-folder").map(({ path }) => path);
  if (arranged[0]?.path !== "/") closed.push("/");
  return [...arranged.flatMap(argumentsOf), ...closed.flatMap((path) => ["--remount-ro", path])];
}

function argumentsOf(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case "ro":
      return ["--ro-bind", mount.path, mount.path];
    case "rw":
      return ["--bind", mount.path, mount.path];
    case "temporary":
    case "hidden-folder":
      return ["--tmpfs", mount.path];
    case "hidden-file":
      // A device cannot be opened where it is mounted like this, so that reading fails instead of finding nothing.
      return ["--ro-bind", "/dev/null", mount.path];
    case "proc":
      return ["--proc", mount.path];
    case "dev":
      return ["--dev", mount.path];
    case "link":
      return ["--symlink", mount.target, mount.path];
  }
}
