/** What a command of the model can reach: by the guard, and in bubblewrap where it works. */

import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { whyNoBubblewrap } from "../shell/sandbox/fixture.ts";
import { endToEnd, type Home, newHome, run } from "./harness.ts";

endToEnd();

const reason = await whyNoBubblewrap();
const here = reason === undefined ? "" : `, not here: ${reason}`;

/** A home whose configuration holds what nobody may read. */
function homeWith(tools: object = {}): Home {
  const home = newHome({
    providers: { mine: { apiKey: "the-owners-key", apiBase: "http://127.0.0.1:9" } },
    tools,
  });
  mkdirSync(home.workspace);
  writeFileSync(join(home.folder, "beside.txt"), "what lies beside");
  return home;
}

async function exec(home: Home, command: string) {
  const { stdout } = await run(["tools", "call", "exec", JSON.stringify({ command })], { home });
  return stdout;
}

async function status(home: Home): Promise<string> {
  const { stdout } = await run(["status"], { home });
  return stdout.split("\n").find((line) => line.startsWith("Commands:")) ?? "";
}

/** A result that is too long for the model is put aside, and the command that reads it on gets its name from there. */
async function readsOwnResult(home: Home): Promise<void> {
  const path = /\.nanobot\/tool-results\/[^\s"]+?\.txt/.exec(await exec(home, "seq 1 100000"))?.[0] ?? "";
  expect(path).toContain("=");
  for (const command of [`tail -n 3 ${path}`, `tail -n 3 "./${path}"`, `sed -n '/^100000$/p' ${path}`])
    expect([command, await exec(home, command)]).toEqual([command, expect.stringContaining("100000")]);
  expect(await exec(home, `echo x > ${path}`)).toContain("the agent's own state");
}

describe.skipIf(reason !== undefined)(`nanobot tools call exec in bubblewrap${here}`, () => {
  /** No judgement stands before it. */
  const open = { exec: { policy: "off" } };

  test.each([
    (path: string) => `cat ${path}`,
    (path: string) => `cat $(echo ${path})`,
    (path: string) => `python3 -c "print(open('${path}').read())"`,
    (path: string) => `base64 ${path} | base64 -d`,
  ])("cannot read the configuration, nor what lies beside the workspace: %p", async (command) => {
    const home = homeWith(open);
    for (const path of [home.configFile, "../config.json", join(home.folder, "beside.txt")]) {
      const output = await exec(home, command(path));
      expect(output).toContain("Exit code:");
      expect(output).not.toMatch(/the-owners-key|what lies beside/);
    }
  });

  test("cannot read what is nanobot's own, but for the results of its session", async () => {
    const home = homeWith(open);
    await exec(home, "seq 1 100000");
    const list = await exec(home, "find .nanobot -type f");
    expect(list).toMatch(/^\.nanobot\/tool-results\/[^/]+\/\S+\.txt\n\nExit code: 0\n$/);
    const [path = ""] = list.split("\n");
    expect(await exec(home, `tail -n 3 ${path}`)).toContain("100000");
    expect(existsSync(join(home.workspace, ".nanobot"))).toBe(true);
  });

  test("can read the results of its session under a guard", async () => {
    await readsOwnResult(homeWith());
  });

  test("has its home and its temporary folder where the guard lets it use them", async () => {
    const home = homeWith();
    expect(await exec(home, "cd ~ && pwd")).toBe(`${realpathSync(home.workspace)}\n\nExit code: 0\n`);
    expect(await exec(home, "echo x > $TMPDIR/a && cat /tmp/a")).toBe("x\n\nExit code: 0\n");
  });

  test("runs no profile file that a tool could have written", async () => {
    const home = homeWith({ exec: { policy: "allowlist", allowPatterns: ["true"] } });
    writeFileSync(join(home.workspace, ".bash_profile"), "echo from the profile");
    const { stdout } = await run(["tools", "call", "exec", '{"command":"true","login":true}'], { home });
    expect(stdout).toContain("leave out login");
    expect(stdout).not.toContain("from the profile");
  });

  test("cannot write outside the workspace, and can inside", async () => {
    const home = homeWith(open);
    await exec(home, `echo x > ${home.folder}/beside.txt; rm -f ${home.configFile}; echo x > sessions/x`);
    expect(readFileSync(join(home.folder, "beside.txt"), "utf8")).toBe("what lies beside");
    expect(existsSync(home.configFile)).toBe(true);
    expect(existsSync(join(home.workspace, "sessions/x"))).toBe(false);
    expect(await exec(home, "echo hello > made && cat made")).toBe("hello\n\nExit code: 0\n");
    expect(readFileSync(join(home.workspace, "made"), "utf8")).toBe("hello\n");
  });

  test("is told by nanobot status", async () => {
    expect(await status(homeWith())).toMatch(
      /^Commands: {2}guarded, in a sandbox \(bwrap(, without \/proc)?\)$/,
    );
  });
});

describe("nanobot tools call exec without a sandbox", () => {
  const bare = { exec: { sandbox: "none" } };

  test("is judged by the guard, which says what would be allowed", async () => {
    const home = homeWith(bare);
    for (const command of [
      "cat ../config.json",
      `cat ${home.configFile}`,
      "cat .nanobot/audit.jsonl",
      "rm -rf x",
    ]) {
      const output = await exec(home, command);
      expect(output).toStartWith("Error: Cannot run the command: ");
      expect(output).not.toContain("the-owners-key");
    }
    expect(await exec(home, "rm -rf x")).toContain(
      "a plain rm -r of a literal path below the workspace is allowed",
    );
  });

  test("can read the results of its session", async () => {
    await readsOwnResult(homeWith(bare));
  });

  test("refuses addresses inside that are written out in it", async () => {
    const output = await exec(homeWith(bare), "curl -s http://127.0.0.1:1/");
    expect(output).toContain("http://127.0.0.1:1 may not be requested");
    expect(output).toContain("tools.ssrfWhitelist");
  });

  test("is told by nanobot status", async () => {
    const none = "Commands:  guarded, no sandbox (tools.exec.sandbox is none)";
    expect(await status(homeWith(bare))).toBe(none);
    const free = { exec: { policy: "off" }, restrictToWorkspace: false };
    expect(await status(homeWith(free))).toBe(
      "Commands:  off, no sandbox (tools.restrictToWorkspace is false)",
    );
    expect(await status(homeWith({ exec: { enable: false } }))).toStartWith("Commands:  none can be run");
  });
});

describe("nanobot with a setting of tools.exec that is no good", () => {
  test.each([
    [{ denyPatterns: ["ok", "("] }, "tools.exec.denyPatterns[1]: expected a regular expression"],
    [{ allowPatterns: ["*"] }, "tools.exec.allowPatterns[0]: expected a regular expression"],
    [{ sandbox: "docker" }, 'tools.exec.sandbox: expected one of "auto", "bwrap", "none"'],
    [{ policy: "careful" }, 'tools.exec.policy: expected one of "guarded", "ask", "allowlist", "off"'],
    [{ sandboxRoBinds: ["/"] }, "tools.exec.sandboxRoBinds[0]"],
  ])("refuses to start with %j", async (settings, complaint) => {
    const { code, stderr } = await run(["tools", "call", "exec", '{"command":"true"}'], {
      home: homeWith({ exec: settings }),
    });
    expect(stderr).toContain(complaint);
    expect(code).toBe(2);
  });
});
