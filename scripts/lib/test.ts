/** The steps of `scripts/test`: each house check counts as one test, then the tests themselves. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkDenoGateway } from "./deno-gateway.ts";
import { checkDenoSubagent } from "./deno-subagent.ts";

const DENO = "2.9.6";
/** For a test that hangs. No test is judged by how long it takes. */
const PATIENCE_MS = 60_000;

const isFull = process.argv.includes("--all");
/** Tools are written for node, which need not be here: Bun stands in for it. */
const tool = (name: string, ...args: readonly string[]) => [process.execPath, "x", "--bun", name, ...args];
const scratch = mkdtempSync(join(tmpdir(), "nanobot-test-"));
let passed = 0;
let failed = 0;

function run(command: readonly string[], env: Record<string, string> = {}): boolean {
  const { success } = Bun.spawnSync([...command], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...env },
  });
  return success;
}

function count(name: string, ok: boolean): boolean {
  console.log(`${ok ? "ok  " : "FAIL"} ${name}`);
  if (ok) passed++;
  else failed++;
  return ok;
}

function step(name: string, command: readonly string[], env?: Record<string, string>): boolean {
  return count(name, run(command, env));
}

/** How to run Deno here; `undefined` when it can neither be found nor fetched. */
function findDeno(): readonly string[] | undefined {
  const ways = [["deno"], ["npx", "--yes", `deno@${DENO}`], [process.execPath, "x", "--bun", `deno@${DENO}`]];
  return ways.find(([program = "", ...args]) => {
    if (program !== process.execPath && Bun.which(program) === null) return false;
    return Bun.spawnSync([program, ...args, "--version"], { stdio: ["ignore", "ignore", "ignore"] }).success;
  });
}

async function checkUnderDeno(): Promise<void> {
  const deno = findDeno();
  if (deno === undefined) {
    console.log("skip Deno: it is not installed and cannot be fetched");
    return;
  }
  step("types, under Deno", [...deno, "check", "--quiet", "src/main.ts"]);
  const home = join(scratch, "deno-home");
  const result = Bun.spawnSync(
    [...deno, "run", "-A", "--quiet", "src/main.ts", "agent", "-m", "what files are in my workspace?"],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, HOME: home, NANOBOT_HOME: home, NO_COLOR: "1" },
    },
  );
  count("agent answers under Deno", result.success && result.stdout.toString().includes("SOUL.md"));
  const succeeds = (check: Promise<void>) =>
    check.then(
      () => true,
      (error: unknown) => {
        console.log(error);
        return false;
      },
    );
  count(
    "gateway answers /health and a webhook under Deno",
    await succeeds(checkDenoGateway(deno, join(scratch, "deno-gateway"))),
  );
  count(
    "a subagent does its task under Deno",
    await succeeds(checkDenoSubagent(deno, join(scratch, "deno-subagent"))),
  );
}

function runTests(): void {
  const report = join(scratch, "junit.xml");
  const options = ["--reporter=junit", `--reporter-outfile=${report}`, `--timeout=${PATIENCE_MS}`];
  const ok = run([process.execPath, "test", ...options], {
    ...(isFull ? { NANOBOT_TEST_ALL: "1" } : {}),
  });
  const root = existsSync(report)
    ? (/<testsuites\b[^>]*>/.exec(readFileSync(report, "utf8"))?.[0] ?? "")
    : "";
  const attribute = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
  const failures = attribute("failures");
  passed += attribute("tests") - failures - attribute("skipped");
  // A file that cannot be loaded, or an unhandled error, fails the run without failing a test.
  failed += ok ? 0 : Math.max(1, failures);
}

step("format and lint", tool("biome", "ci", "--error-on-warnings", "."));
step("types", tool("tsc", "--noEmit"));
step("nothing unused", tool("knip"));
await checkUnderDeno();
/** With `--all` as long as it takes to believe it; else a short form of each. */
function runLong(): void {
  const kills = isFull ? "100" : "20";
  for (const mode of ["plain", "rough"]) {
    step(`${kills} kills, ${mode}`, ["scripts/crashtest", "--kills", kills, "--mode", mode]);
  }
  const minutes = isFull ? "60" : "1";
  step(`soak, minutes: ${minutes}`, ["scripts/soak", "--minutes", minutes]);
}

if (step("build", ["scripts/build"])) {
  runTests();
  runLong();
}
rmSync(scratch, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
