/** Appends lines `NAME 0`, `NAME 1`, … to a rotating file, one write for each. Says so when a write fails. */

import process from "node:process";
import { createRotatingFile } from "../../../src/lib/rotating-file.ts";
import { createFileSystem } from "../../../src/platform/files.ts";
import { createLocks } from "../../../src/platform/locks.ts";

const [folder = "", name = "", count = "", maxBytes = "", keep = ""] = process.argv.slice(2);

const file = createRotatingFile({
  files: createFileSystem(),
  locks: createLocks({ os: process.platform, folder }),
  folder,
  name: "usage",
  maxBytes: Number(maxBytes),
  keep: Number(keep),
});

for (let line = 0; line < Number(count); line++) {
  await file.append(`${name} ${line}\n`).catch((error: unknown) => console.log(`${name} ${line}: ${error}`));
}
