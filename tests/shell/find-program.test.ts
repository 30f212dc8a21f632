import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createFileSystem } from "../../src/platform/files.ts";
import { createProgramFinder } from "../../src/shell/find-program.ts";
import { tempFolder } from "../fakes/temp.ts";
import { put } from "../skills/fixture.ts";

const files = createFileSystem();

function folders() {
  const base = tempFolder();
  const program = (path: string) => chmodSync(put(join(base, path), "#!/bin/sh\n"), 0o755);
  return { base, program };
}

test("createProgramFinder() finds what lies on the PATH that commands get", async () => {
  const { base, program } = folders();
  for (const path of ["first/one", "bin/two", "last/three", "elsewhere/four"]) program(path);
  const find = createProgramFinder({
    files,
    env: { PATH: `${base}/bin:relative::${base}/missing` },
    home: base,
    pathPrepend: `${base}/first`,
    pathAppend: `${base}/last`,
  });
  expect(await Promise.all(["one", "two", "three", "four"].map(find))).toEqual([true, true, true, false]);
});

test("createProgramFinder() takes no folder, no file that cannot be run, no path and no nonsense", async () => {
  const { base, program } = folders();
  program("bin/real");
  put(join(base, "bin/text"), "no program");
  mkdirSync(join(base, "bin/folder"));
  symlinkSync("real", join(base, "bin/linked"));
  symlinkSync("circle", join(base, "bin/circle"));
  const find = createProgramFinder({ files, env: { PATH: join(base, "bin") }, home: undefined });
  const names = [
    "real",
    "linked",
    "text",
    "folder",
    "circle",
    "",
    ".",
    "../bin/real",
    "re\0al",
    "x".repeat(5_000),
  ];
  expect(await Promise.all(names.map(find))).toEqual([true, true, ...names.slice(2).map(() => false)]);
});

test("createProgramFinder() takes a closed folder for one without programs, and tells of a disk that fails", async () => {
  const failing = (code: string) =>
    createProgramFinder({
      files: { stat: () => Promise.reject(Object.assign(new Error(code), { code })) },
      env: { PATH: "/bin" },
      home: undefined,
    });
  expect(await failing("EACCES")("ls")).toBe(false);
  expect(failing("EIO")("ls")).rejects.toThrow("EIO");
});
