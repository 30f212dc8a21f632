/** `scripts/crashtest`: kills the program while messages flow, and counts what became of each of them. */

import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { formatReport } from "./crash/report.ts";
import { runCrashTest } from "./crash/run.ts";

const root = dirname(dirname(import.meta.dir));
const say = (text: string) => process.stderr.write(`${text}\n`);

function wrong(message: string): never {
  say(`scripts/crashtest: ${message}`);
  process.exit(2);
}

function parseOptions() {
  try {
    const options = {
      kills: { type: "string", default: "100" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      mode: { type: "string", default: "plain" },
      rate: { type: "string", default: "12" },
      chats: { type: "string", default: "24" },
      keep: { type: "boolean", default: false },
      binary: { type: "string", default: join(root, "dist/nanobot") },
    } as const;
    return parseArgs({ options }).values;
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
}

function count(name: "kills" | "seed" | "rate" | "chats", least: number): number {
  const value = Number(options[name]);
  if (Number.isSafeInteger(value) && value >= least) return value;
  return wrong(`--${name} takes a whole number from ${least}`);
}

const options = parseOptions();
const { mode } = options;
if (mode !== "plain" && mode !== "rough") wrong('--mode takes "plain" or "rough"');
const kills = count("kills", 1);
const seed = count("seed", 0);
const rate = count("rate", 1);
const chats = count("chats", 1);
if (!existsSync(options.binary)) wrong(`There is no ${options.binary}: run scripts/build`);

const folder = realpathSync(mkdtempSync(join(tmpdir(), "nanobot-crash-")));
const report = await runCrashTest({ command: [options.binary], folder, mode, kills, seed, rate, chats, say });
console.log(formatReport(report));
const isGood = report.violations.length === 0;
if (options.keep || !isGood) say(`Everything it wrote is in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
if (!isGood) {
  const args = `--mode ${mode} --kills ${kills} --rate ${rate} --chats ${chats} --seed ${seed}`;
  console.log(`\nTo do the same again: scripts/crashtest ${args}`);
}
process.exit(isGood ? 0 : 1);
