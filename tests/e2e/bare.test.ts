/** The one file on a bare machine: no home, no environment, no configuration, and a hostile folder around it. */

import { describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../fakes/temp.ts";
import { binary, endToEnd, newHome, type Outcome, sessionOf, startCommand } from "./harness.ts";

endToEnd();

const QUESTION = "list the files here";

/** The home of the user that `unshare` makes us. */
function homeOfRoot(): string | undefined {
  const entry = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((line) => line.split(":")[2] === "0");
  return entry?.split(":")[5];
}

/** How to start a program with mounts of its own; a string says why that cannot be done here. */
function mountNamespace(): readonly string[] | string {
  if (process.platform !== "linux") return "only Linux has mount namespaces";
  const command = process.getuid?.() === 0 ? ["unshare", "-m"] : ["unshare", "-rm"];
  if (Bun.which("unshare") === null) return "unshare is not installed";
  const probe = Bun.spawnSync([...command, "mount", "-t", "tmpfs", "none", "/mnt"]);
  return probe.success ? command : `unshare does not work: ${probe.stderr.toString().trim()}`;
}

function expectListing({ code, stdout }: Outcome): void {
  expect(stdout).toContain("SOUL.md");
  expect(stdout).toContain("AGENTS.md");
  expect(code).toBe(0);
}

describe("nanobot agent on a bare machine", () => {
  test("answers a piped message with nothing but NANOBOT_HOME in the environment", async () => {
    const home = newHome();
    const cwd = tempFolder();
    const command = ["env", "-i", `NANOBOT_HOME=${home.folder}`, binary(), "agent"];
    const outcome = await startCommand(command, { home, cwd, stdin: QUESTION }).outcome;
    expectListing(outcome);
    expect(outcome.stderr).toContain("offline stand-in");
    expect(readdirSync(cwd)).toEqual([]);
  });

  test("leaves a session that sessions show prints", async () => {
    const home = newHome();
    const command = [binary(), "agent"];
    await startCommand(command, { home, stdin: QUESTION }).outcome;
    const shown = await startCommand([binary(), "sessions", "show", "cli:direct"], { home }).outcome;
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain(QUESTION);
    expect(shown.stdout).toContain("↳ list_dir");
    expect(shown.stdout).toContain("SOUL.md");
    const roles = (await sessionOf(home)).map(({ role }) => role);
    expect(roles).toEqual(["user", "assistant", "tool", "assistant"]);
  });

  test("finds the home of the user database when there is no HOME", async () => {
    const namespace = mountNamespace();
    const folder = homeOfRoot();
    if (typeof namespace === "string" || folder === undefined) {
      // The rest of what this proves is proved by NANOBOT_HOME above.
      console.log(`left out: no HOME at all, because ${namespace}`);
      return;
    }
    // A copy, since the mount may hide where the program was built.
    const copy = join(tempFolder(), "nanobot");
    copyFileSync(binary(), copy);
    const script = `mount -t tmpfs tmpfs "$1" && printf '${QUESTION}' | env -i "$2" agent &&
      env -i "$2" sessions path cli:direct && env -i "$2" sessions show cli:direct >&2`;
    const command = [...namespace, "sh", "-c", script, "sh", folder, copy];
    const outcome = await startCommand(command, { home: newHome(), cwd: tempFolder() }).outcome;
    expectListing(outcome);
    expect(outcome.stdout).toContain(`${join(folder, ".nanobot/workspace/sessions")}/`);
    expect(outcome.stderr).toContain(QUESTION);
  });

  test("runs no preload of a bunfig.toml in the current folder", async () => {
    const cwd = tempFolder();
    const trace = join(cwd, "preloaded");
    writeFileSync(
      join(cwd, "bunfig.toml"),
      'preload = ["./preload.ts"]\n[run]\npreload = ["./preload.ts"]\n',
    );
    writeFileSync(join(cwd, "preload.ts"), `require("node:fs").writeFileSync(${JSON.stringify(trace)}, "");`);
    const home = newHome();
    expectListing(await startCommand([binary(), "agent"], { home, cwd, stdin: QUESTION }).outcome);
    expect(readdirSync(cwd)).not.toContain("preloaded");
  });

  test.each([
    { name: ".env", env: {} },
    { name: ".env.local", env: {} },
    { name: ".env.production", env: { NODE_ENV: "production" } },
  ])("reads no $name of the current folder", async ({ name, env }) => {
    const cwd = tempFolder();
    const elsewhere = join(cwd, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(
      join(cwd, name),
      `NANOBOT_HOME=${elsewhere}\nNANOBOT_AGENTS__DEFAULTS__WORKSPACE=${elsewhere}\nOPENAI_API_KEY=sk-of-the-folder\n`,
    );
    const home = newHome();
    expectListing(await startCommand([binary(), "agent"], { home, env, cwd, stdin: QUESTION }).outcome);
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});
