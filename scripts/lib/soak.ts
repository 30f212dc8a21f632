/** `scripts/soak`: mixed load for as long as it is told, with an eye on memory, files and complaints. */

import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { formatReport } from "./crash/report.ts";
import { runSoak } from "./crash/soak.ts";

const root = dirname(dirname(import.meta.dir));
const say = (text: string) => process.stderr.write(`${text}\n`);

function wrong(message: string): never {
  say(`scripts/soak: ${message}`);
  process.exit(2);
}

function parseOptions() {
  try {
    const options = {
      minutes: { type: "string", default: "60" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      rate: { type: "string", default: "5" },
      chats: { type: "string", default: "24" },
      keep: { type: "boolean", default: false },
      binary: { type: "string", default: join(root, "dist/nanobot") },
    } as const;
    return parseArgs({ options }).values;
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
}

function amount(name: "minutes" | "seed" | "rate" | "chats"): number {
  const value = Number(options[name]);
  if (Number.isFinite(value) && value > 0) return value;
  return wrong(`--${name} takes a number over 0`);
}

const options = parseOptions();
if (process.platform !== "linux") wrong("Needs Linux, whose kernel tells what a process takes");
const [minutes, seed, rate, chats] = [amount("minutes"), amount("seed"), amount("rate"), amount("chats")];
if (!existsSync(options.binary)) wrong(`There is no ${options.binary}: run scripts/build`);

const folder = realpathSync(mkdtempSync(join(tmpdir(), "nanobot-soak-")));
const report = await runSoak({ command: [options.binary], folder, minutes, seed, rate, chats, say });
console.log(formatReport(report));
const isGood = report.violations.length === 0;
if (options.keep || !isGood) say(`Everything it wrote is in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
process.exit(isGood ? 0 : 1);
