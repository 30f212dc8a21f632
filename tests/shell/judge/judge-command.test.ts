/** The corpus of commands against every policy, and what the corpus cannot say. */

import { describe, expect, test } from "bun:test";
import { resolve } from "node:path";
import fc from "fast-check";
import type { CommandPolicy } from "../../../src/core/commands.ts";
import { type JudgeOptions, judgeCommand } from "../../../src/shell/judge/judge-command.ts";
import corpus from "../../fixtures/commands.json" with { type: "json" };

const workspace = "/home/user/workspace";

const options: JudgeOptions = {
  policy: "guarded",
  allowPatterns: [],
  denyPatterns: [],
  workspace,
  cwd: workspace,
  home: "/home/user",
  restrictToWorkspace: true,
  protectedPaths: [
    { path: `${workspace}/.nanobot`, allows: "nothing" },
    { path: `${workspace}/.nanobot/tool-results/own`, allows: "reading" },
    { path: `${workspace}/sessions`, allows: "reading" },
    { path: `${workspace}/cron/jobs.json`, allows: "reading" },
    { path: "/home/user/.nanobot/config.json", allows: "nothing" },
  ],
  // `link` in the workspace leads to /etc.
  resolve: async (path) => resolve(path).replace(`${workspace}/link`, "/etc"),
};

async function outcome(command: string, changes: Partial<JudgeOptions> = {}): Promise<string> {
  const judged = await judgeCommand(command, { ...options, ...changes });
  return judged.verdict === "allow" ? "allow" : `${judged.verdict}:${judged.rule}`;
}

for (const { title, expected, allowPatterns, commands } of corpus.groups) {
  describe(title, () => {
    for (const command of commands) {
      for (const [policy, wanted] of Object.entries(expected)) {
        test(`judgeCommand() answers ${wanted} under ${policy} to ${JSON.stringify(command)}`, async () => {
          const patterns = allowPatterns && policy !== "guarded" ? corpus.allowPatterns : [];
          expect(await outcome(command, { policy: policy as CommandPolicy, allowPatterns: patterns })).toBe(
            wanted,
          );
        });
      }
    }
  });
}

/** One word of a shell in one of the ways to write it. */
function spelled(text: string): fc.Arbitrary<string> {
  const characters = [...text].map((character) =>
    fc.constantFrom(
      character,
      `\\${character}`,
      `'${character}'`,
      `"${character}"`,
      `$'${character}'`,
      `$'\\x${character.charCodeAt(0).toString(16)}'`,
      `$'\\${character.charCodeAt(0).toString(8).padStart(3, "0")}'`,
      `${character}""`,
      `${character}\\\n`,
    ),
  );
  return fc.tuple(...characters).map((parts) => parts.join(""));
}

const flags = fc
  .constantFrom(
    "-rf",
    "-fr",
    "-Rf",
    "-rvf",
    "-r -f",
    "-f -R",
    "--recursive --force",
    "--forc -r",
    "-f --recurs",
    "-irf",
  )
  .chain((text) => fc.tuple(...text.split(" ").map(spelled)))
  .map((words) => words.join(" "));

const target = fc.constantFrom("x", "/", ".", "*", '"$x"', "build/cache", "$(pwd)", "-- x", "~", "a b c");

const wrapped = fc.array(
  fc.constantFrom(
    (inner: string) => `sudo ${inner}`,
    (inner: string) => `env A=1 ${inner}`,
    (inner: string) => `timeout 5 ${inner}`,
    (inner: string) => `xargs ${inner}`,
    (inner: string) => `nice -n 1 ${inner}`,
    (inner: string) => `sh -c '${inner.replaceAll("'", "'\\''")}'`,
    (inner: string) => `eval '${inner.replaceAll("'", "'\\''")}'`,
  ),
  { maxLength: 3 },
);

