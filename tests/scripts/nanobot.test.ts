import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { tempFolder } from "../fakes/temp.ts";

const script = resolve(import.meta.dir, "../../scripts/nanobot");

test("scripts/nanobot runs through a link, from any folder", () => {
  const folder = tempFolder();
  const link = join(folder, "nanobot");
  symlinkSync(script, link);
  const { stdout, exitCode } = Bun.spawnSync([link, "--version"], { cwd: folder });
  expect([stdout.toString(), exitCode]).toEqual([`🐈 nanobot v${packageJson.version}\n`, 0]);
});

test("scripts/nanobot takes no orders from the .env and bunfig.toml of the current folder", async () => {
  const folder = tempFolder();
  await Bun.write(join(folder, "bunfig.toml"), 'preload = ["./hostile.ts"]\n');
  await Bun.write(join(folder, "hostile.ts"), 'console.log("hostile");\n');
  await Bun.write(join(folder, ".env"), "NANOBOT_HOME=/hostile\n");
  const { stdout } = Bun.spawnSync([script, "config", "path"], { cwd: folder, env: process.env });
  expect(stdout.toString()).toBe(`${process.env["NANOBOT_HOME"]}/config.json\n`);
});
