/** What may run: the judgement, the addresses, and the state of the sandbox together. */

import { describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { SandboxState } from "../../src/core/commands.ts";
import type { Permit, RealPath, ShellChoice } from "../../src/core/tool.ts";
import { type CommandGuardOptions, createCommandGuard } from "../../src/shell/command-guard.ts";
import { system } from "../tools/fixture.ts";
import { createPlace, type Place } from "./sandbox/fixture.ts";

const { signal } = new AbortController();

interface Surroundings extends Partial<CommandGuardOptions> {
  readonly state?: SandboxState;
  readonly allowed?: readonly string[];
}

function guardOf(place: Place, { state, allowed, ...options }: Surroundings = {}) {
  const permit = createCommandGuard({
    files: system,
    web: {
      whyRefused: async (url) => (/127\.|localhost/.test(url) ? `${url} may not be requested` : undefined),
    },
    sandbox: {
      state: async () => state ?? { kind: "none", why: "this is a test" },
      allowedPaths: async () => allowed ?? [],
    },
    policy: "guarded",
    allowPatterns: [],
    denyPatterns: [],
    restrictToWorkspace: true,
    workspace: place.workspace,
    home: place.base,
    configFile: place.configFile,
    ownResults: ".nanobot/tool-results/own",
    ...options,
  });
  return (command: string, choice: ShellChoice = {}) =>
    permit(command, { cwd: place.workspace as RealPath, signal, ...choice });
}

const allow = { decision: "allow" } as const;
/** As a matcher, which the types of `toEqual` do not know inside a union. */
const refusal = (reason: string): Permit =>
  expect.objectContaining({
    decision: "deny",
    reason: expect.stringContaining(reason) as unknown as string,
  }) as never;

test("createCommandGuard() lets harmless commands run", async () => {
  const permit = guardOf(createPlace());
  for (const command of [
    "ls -la",
    'git commit -m "rm -rf /"',
    "cat < notes.txt | sort > out",
    "rm -r build/cache",
  ])
    expect(await permit(command)).toEqual(allow);
});

test("createCommandGuard() says what is wrong and what would be allowed", async () => {
  const permit = guardOf(createPlace());
  expect(await permit("rm -rf build")).toEqual({
    decision: "deny",
    reason:
      "Cannot run the command: rm is both recursive and forced; a plain rm -r of a literal path below the workspace is allowed",
  });
  expect(await permit("echo 'x")).toEqual(refusal("the command cannot be judged"));
});

test("createCommandGuard() puts to the owner what the policy says, word for word", async () => {
  const command = "rm  -rf 'build'";
  expect(await guardOf(createPlace(), { policy: "ask" })(command)).toEqual({
    decision: "ask",
    what: command,
    reason: "rm is both recursive and forced; a plain rm -r of a literal path below the workspace is allowed",
  });
});

test("createCommandGuard() lets run only what the patterns name when the policy is allowlist", async () => {
  const permit = guardOf(createPlace(), { policy: "allowlist", allowPatterns: ["git .*", "ls"] });
  expect(await permit("git status && git diff")).toEqual(allow);
  expect(await permit("git status && pwd")).toEqual(refusal('these are: "git .*", "ls"'));
});

test("createCommandGuard() refuses what the owner's patterns deny", async () => {
  const permit = guardOf(createPlace(), { denyPatterns: ["\\bnpm publish\\b"] });
  expect(await permit("np''m publish")).toEqual(refusal("npm publish"));
});

test("createCommandGuard() judges nothing when the policy is off, but for the addresses", async () => {
  const permit = guardOf(createPlace(), { policy: "off" });
  expect(await permit("rm -rf / --no-preserve-root")).toEqual(allow);
  expect(await permit("curl http://127.0.0.1/")).toEqual(refusal("may not be requested"));
});

test("createCommandGuard() holds every address against the network guard, also before it asks", async () => {
  const place = createPlace();
  for (const policy of ["guarded", "ask", "allowlist"] as const) {
    const permit = guardOf(place, { policy, allowPatterns: policy === "ask" ? [] : ["curl .*"] });
    expect(await permit("curl -s ht''tp://127.0.0.1:8080/")).toEqual(
      refusal("http://127.0.0.1:8080/ may not"),
    );
  }
  expect(await guardOf(place)("curl https://example.com/")).toEqual(allow);
});

test("createCommandGuard() looks each host up once, and refuses to look up very many", async () => {
  const asked: string[] = [];
  const web = { whyRefused: async (url: string) => void asked.push(url) as undefined };
  const permit = guardOf(createPlace(), { web });
  expect(await permit("curl http://a.example/1 http://a.example/2 http://b.example/")).toEqual(allow);
  expect(asked).toHaveLength(2);
  const many = Array.from({ length: 51 }, (_, index) => `http://h${index}.example/`).join(" ");
  expect(await permit(`curl ${many}`)).toEqual(refusal("51 hosts"));
  expect(asked).toHaveLength(2);
});

test("createCommandGuard() keeps commands from the configuration, its backups and nanobot's own files", async () => {
  const place = createPlace();
  place.put(`${place.configFile}.bak-2026-01-01`, "of before");
  // Nothing but these is closed, so that it is not the workspace that decides.
  const permit = guardOf(place, { restrictToWorkspace: false });
  for (const command of [
    `cat ${place.configFile}`,
    "cat ~/home/config.json",
    "head ../config.json.bak-2026-01-01",
  ])
    expect([command, await permit(command)]).toEqual([command, refusal("is the configuration")]);
  for (const command of ["cat ../config*", "mv cron elsewhere"])
    expect([command, await permit(command)]).toEqual([command, refusal("the agent's own")]);
  for (const command of [
    "cat .nanobot/audit.jsonl",
    "cat .nanobot/tool-results/other/call.txt",
    "cp -r .nanobot copy",
    "echo x >> sessions/cli.jsonl",
    "rm cron/jobs.json",
    "echo x > .nanobot/tool-results/own/call.txt",
  ])
    expect([command, await permit(command)]).toEqual([command, refusal("the agent's own state")]);
  for (const command of [
    "cat .nanobot/tool-results/own/call.txt",
    "grep -c x sessions/cli.jsonl",
    "cat cron/jobs.json",
    `cat ${place.outside}`,
  ])
    expect([command, await permit(command)]).toEqual([command, allow]);
});

describe.each(["with a history", "without one"])("createCommandGuard() in a workspace %s", (kind) => {
  function permitIn() {
    const place = createPlace();
    if (kind === "with a history") {
      place.put(join(place.workspace, "memory/HISTORY.md"), "what happened");
      place.put(join(place.workspace, "memory/MEMORY.md"), "the facts");
    }
    return guardOf(place, { restrictToWorkspace: false });
  }

  test.each([
    "echo x >> memory/2026-12-01.md",
    "mkdir -p memory && echo x >> memory/2026-12-01.md",
    "cd memory && echo x >> 2026-12-01.md",
    "sed -i s/a/b/ memory/MEMORY.md",
    "rm memory/2026-12-01.md",
    "mv draft.md memory/2026-12-01.md",
    "cp notes.md memory/2026-12-01.md",
    "cp -r memory copy",
    "tar czf backup.tgz memory",
    "zip -r backup.zip memory",
    "python3 tidy.py memory",
    "git add memory && git commit -m notes",
    `python3 -c "import os; open(os.path.join('memory', '2026-12-01.md'), 'a').write('x')"`,
    "cat memory/HISTORY.md",
    "cat memory/*.md memory/history.jsonl",
    "grep -rn kettle memory",
  ])("lets memory be used by %s", async (command) => {
    expect(await permitIn()(command)).toEqual(allow);
  });

  test.each([
    "echo x > memory/HISTORY.md",
    "echo x >> memory/history.md",
    "echo x >> memory/history.jsonl",
    ": > memory/HISTORY.md",
    "rm memory/HISTORY.md",
    "rm memory/*",
    "rm memory/H*",
    "cd memory && rm *.md",
    "cd memory && tee HISTORY.md < notes.md",
    "sed -i 1d memory/*.md",
    "truncate -s 0 memory/HISTORY.md",
    "mv memory/HISTORY.md old.md",
    "mv notes.md memory/HISTORY.md",
    "ln -sf notes.md memory/HISTORY.md",
    "cp HISTORY.md memory",
    "cp -r other/. memory/",
    "tar xzf notes.tgz -C memory",
    "unzip notes.zip -d memory",
    "rsync -a other/ memory/",
    "python3 tidy.py memory/HISTORY.md",
    `python3 -c "open('memory/HISTORY.md', 'w').write('x')"`,
    `python3 -c "import os; os.rename('memory', 'old')"`,
    `node -e "require('fs').renameSync('memory', 'old')"`,
    "rm -r memory",
    "rmdir memory",
    "mv memory elsewhere",
    "chmod 0 memory",
  ])("keeps the history from %s", async (command) => {
    expect(await permitIn()(command)).toEqual(refusal("the agent's own"));
  });
});

test("createCommandGuard() follows links to nanobot's own files, and files that were moved", async () => {
  const place = createPlace();
  symlinkSync(place.configFile, join(place.workspace, "link"));
  rmSync(join(place.workspace, "sessions"), { recursive: true });
  mkdirSync(join(place.workspace, "moved"));
  symlinkSync("moved", join(place.workspace, "sessions"));
  const permit = guardOf(place, { restrictToWorkspace: false });
  expect(await permit("cat link")).toEqual(refusal("is the configuration"));
  expect(await permit("echo x > moved/a")).toEqual(refusal("the agent's own state"));
});

test("createCommandGuard() lets commands use what is allowed beside the workspace", async () => {
  const place = createPlace();
  const command = `sort ${place.outside} > ${join(place.base, "outside/sorted")}`;
  expect(await guardOf(place)(command)).toEqual(refusal("is outside the workspace"));
  expect(await guardOf(place, { allowed: [join(place.base, "outside")] })(command)).toEqual(allow);
});

test("createCommandGuard() takes the home folder that the command has", async () => {
  const place = createPlace();
  expect(await guardOf(place)("cat ~/notes.txt")).toEqual(refusal("is outside the workspace"));
  expect(await guardOf(place, { state: { kind: "bwrap", hasProc: true } })("cat ~/notes.txt")).toEqual(allow);
});

test("createCommandGuard() lets a shell read its profile files only where no tool can write them", async () => {
  const place = createPlace();
  const login = { login: true };
  const inside: SandboxState = { kind: "bwrap", hasProc: true };
  const profile = refusal("would run unjudged; leave out login");
  for (const policy of ["guarded", "ask", "allowlist"] as const) {
    const given = { policy, allowPatterns: ["true"] };
    expect(await guardOf(place, given)("true", login)).toEqual(allow);
    expect(await guardOf(place, { ...given, state: inside })("true", login)).toEqual(profile);
    expect(await guardOf(place, { ...given, state: inside })("true")).toEqual(allow);
    expect(await guardOf(place, { ...given, home: place.workspace })("true", login)).toEqual(profile);
    expect(await guardOf(place, { ...given, home: undefined })("true", login)).toEqual(profile);
    expect(await guardOf(place, { ...given, allowed: [place.base] })("true", login)).toEqual(profile);
    expect(await guardOf(place, { ...given, restrictToWorkspace: false })("true", login)).toEqual(profile);
  }
  expect(await guardOf(place, { policy: "off", state: inside })("true", login)).toEqual(allow);
  symlinkSync(join(place.workspace, "profile"), join(place.base, ".bash_profile"));
  expect(await guardOf(place)("true", login)).toEqual(profile);
});

test("createCommandGuard() lets commands use the temporary folder that a sandbox gives them", async () => {
  const place = createPlace();
  const inside = guardOf(place, { state: { kind: "bwrap", hasProc: true } });
  for (const command of ["echo x > /tmp/a", "cat $TMPDIR/a", "cd && pwd", "cd ~ && pwd"]) {
    expect([command, await inside(command)]).toEqual([command, allow]);
    expect([command, await guardOf(place)(command)]).toEqual([command, refusal("outside the workspace")]);
  }
  // Here the folders above the workspace are in /tmp.
  expect(await inside(`cat ${place.configFile}`)).toEqual(refusal("is the configuration"));
  expect(await inside(`mv ${place.home} x`)).toEqual(refusal("the agent's own"));
});

test("createCommandGuard() lets a command read the results of its own session, whatever that is called", async () => {
  const place = createPlace();
  const folder = ".nanobot/tool-results/cli=3adirect";
  place.put(join(place.workspace, folder, "call_x.txt"), "a result");
  const permit = guardOf(place, { ownResults: folder });
  for (const path of [
    `${folder}/call_x.txt`,
    `./${folder}/call_x.txt`,
    join(place.workspace, folder, "call_x.txt"),
  ]) {
    for (const command of [`tail -1 ${path}`, `tail -1 "${path}"`, `ls ${folder}`, `wc -l < ${path}`])
      expect([command, await permit(command)]).toEqual([command, allow]);
    expect(await permit(`echo x > ${path}`)).toEqual(refusal("the agent's own state"));
  }
  expect(await permit("cat .nanobot/tool-results/other/call.txt")).toEqual(refusal("the agent's own state"));
});

const SKILL = ".nanobot/skills/0123456789abcdef/github";

test("createCommandGuard() lets commands read and run what lies with the built-in skills", async () => {
  const place = createPlace();
  for (const path of ["scripts/list.sh", "scripts/report.py", "assets/page.html", "SKILL.md"])
    place.put(join(place.workspace, SKILL, path), "x");
  for (const restrictToWorkspace of [true, false]) {
    const permit = guardOf(place, { restrictToWorkspace });
    for (const command of [
      `cat ${SKILL}/SKILL.md`,
      `head -5 ${place.workspace}/${SKILL}/SKILL.md | wc -l`,
      `ls -R .nanobot/skills`,
      `grep -rn list .nanobot/skills/*/github`,
      `find ${SKILL} -name "*.sh"`,
      `${SKILL}/scripts/list.sh --all repo`,
      `./${SKILL}/scripts/list.sh`,
      `sh ${SKILL}/scripts/list.sh`,
      `bash -e ${SKILL}/scripts/list.sh notes.txt > out.txt`,
      `. ${SKILL}/scripts/list.sh`,
      `source ${SKILL}/scripts/list.sh`,
      `python3 ${SKILL}/scripts/report.py table.csv report.html`,
      `python3 ${SKILL}/scripts/report.py --page ${SKILL}/assets/page.html report.html`,
      `timeout 10 env X=1 python3.12 ${SKILL}/scripts/report.py`,
      `${SKILL}/scripts/list.sh ${SKILL}/assets/page.html`,
      `cd ${SKILL} && ./scripts/list.sh && cat SKILL.md`,
      `cd ${SKILL}/scripts && bash list.sh ../assets/page.html`,
      `cp -r ${SKILL}/assets copied`,
      `x=$(cat ${SKILL}/SKILL.md) && echo "$x"`,
      `sort < ${SKILL}/SKILL.md > sorted.txt`,
    ])
      expect([command, await permit(command)]).toEqual([command, allow]);
  }
});

test("createCommandGuard() lets no command write where the built-in skills lie, nor look beside them", async () => {
  const place = createPlace();
  place.put(join(place.workspace, SKILL, "scripts/list.sh"), "x");
  for (const restrictToWorkspace of [true, false]) {
    const permit = guardOf(place, { restrictToWorkspace });
    for (const command of [
      `echo x > ${SKILL}/SKILL.md`,
      `echo x >> ${SKILL}/scripts/list.sh`,
      `rm ${SKILL}/SKILL.md`,
      `rm -r .nanobot/skills`,
      `mv ${SKILL} elsewhere`,
      `mv .nanobot/skills elsewhere`,
      `cp notes.txt ${SKILL}/`,
      `touch ${SKILL}/new`,
      `mkdir -p ${SKILL}/new`,
      `chmod +w ${SKILL}/SKILL.md`,
      `sed -i s/x/y/ ${SKILL}/scripts/list.sh`,
      `perl -pi -e s/x/y/ ${SKILL}/scripts/list.sh`,
      `tee ${SKILL}/SKILL.md < notes.txt`,
      `ln -s ../notes.txt ${SKILL}/link`,
      `nano ${SKILL}/SKILL.md`,
      `sh ${SKILL}/scripts/list.sh > ${SKILL}/out`,
      `cd ${SKILL} && echo x > new`,
      `curl -o ${SKILL}/new https://example.com/`,
      // Code of anybody's, which is handed a file of ours.
      `ruby -i -pe x ${SKILL}/scripts/list.sh`,
      `ruby -e 'File.delete(ARGV[0])' ${SKILL}/SKILL.md`,
      `perl -e 'unlink @ARGV' ${SKILL}/SKILL.md`,
      `python3 -c 'import os,sys;os.remove(sys.argv[1])' ${SKILL}/SKILL.md`,
      `python3.12 -Ic 'import os' ${SKILL}/SKILL.md`,
      `python3 - ${SKILL}/SKILL.md < own.py`,
      `python3 own.py ${SKILL}/SKILL.md`,
      `python3 -m pip install -t ${SKILL} x`,
      `bash -c 'cp "$@"' x notes.txt ${SKILL}/SKILL.md`,
      `bash -es ${SKILL}/SKILL.md < own.sh`,
      `bash own.sh ${SKILL}/SKILL.md`,
      `xargs -a list.txt sh -c x ${SKILL}/SKILL.md`,
      `node -e 'require("fs").unlinkSync(process.argv[1])' ${SKILL}/SKILL.md`,
      `bun build x.ts --outdir ${SKILL}`,
      `bun install --cwd=${SKILL}`,
      `deno fmt ${SKILL}/x.ts`,
      `php -r 'unlink($argv[1]);' ${SKILL}/SKILL.md`,
      `cat ${SKILL}/../../../audit.jsonl`,
      `sh .nanobot/audit.jsonl`,
      `python3 .nanobot/skillset/x.py`,
      `python3 ${SKILL}/scripts/list.sh .nanobot/audit.jsonl`,
      `cat .nanobot/*`,
      `cp -r .nanobot copied`,
    ])
      expect([command, (await permit(command)).decision]).toEqual([command, "deny"]);
  }
});

test.each([
  [".nanobot/skills", "."],
  [".nanobot/skills", "../.nanobot"],
  [".nanobot/tool-results/cli_direct", "../"],
])("createCommandGuard() opens nothing by a link in the place of what is open: %s to %s", async (at, to) => {
  const place = createPlace();
  place.put(join(place.workspace, ".nanobot/audit.jsonl"), "x");
  mkdirSync(dirname(join(place.workspace, at)), { recursive: true });
  symlinkSync(to, join(place.workspace, at));
  const permit = guardOf(place, { ownResults: ".nanobot/tool-results/cli_direct" });
  for (const command of ["cat .nanobot/audit.jsonl", `cat ${at}/audit.jsonl`, `cat ${at}/*`])
    expect([command, (await permit(command)).decision]).toEqual([command, "deny"]);
});

test("createCommandGuard() does not take a script of a skill for a program that may write to sessions", async () => {
  const permit = guardOf(createPlace(), { restrictToWorkspace: false });
  for (const command of ["python3 x.py sessions/cli.jsonl", `${SKILL}/x.sh cron/jobs.json`])
    expect([command, await permit(command)]).toEqual([command, refusal("the agent's own state")]);
});

test("createCommandGuard() holds the owner's patterns against commands when the policy is off", async () => {
  const permit = guardOf(createPlace(), { policy: "off", denyPatterns: ["\\bnpm publish\\b"] });
  expect(await permit("np''m publish")).toEqual(refusal("npm publish"));
  expect(await permit("npm publish", { shell: "zsh" })).toEqual(refusal("npm publish"));
  // What bash only puts out zsh may do more with.
  expect(await permit("echo http://127.0.0.1/", { shell: "zsh" })).toEqual(refusal("may not"));
  expect(await permit("echo http://127.0.0.1/")).toEqual(allow);
});

test("createCommandGuard() judges a path that no system takes", async () => {
  const permit = guardOf(createPlace());
  expect(await permit("python3 -c \"open('a\\x00b')\"")).toEqual(allow);
  expect(await permit("curl file:///a%00b")).toEqual(refusal("outside the workspace"));
});

test("createCommandGuard() lets nothing run where a sandbox is demanded and not there, whatever the policy", async () => {
  const permit = guardOf(createPlace(), {
    policy: "off",
    state: { kind: "refused", why: "bwrap: not installed" },
  });
  expect(await permit("true")).toEqual(refusal("bwrap: not installed"));
});

test("createCommandGuard() refuses zsh, whose language it does not know", async () => {
  const place = createPlace();
  const options = { cwd: place.workspace as RealPath, signal, shell: "zsh" } as const;
  const permitWith = (policy: CommandGuardOptions["policy"]) =>
    createCommandGuard({
      files: system,
      web: { whyRefused: async () => undefined },
      sandbox: { state: async () => ({ kind: "none", why: "" }), allowedPaths: async () => [] },
      policy,
      allowPatterns: ["repeat .*"],
      denyPatterns: [],
      restrictToWorkspace: true,
      workspace: place.workspace,
      home: place.base,
      configFile: place.configFile,
      ownResults: ".nanobot/tool-results/own",
    });
  for (const policy of ["guarded", "ask", "allowlist"] as const)
    expect(await permitWith(policy)("repeat 2 ls", options)).toEqual(refusal("zsh"));
  expect(await permitWith("off")("repeat 2 ls", options)).toEqual(allow);
});

test("createCommandGuard() gives up with the reason when it is stopped", async () => {
  const place = createPlace();
  const stop = new AbortController();
  const permit = createCommandGuard({
    files: system,
    policy: "guarded",
    allowPatterns: [],
    denyPatterns: [],
    restrictToWorkspace: true,
    web: { whyRefused: (_url, { reason }) => Promise.reject(reason) },
    sandbox: { state: async () => ({ kind: "none", why: "" }), allowedPaths: async () => [] },
    workspace: place.workspace,
    configFile: place.configFile,
    home: undefined,
    ownResults: "x",
  });
  stop.abort(new Error("stopped"));
  const asked = permit("curl x.example", { cwd: place.workspace as RealPath, signal: stop.signal });
  await expect(asked).rejects.toThrow("stopped");
});

describe("no path escapes", () => {
  const place = createPlace();
  const { workspace, base } = place;
  mkdirSync(join(workspace, "sub/deep"), { recursive: true });
  place.put(join(workspace, "sub/notes.txt"), "inside");
  place.put(join(workspace, "notes.txt"), "inside");
  symlinkSync(join(base, "outside"), join(workspace, "out"));
  symlinkSync("../out", join(workspace, "sub/out"));
  symlinkSync("../../..", join(workspace, "sub/up"));
  symlinkSync(place.outside, join(workspace, "sub/deep/file"));
  symlinkSync("sub", join(workspace, "in"));

  const segment = fc.constantFrom(
    ..."sub deep out up in file notes.txt outside home workspace . .. .nanobot".split(" "),
  );
  const start = fc.constantFrom(
    "",
    "",
    "",
    "./",
    "../",
    "~/",
    `${workspace}/`,
    `${base}/`,
    `${base}/home/../`,
    "//",
    "$PWD/",
    "~+/",
  );
  const ending = fc.constantFrom(
    "",
    "/notes.txt",
    "/notes.txt",
    "/notes.txt",
    "/notes.txt",
    "/outside/notes.txt",
    "/*",
    "/n*",
    "/.n*/*",
    "/{notes.txt,x}",
  );
  const path = fc
    .tuple(start, fc.array(segment, { maxLength: 4 }), ending)
    .map(([first, rest, last]) => first + rest.join("/") + last);
  const spelled = path.chain((text) =>
    fc.constantFrom(
      text,
      `"${text.startsWith("~") ? "./" : ""}${text}"`,
      text.replaceAll("o", "'o'"),
      text.replaceAll(".", "\\."),
      text.replaceAll("/", "//"),
      text.replace("notes", "n?tes"),
      text.replace("out", "o[u]t"),
    ),
  );
  const command = spelled.chain((text) =>
    fc.constantFrom(
      `cat ${text}`,
      `head -n1 < ${text}`,
      `grep -h '' ${text}`,
      `cd ${text} && cat notes.txt`,
      `cd sub; cat ${text}`,
      `cd in/deep/../.. && cat ${text}`,
      `(cd sub/up; cat ${text})`,
      `f=${text}; cat $f`,
      `for f in ${text}; do cat $f; done`,
      `cp ${text} copy && cat copy; rm -f copy`,
      `tar -cf - ${text} | tar -xOf -`,
      `sed -n p ${text}`,
      `sh -c 'cat ${text.replaceAll("'", "'\\''")}'`,
      `find ${text} -name notes.txt -exec cat {} +`,
      `xargs cat <<< ${text}`,
      `cat $(echo ${text})`,
    ),
  );

  /** Programs that take names from their input, or from an expansion, are beyond what a text can tell. */
  const isBlind = (text: string) => /^xargs|\$\(/.test(text);

  /** Of a folder they show all that is in it, and to refuse the workspace itself would be to refuse too much. */
  const goesThroughFolders = (text: string) => /tar |find /.test(text);

  test("createCommandGuard() allows nothing that shows what is outside, however the path is written", async () => {
    const permit = guardOf(place);
    let shown = 0;
    await fc.assert(
      fc.asyncProperty(command, async (text) => {
        if (isBlind(text) || (await permit(text)).decision !== "allow") return;
        const { stdout } = Bun.spawnSync(["bash", "-c", text], {
          cwd: workspace,
          env: { PATH: process.env["PATH"], HOME: base },
          stderr: "ignore",
        });
        const output = stdout.toString();
        if (output.includes("inside")) shown += 1;
        const own = goesThroughFolders(text) ? [] : ["the record", "another's result"];
        for (const secret of ["somebody's notes", "the configuration", ...own])
          expect([text, output.includes(secret)]).toEqual([text, false]);
      }),
      { numRuns: 800 },
    );
    // Otherwise it would be enough to refuse everything.
    expect(shown).toBeGreaterThan(10);
  }, 120_000);

  test.each([
    "cat o*/notes.txt",
    "cat */notes.txt",
    "cat sub/*/notes.txt",
    "cat sub/deep/*",
    "cat s*/d*/f*",
    "cd o*; cat notes.txt",
    "f='o?t/notes.txt'; cat $f",
  ])("createCommandGuard() sees where %j leads through links", async (text) => {
    expect(await guardOf(place)(text)).toEqual(refusal("is outside the workspace"));
  });

  test.each(["cat *.txt", "cat s*/*.txt", "ls sub/*.md", "cat i*/notes.txt", "cat none/*"])(
    "createCommandGuard() lets the pattern in %j stand, which leads nowhere else",
    async (text) => {
      expect(await guardOf(place)(text)).toEqual(allow);
    },
  );

  test("createCommandGuard() refuses a pattern whose folder is too large to look at", async () => {
    const files = { ...system, list: async () => ({ entries: [], more: true }) };
    expect(await guardOf(place, { files })("cat *.txt")).toEqual(refusal("it is not known whether"));
  });
});

describe("folders and links as they are", () => {
  const place = createPlace();
  const { workspace } = place;
  mkdirSync(join(workspace, "proj/src"), { recursive: true });
  mkdirSync(join(workspace, "proj/test"));
  mkdirSync(join(workspace, ".venv/bin"), { recursive: true });
  place.put(join(workspace, "AGENTS.md"), "");
  symlinkSync("/usr/bin/env", join(workspace, ".venv/bin/env"));
  symlinkSync("env", join(workspace, ".venv/bin/env3.12"));
  symlinkSync("/usr/bin/env", join(workspace, ".venv/bin/other"));
  symlinkSync(place.outside, join(workspace, ".venv/bin/out"));

  test.each([
    ".venv/bin/env true",
    "./.venv/bin/env3.12 true",
    "cd proj && ../.venv/bin/env true",
    "mkdir -p build && cd build && cmake ..",
    "mkdir -p a/b && cd a/b && touch ../x && cd ../.. && ls a",
    "git init -q nd && cd nd && echo x > ../y.txt",
    "mkdir ng; cp AGENTS.md ng/../h.md",
    "cd proj; cd ..; pwd; cd proj/src/../test && ls",
    "git clone -q proj cl && cd cl && git log --oneline && cd .. && rm -r cl",
    "cd proj && cd -",
    "cd proj; ls; cd -",
    "cd proj; cat ../AGENTS.md",
    "mkdir -p build && (cd build && cmake ..) && ls",
    "ls; (cd proj; cat ../AGENTS.md)",
    "if [ -d proj ]; then cd proj && cat ../AGENTS.md; fi",
    "case a in a) cd proj && cat ../AGENTS.md;; esac",
    "x=$(cd proj && cat ../AGENTS.md); echo $x",
    "cd proj && (cd src && cat ../test/x) && cat ../AGENTS.md",
    "while true; do (cd proj && cat ../AGENTS.md); done",
  ])("createCommandGuard() allows %j", async (text) => {
    expect(await guardOf(place)(text)).toEqual(allow);
  });

  test.each([
    [".venv/bin/other true", "is outside the workspace"],
    [".venv/bin/out", "is outside the workspace"],
    ["cat .venv/bin/env", "is outside the workspace"],
    ["cat new/../../x", "is outside the workspace"],
    ["mkdir -p new/a && cd new/a && cat ../../../x", "is outside the workspace"],
    ["ln -s proj/src new && cat new/../x", "join the cd to it with &&"],
    ["cd new; cat ../x", "join the cd to it with &&"],
    ["cd AGENTS.md; cat ../x", "join the cd to it with &&"],
    ["rm -r proj; cd proj; cat ../x", "is outside the workspace"],
    ["chmod 444 proj; cd proj; cat ../x", "is outside the workspace"],
    ["cd proj > new/x; cat ../x", "is outside the workspace"],
    ["(cd proj); cat ../x", "is outside the workspace"],
    ["(cd proj && cat ../../x)", "is outside the workspace"],
    ["(cd proj && true) && cat ../x", "is outside the workspace"],
    ["x=$(cd proj) && cat ../x", "is outside the workspace"],
    ["cat <(cd proj && ls) ../x", "is outside the workspace"],
    ["(cd new || true; cat ../x)", "is outside the workspace"],
    ["(cd proj & cat ../x)", "is outside the workspace"],
    ["(cd proj | cat ../x)", "is outside the workspace"],
    ["{ cd proj && true; } & cat ../x", "is outside the workspace"],
    ["if true; then cd proj && true; fi; cat ../x", "is outside the workspace"],
    ["while true; do (cd proj && cat ../../x); done", "is outside the workspace"],
    ["(while true; do cat ../x; cd proj; done)", "is outside the workspace"],
    ["if true; then cd proj; fi; cat ../x", "is outside the workspace"],
    ["cd proj & cat ../x", "is outside the workspace"],
    ["cd() { :; }; cd proj; cat ../x", "is outside the workspace"],
    ["cd proj; for i in 1 2; do cd ..; done; cat x", "is outside the workspace"],
    [`cd proj && for i in 1 2; do cat ../x; cd ${workspace}; done`, "is outside the workspace"],
    [`cd proj && while cat ../x; do cd ${workspace}; done`, "is outside the workspace"],
    ["cd proj; f() { cd ..; }; f; f; cat x", "is outside the workspace"],
    [`cd proj; f() { cat ../x; }; cd ${workspace}; f`, "is outside the workspace"],
    [`cd proj && trap 'cat ../x' EXIT && cd ${workspace}`, "is outside the workspace"],
    ["cd new; cd -", 'it is not known whether "-" is in the workspace'],
  ])("createCommandGuard() refuses %j: %s", async (text, reason) => {
    expect(await guardOf(place)(text)).toEqual(refusal(reason));
  });
});

test("createCommandGuard() allows nothing that bash reads outside by, wherever it goes first", async () => {
  const place = createPlace();
  const { base, workspace } = place;
  for (const folder of ["src", "src/deep", "docs"]) mkdirSync(join(workspace, folder), { recursive: true });
  // Four folders up at the most from the deepest.
  for (const at of [base, join(workspace, "..")]) place.put(join(at, "f"), "what lies outside");
  const guard = guardOf(place);
  const step = fc.constantFrom(
    ...["cd src", "cd src/deep", "cd docs", "cd ..", "cd nope", "cd -", "mkdir n", "cd n", "rmdir n"],
    ...["cat f", "cat ../f", "cat ../../f", "cat ../docs/../f", "true", "false"],
  );
  const { text } = fc.letrec<{ text: string }>((tie) => ({
    text: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      step,
      fc
        .tuple(tie("text"), fc.constantFrom(" && ", " || ", "; ", " | ", " & "), tie("text"))
        .map((parts) => parts.join("")),
      fc.tuple(tie("text"), tie("text")).map(([one, other]) => `if ${one}; then ${other}; fi`),
      tie("text").map((inner) => `(${inner})`),
      tie("text").map((inner) => `{ ${inner}; }`),
      tie("text").map((inner) => `x=$(${inner}); echo "$x"`),
      tie("text").map((inner) => `for i in 1 2; do ${inner}; done`),
    ),
  }));
  let allowed = 0;
  await fc.assert(
    fc.asyncProperty(text, async (command) => {
      rmSync(join(workspace, "n"), { recursive: true, force: true });
      if ((await guard(command)).decision !== "allow") return;
      allowed++;
      const { stdout } = Bun.spawnSync(["bash", "-c", command], { cwd: workspace });
      expect(stdout.toString()).not.toContain("outside");
    }),
    { numRuns: 1000 },
  );
  expect(allowed).toBeGreaterThan(50);
});

test("createCommandGuard() refuses a shell that reads profile files where tools can write them", async () => {
  const place = createPlace();
  const inHome = guardOf(place, { home: place.workspace });
  for (const command of [
    "bash -l -c ls",
    "bash --login",
    "bash -ic ls",
    "exec -l bash",
    "exec -a -bash bash -c ls",
    "sh -c 'env bash -lc ls'",
    "timeout 5 bash -O extglob -l",
  ]) {
    expect([command, await inHome(command)]).toEqual([command, refusal("profile files")]);
    expect([command, await guardOf(place)(command)]).toEqual([command, allow]);
    expect([command, await guardOf(place, { home: place.workspace, policy: "off" })(command)]).toEqual([
      command,
      allow,
    ]);
  }
  for (const command of [
    "bash -c ls",
    "bash --noprofile -lc ls",
    "bash --norc -ic ls",
    "exec bash -c 'ls -l'",
  ])
    expect([command, await inHome(command)]).toEqual([command, allow]);
});
