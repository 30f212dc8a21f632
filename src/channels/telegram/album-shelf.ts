/**
 * Keeps the parts of an album on disk until it is whole. By webhook Telegram sends the next message of a chat
 * only when the one before is acknowledged, so the parts must be safe one by one.
 */

import type { Update } from "grammy/types";
import type { FileSystem, Log } from "../../core/platform.ts";
import { parseJson } from "../../lib/parse-json.ts";
import { join } from "../../lib/path.ts";
import { parseUpdate } from "./update.ts";

const MOST = 10_000;

export interface AlbumShelf {
  /** Resolves when it is on disk. */
  put(update: Update): Promise<void>;
  /** Those of an earlier run too, oldest first. */
  all(): Promise<readonly Update[]>;
  drop(ids: Iterable<number>): Promise<void>;
}

export interface AlbumShelfOptions {
  readonly files: FileSystem;
  readonly log: Log;
  readonly workspace: string;
}

export function createAlbumShelf({ files, log, workspace }: AlbumShelfOptions): AlbumShelf {
  const folder = join(workspace, ".nanobot", "telegram-albums");
  const fileOf = (id: number) => join(folder, `${id}.json`);

  /** One that is damaged must not keep back the others. */
  async function read(name: string): Promise<readonly Update[]> {
    const path = join(folder, name);
    try {
      const update = parseUpdate(parseJson(new TextDecoder().decode(await files.read(path))));
      if (update !== undefined) return [update];
      log.warn("Left out a part of an album that is no update", { path });
    } catch (error) {
      log.warn("Left out a part of an album that cannot be read", { path, error });
    }
    return [];
  }

  return {
    async put(update) {
      await files.makeFolder(folder, { mode: 0o700 });
      const bytes = new TextEncoder().encode(JSON.stringify(update));
      await files.replace(fileOf(update.update_id), bytes, { mode: 0o600 });
    },

    async all() {
      if ((await files.stat(folder)) === undefined) return [];
      const { entries } = await files.list(folder, { limit: MOST });
      const parts = entries.filter(({ name }) => /^\d+\.json$/.test(name));
      const updates = await Promise.all(parts.map(({ name }) => read(name)));
      return updates.flat().sort((a, b) => a.update_id - b.update_id);
    },

    async drop(ids) {
      for (const id of ids) await files.remove(fileOf(id));
    },
  };
}