const placed = fc.constantFrom(
  (inner: string) => inner,
  (inner: string) => `ls && ${inner}`,
  (inner: string) => `echo "$(${inner})"`,
  (inner: string) => `if true; then ${inner}; fi`,
  (inner: string) => `f() { ${inner}; }; f`,
  (inner: string) => `cat <<E\n$(${inner})\nE`,
  (inner: string) => `(${inner}) > out`,
  (inner: string) => `a=( $(${inner}) )`,
);

test("judgeCommand() never allows a recursive and forced rm, however it is written", async () => {
  await fc.assert(
    fc.asyncProperty(
      spelled("rm"),
      flags,
      target,
      fc.boolean(),
      wrapped,
      placed,
      async (rm, options, what, last, wrap, place) => {
        const bare = last && !what.startsWith("--") ? `${rm} ${what} ${options}` : `${rm} ${options} ${what}`;
        const command = place(wrap.reduce((inner, by) => by(inner), bare));
        for (const policy of ["guarded", "ask", "allowlist"] as const) {
          expect(await outcome(command, { policy })).not.toBe("allow");
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("judgeCommand() never lets a command run or end this program, however it is written", async () => {
  const bare = fc.oneof(
    spelled("nanobot").map((name) => `${name} pairing approve ABCD1234`),
    fc.tuple(spelled("pkill"), spelled("nanobot")).map((words) => words.join(" -9 ")),
    fc.tuple(spelled("killall"), spelled("nanobot")).map((words) => words.join(" ")),
  );
  await fc.assert(
    fc.asyncProperty(bare, wrapped, placed, async (inner, wrap, place) => {
      const command = place(wrap.reduce((within, by) => by(within), inner));
      for (const policy of ["guarded", "ask", "allowlist"] as const) {
        expect(await outcome(command, { policy })).not.toBe("allow");
      }
    }),
    { numRuns: 150 },
  );
});

test("judgeCommand() sees this program behind a link of another name", async () => {
  const linked = {
    resolve: async (path: string) => resolve(path).replace(`${workspace}/tool`, `${workspace}/dist/nanobot`),
  };
  expect(await outcome("./tool pairing approve A", linked)).toBe("deny:own-program");
  expect(await outcome("sh ./tool gateway", linked)).toBe("deny:own-program");
  expect(await outcome("cat ./tool", linked)).toBe("allow");
  expect(await outcome("./tool pairing approve A")).toBe("allow");
});

test("judgeCommand() lets run of this program what the owner's pattern names", async () => {
  const allowPatterns = ["nanobot status"];
  for (const policy of ["guarded", "ask", "allowlist"] as const) {
    expect(await outcome("nanobot status", { policy, allowPatterns })).toBe("allow");
    expect(await outcome("nanobot gateway", { policy, allowPatterns })).not.toBe("allow");
  }
});

test("judgeCommand() holds patterns of processes against this program in a moment, and refuses what it cannot read", async () => {
  expect(await outcome(`pkill -f '${"(.*)*".repeat(30)}x'`)).toBe("allow");
  expect(await outcome(`pkill -f '${"(n|na|a)*".repeat(30)}'`)).toBe("deny:own-program");
  expect(await outcome("pkill '(nano'")).toBe("deny:own-program");
});

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

test("judgeCommand() allows harmless commands whatever their quoted arguments say", async () => {
  const said = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("rm -rf /", "$(reboot)", "; shutdown", "> /etc/passwd", ":(){ :|:& };:", "-rf", "mkfs"),
    fc.constantFrom("nanobot", "nanobot pairing approve A", "pkill nanobot", "; nanobot gateway"),
  );
  await fc.assert(
    fc.asyncProperty(said, async (text) => {
      const argument = quoted(text.replace(/[\r\0]/g, ""));
      expect(await outcome(`echo ${argument}`)).toBe("allow");
      expect(await outcome(`git commit -m ${argument}`)).toBe("allow");
      expect(await outcome(`grep -rn -- ${argument} src | head -3`)).toBe("allow");
    }),
    { numRuns: 300 },
  );
});

test("judgeCommand() answers every text, also the senseless", async () => {
  const piece = fc.constantFrom(
    ..."rm -rf x;$(`'\"{}[]()<>&|!*?~#\\\n=".split(""),
    "<<E\n",
    "$((",
    "${",
    "\u0024{x@P}",
    "\\x",
    "if ",
    "then ",
    "fi",
    "case ",
    "esac",
    "[[ ",
    " ]]",
    "sh -c ",
    "eval ",
    "find . -exec ",
    "awk '/a|b/ ",
    "sed 's/a/b/e;",
    "tar -I",
    "docker run ",
    "env - ",
    "~+/",
    "/proc/1/cwd/",
    "\ud83d",
    "\0",
    "é",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.array(piece, { maxLength: 40 }).map((all) => all.join("")),
        fc.string({ unit: "binary" }),
      ),
      async (text) => {
        const judged = await judgeCommand(text, {
          ...options,
          resolve: () => Promise.reject(Object.assign(new Error("too many links"), { code: "ELOOP" })),
        });
        expect(["allow", "deny"]).toContain(judged.verdict);
      },
    ),
    { numRuns: 600 },
  );
});

test("judgeCommand() refuses nesting too deep for the parser and judges on", async () => {
  expect(await outcome("$(".repeat(3000))).toBe("deny:unreadable");
  expect(await outcome(`${"sh -c ".repeat(20)}ls`)).toBe("allow");
  expect(await outcome(`${"sudo ".repeat(20)}ls`)).toBe("deny:unreadable");
  expect(await outcome("ls")).toBe("allow");
});

test("judgeCommand() sees the agent's state behind unknown parts, other names of home and processes", async () => {
  const free = { restrictToWorkspace: false };
  expect(await outcome("cat /home/$USER/.nanobot/config.json", free)).toBe("deny:own-state");
  expect(await outcome("cat ~user/.nanobot/config.json", free)).toBe("deny:own-state");
  expect(await outcome("cd ~/.nanobot && cd /tmp && cat ~-/config.json", free)).toBe("deny:own-state");
  expect(await outcome("cat /proc/$PPID/environ", free)).toBe("deny:own-state");
  expect(await outcome("cat /proc/cpuinfo", free)).toBe("allow");
  expect(await outcome("cat ~other/a.txt", free)).toBe("allow");
});

test("judgeCommand() ends with what multiplies", async () => {
  const many = (count: number, text: string) => Array.from({ length: count }, () => text).join(";");
  expect(await outcome(`${many(12, "x=$x$y")};${many(12, "y=$x$y")};cat $x`)).toBe("allow");
  expect(await outcome(`curl 'example.com/${"{a,b}".repeat(2000)}'`)).toBe("allow");
  expect(await outcome(`${"cd a;".repeat(2500)} ls`)).toBe("allow");
  expect(await outcome("#".repeat(100_000))).toBe("allow");
  expect(await outcome(`python3 -c '${"rm(".repeat(20_000)}'`)).toBe("allow");
  expect(await outcome(`python3 -c '${"exec".repeat(10_000)}'`)).toBe("allow");
  expect(await outcome(`python3 -c '${'run("a/'.repeat(10_000)}'`)).toBe("allow");
  expect(await outcome(`echo ${"a ".repeat(50_000)}`)).toBe("deny:unreadable");
});

test("judgeCommand() lets everything pass when it is off, and lists the addresses", async () => {
  const judged = await judgeCommand("curl http://127.0.0.1/x | sh", { ...options, policy: "off" });
  expect(judged).toEqual({ verdict: "allow", urls: ["http://127.0.0.1/x"], readsProfiles: false });
});

test("judgeCommand() lists addresses that quotes, variables and missing schemes hide", async () => {
  const urlsOf = async (command: string) => (await judgeCommand(command, options)).urls;
  expect(await urlsOf("curl ht'tp'://0x7f.1/a")).toContain("http://0x7f.1/a");
  expect(await urlsOf("h=127.0.0.1; curl http://$h/a")).toContain("http://127.0.0.1/a");
  expect(await urlsOf("wget -q 169.254.169.254/latest")).toContain("http://169.254.169.254/latest");
  expect(await urlsOf("sudo sh -c 'curl localhost:9'")).toContain("http://localhost:9");
  expect(await urlsOf("ls -la")).toEqual([]);
});

test("judgeCommand() names the owner's pattern that forbids a command", async () => {
  const judged = await judgeCommand("ls; np''m publish", { ...options, denyPatterns: ["^npm publish"] });
  expect(judged).toMatchObject({ verdict: "deny", rule: "deny-pattern" });
  expect(await outcome("npm test", { denyPatterns: ["^npm publish"] })).toBe("allow");
  expect(await outcome("ls", { denyPatterns: ["("] })).toBe("deny:bad-pattern");
  expect(await outcome("ls", { allowPatterns: ["ls)|(.*"], policy: "allowlist" })).toBe("deny:bad-pattern");
});

test("judgeCommand() sets a rule aside where the owner's pattern names the command, but not its files", async () => {
  const allowPatterns = ["rm -rf build", "echo .*"];
  expect(await outcome("rm -rf build", { allowPatterns })).toBe("allow");
  expect(await outcome("rm -rf build other", { allowPatterns })).toBe("deny:recursive-delete");
  expect(await outcome("echo x > /dev/sda", { allowPatterns, restrictToWorkspace: false })).toBe(
    "deny:device-write",
  );
  expect(await outcome("echo x > sessions/a", { allowPatterns })).toBe("deny:own-state");
});

test("judgeCommand() lets commands leave the workspace where they may, but not delete or change there", async () => {
  const free = { restrictToWorkspace: false };
  expect(await outcome("cat /etc/hosts", free)).toBe("allow");
  expect(await outcome("cp a.txt /tmp/b.txt", free)).toBe("allow");
  expect(await outcome("rm -r /tmp/x", free)).toBe("deny:recursive-delete");
  expect(await outcome("echo x > /etc/hosts", free)).toBe("deny:system-write");
  expect(await outcome("cat ~/.nanobot/config.json", free)).toBe("deny:own-state");
});

test("judgeCommand() holds the owner's patterns against everything, also when it is off", async () => {
  const off = { policy: "off", denyPatterns: ["^npm publish"] } as const;
  expect(await outcome("ls; np''m publish", off)).toBe("deny:deny-pattern");
  expect(await outcome("sudo npm publish", off)).toBe("deny:deny-pattern");
  expect(await outcome("npm publish 'unfinished", off)).toBe("deny:deny-pattern");
  expect(await outcome("echo 'unfinished", off)).toBe("allow");
  expect(await outcome("rm -rf /", off)).toBe("allow");
  expect(await outcome("ls", { policy: "off", denyPatterns: ["("] })).toBe("deny:bad-pattern");
});

test("judgeCommand() takes what the system refuses to tell for unknown, and nothing else", async () => {
  const judged = (error: Error) => outcome("cat a.txt", { resolve: () => Promise.reject(error) });
  expect(await judged(Object.assign(new Error("too many links"), { code: "ELOOP" }))).toBe(
    "deny:outside-workspace",
  );
  await expect(judged(new TypeError("a fault of ours"))).rejects.toThrow("a fault of ours");
});

test("judgeCommand() keeps its reasons short and says when a name is too long", async () => {
  const resolveShort: JudgeOptions["resolve"] = async (path) => {
    if (path.length < 4000) return resolve(path);
    throw Object.assign(new Error("name too long"), { code: "ENAMETOOLONG" });
  };
  const long = "x".repeat(4000);
  for (const command of [`rm -r ${long}`, `cat ${long}`, `echo x > ${long}`, `${long} a`, `rm -f ${long}*`]) {
    for (const policy of ["guarded", "ask", "allowlist"] as const) {
      const judged = await judgeCommand(command, { ...options, policy, resolve: resolveShort });
      expect(judged.verdict === "allow" ? "" : judged.reason).not.toContain("x".repeat(300));
    }
  }
  const judged = await judgeCommand(`cat ${long}`, { ...options, resolve: resolveShort });
  expect(judged).toMatchObject({ reason: expect.stringContaining("longer than a path can be") });
});

test.each([
  ["rm *", '"*" takes in "sessions"'],
  ["chmod -R 777 .", '"." takes in ".nanobot"'],
  ["echo x > */y", '"*/y" takes in "sessions"'],
  ["mv . x", "name the files that are meant"],
  ["mv f /tmp/", '"/tmp/" is outside the workspace'],
  ["ln -s ../../.. up", '"../../.." is outside the workspace'],
  ["cat .nanobot/audit.jsonl", "tell the user if that is needed"],
  ["cat .nanobot/*", "tell the user if that is needed"],
  ["cat ~/.nanobot/config.json", "is the configuration, which no command can have read or changed"],
])("judgeCommand() says of %j: %s", async (command, reason) => {
  const protectedPaths = options.protectedPaths.map((one) => ({
    ...one,
    isConfiguration: one.path.endsWith("config.json"),
  }));
  const judged = await judgeCommand(command, { ...options, policy: "ask", protectedPaths });
  expect(judged).toMatchObject({ verdict: "deny", reason: expect.stringContaining(reason) });
});

test.each([
  ["find . -print0 | xargs -0 rm", "what xargs is given could be an option of rm; write -- before the names"],
  [
    "find . -print0 | xargs -0 rm -f",
    "what xargs is given could be an option of rm; leave out -f and write --",
  ],
  ["rm $x", '"$x" could be an option of rm (it is the variable $x)'],
])("judgeCommand() says of the deletion in %j: %s", async (command, reason) => {
  expect(await judgeCommand(command, options)).toMatchObject({
    verdict: "deny",
    reason: expect.stringContaining(reason),
  });
});

test("judgeCommand() lets a command use a temporary folder of its own, but not what is nanobot's in it", async () => {
  const own: Partial<JudgeOptions> = {
    temporaryFolder: "/tmp",
    protectedPaths: [{ path: "/tmp/home/config.json", allows: "nothing" }],
  };
  for (const command of [
    "echo x > /tmp/a",
    'echo x > $TMPDIR/a && cat "$TMPDIR/a"',
    'echo x > "\u0024{TMPDIR:-/tmp}/a"',
    "rm -r /tmp/a",
    "f=/tmp/x; cp a.txt $f; rm -f $f",
  ]) {
    expect([command, await outcome(command, own)]).toEqual([command, "allow"]);
    expect([command, await outcome(command)]).not.toEqual([command, "allow"]);
  }
  expect(await outcome("cat /tmp/home/config.json", own)).toBe("deny:own-state");
  expect(await outcome("mv /tmp/home x", own)).toBe("deny:own-state");
  expect(await outcome("rm -r /tmp", own)).toBe("deny:recursive-delete");
  expect(await outcome("rm -r /tmp/..", own)).toBe("deny:recursive-delete");
  expect(await outcome("cat /tmp/../etc/passwd", own)).toBe("deny:outside-workspace");
});

test("judgeCommand() lets a command go home where that is in the workspace", async () => {
  const inside = { home: workspace };
  for (const command of ["cd", "cd ~ && pwd", "cd && ls", "cd ~/sub", "cd; cd sub; cat a.txt"]) {
    expect([command, await outcome(command, inside)]).toEqual([command, "allow"]);
    expect([command, await outcome(command)]).toEqual([command, "deny:outside-workspace"]);
  }
  expect(await outcome("HOME=/etc; cd; ls", inside)).toBe("deny:outside-workspace");
  expect(await outcome("cd; cd ..; ls", inside)).toBe("deny:outside-workspace");
  expect(await outcome("cd sub; cd; cat .nanobot/audit.jsonl", inside)).toBe("deny:own-state");
});

test("judgeCommand() takes programs that are named like members of objects for programs", async () => {
  for (const name of ["constructor", "__proto__", "tostring", "hasownproperty", "valueof"]) {
    expect(await outcome(`${name} -x file.txt`)).toBe("allow");
    expect(await outcome(`env ${name} /etc/passwd`)).toBe("deny:outside-workspace");
  }
});
