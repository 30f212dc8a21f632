/** What a command can do in the real sandbox, without any judgement before it. */

import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../src/platform/clock.ts";
import { createProcesses } from "../../../src/platform/processes.ts";
import { createPlace, type Place, programIn, runIn, sandboxIn, whyNoBubblewrap } from "./fixture.ts";

const reason = await whyNoBubblewrap();

/** Ways to read a file that no judgement of a text could all see. */
const readers: readonly { readonly name: string; readonly command: (path: string) => string }[] = [
  { name: "cat", command: (path) => `cat ${path}` },
  { name: "a substitution", command: (path) => `cat $(echo ${path})` },
  { name: "Python", command: (path) => `python3 -c "print(open('${path}').read())"` },
  { name: "a link", command: (path) => `ln -sf ${path} link; cat link; cp -L link copy; cat copy` },
  { name: "a hard link", command: (path) => `ln ${path} hard; cat hard` },
  { name: "the root of a process", command: (path) => `for p in /proc/[0-9]*/root; do cat $p${path}; done` },
  {
    name: "another name space",
    command: (path) =>
      `unshare -Urm sh -c 'mount --bind . /tmp; cat ${path} /tmp/\${1##*/workspace/}' sh ${path}`,
  },
];

/** Each is a few microseconds long: a moment that is later than the one before, with nothing waited for. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Whether a program with this argument runs, seen from outside. */
function isRunning(argument: string): boolean {
  const { stdout } = Bun.spawnSync(["sh", "-c", "cat /proc/[0-9]*/cmdline 2>&-"]);
  return stdout.toString().split("\0").includes(argument);
}

async function everyReader(place: Place, path: string, secret: string): Promise<void> {
  for (const { name, command } of readers) {
    const { out, err } = await runIn(place, command(path));
    expect([name, `${out}${err}`.includes(secret)]).toEqual([name, false]);
  }
}

describe.skipIf(reason !== undefined)(
  `in bubblewrap${reason === undefined ? "" : `, not here: ${reason}`}`,
  () => {
    test("a command can read the workspace by every means that it cannot use elsewhere", async () => {
      const place = createPlace();
      const path = place.put(join(place.workspace, "notes.txt"), "the notes");
      const means = readers.filter(({ name }) => name !== "Python" || Bun.which("python3") !== null);
      for (const { name, command } of means.filter(({ name }) => !name.startsWith("another"))) {
        const { out } = await runIn(place, command(path));
        expect([name, out.includes("the notes")]).toEqual([name, true]);
      }
    });

    test("a command cannot read the configuration", async () => {
      const place = createPlace();
      await everyReader(place, place.configFile, "the configuration");
      expect((await runIn(place, "cat ../config.json; ls -A ..")).out).toBe("workspace\n");
    });

    test("a command cannot read what is nanobot's own", async () => {
      const place = createPlace();
      await everyReader(place, join(place.workspace, ".nanobot/audit.jsonl"), "the record");
      await everyReader(
        place,
        join(place.workspace, ".nanobot/tool-results/other/call.txt"),
        "another's result",
      );
      expect((await runIn(place, "find .nanobot -type f")).out).toBe(".nanobot/tool-results/own/call.txt\n");
    });

    test("a command can read the results of its own session, and not change them", async () => {
      const place = createPlace();
      const path = ".nanobot/tool-results/own/call.txt";
      expect((await runIn(place, `cat ${path}`)).out).toBe("an own result");
      await runIn(place, `echo x > ${path}; rm -f ${path}; mv .nanobot x; echo x > .nanobot/x`);
      expect(place.read(join(place.workspace, path))).toBe("an own result");
      expect(readdirSync(join(place.workspace, ".nanobot")).sort()).toEqual(["audit.jsonl", "tool-results"]);
    });

    test("a command can read and run what lies with the built-in skills, and change none of it", async () => {
      const place = createPlace();
      const folder = ".nanobot/skills/0123456789abcdef/github";
      const script = place.put(
        join(place.workspace, folder, "scripts/list.sh"),
        '#!/bin/sh\ncat "$(dirname "$0")/../SKILL.md"\n',
      );
      chmodSync(script, 0o700);
      const text = place.put(join(place.workspace, folder, "SKILL.md"), "how it is done");
      for (const command of [
        `cat ${folder}/SKILL.md`,
        `${folder}/scripts/list.sh`,
        `sh ${folder}/scripts/list.sh`,
        `cd ${folder} && ./scripts/list.sh`,
      ])
        expect(await runIn(place, command)).toEqual({ code: 0, out: "how it is done", err: "" });
      const attacks = [
        `echo x > ${folder}/SKILL.md`,
        `echo x > ${folder}/new`,
        `rm -rf ${folder} .nanobot/skills`,
        "mv .nanobot/skills moved",
        "mv .nanobot moved",
        `chmod 777 ${folder}/scripts/list.sh`,
        `ln -sfn /etc ${folder}`,
        `python3 -c "open('${folder}/SKILL.md','w').write('x')"`,
      ];
      for (const attack of attacks)
        expect([attack, (await runIn(place, attack)).code]).not.toEqual([attack, 0]);
      expect(place.read(text)).toBe("how it is done");
      expect(statSync(script).mode & 0o777).toBe(0o700);
      expect(readdirSync(join(place.workspace, ".nanobot")).sort()).toEqual([
        "audit.jsonl",
        "skills",
        "tool-results",
      ]);
      expect((await runIn(place, "ls -A .nanobot; cat .nanobot/audit.jsonl")).out).toBe(
        "skills\ntool-results\n",
      );
    });

    test("a command is not shown what a link in the place of the built-in skills leads to", async () => {
      const place = createPlace();
      symlinkSync(join(place.base, "outside"), join(place.workspace, ".nanobot/skills"));
      expect((await runIn(place, "cat .nanobot/skills/notes.txt")).out).toBe("");
    });

    test("a command cannot reach a file outside the workspace", async () => {
      const place = createPlace();
      await everyReader(place, place.outside, "somebody's notes");
    });

    test("a command cannot write outside the workspace, and is told so", async () => {
      const place = createPlace();
      const beside = join(place.base, "outside/new.txt");
      for (const path of [beside, place.outside, "/new.txt", "/etc/new.txt"]) {
        const { code, err } = await runIn(place, `echo x > ${path}`);
        expect([path, code]).toEqual([path, 1]);
        expect(err).toMatch(/No such file|Read-only/);
        await runIn(place, `python3 -c "open('${path}','w').write('x')"; mkdir -p ${path}/x`);
      }
      // Here the folder above is in /tmp, of which a command has one of its own.
      await runIn(place, "echo x > ../new.txt");
      expect(existsSync(beside)).toBe(false);
      expect(place.read(place.outside)).toBe("somebody's notes");
      expect(readdirSync(place.home).sort()).toEqual(["config.json", "workspace"]);
      expect(existsSync("/new.txt") || existsSync("/etc/new.txt")).toBe(false);
    });

    test("a command can write in the workspace, and what it makes belongs to who runs nanobot", async () => {
      const place = createPlace();
      expect(await runIn(place, "mkdir -p a/b && echo hi > a/b/c && cat a/b/c && pwd && echo $HOME")).toEqual(
        {
          code: 0,
          out: `hi\n${place.workspace}\n${place.workspace}\n`,
          err: "",
        },
      );
      const made = join(place.workspace, "a/b/c");
      expect(place.read(made)).toBe("hi\n");
      expect(statSync(made).uid).toBe(process.getuid?.() ?? -1);
    });

    test("a command has a temporary folder of its own, which is gone after it", async () => {
      const place = createPlace();
      expect((await runIn(place, 'f=$(mktemp) && echo "$f" && echo x > /tmp/nanobot-left')).out).toStartWith(
        "/tmp/",
      );
      expect((await runIn(place, "ls -A /tmp/nanobot-left")).out).toBe("");
      expect(existsSync("/tmp/nanobot-left")).toBe(false);
    });

    test("a command can read sessions and jobs and change neither, however it goes about it", async () => {
      const place = createPlace();
      expect((await runIn(place, "cat sessions/cli.jsonl cron/jobs.json")).out).toBe("the sessionthe jobs");
      const attack = (name: string) =>
        `echo x > ${name}/new; mv ${name} moved; rm -rf ${name}; rmdir ${name}; ln -sfn . ${name}; mkdir -p ${name}; echo x > ${name}/new`;
      await runIn(place, `${attack("sessions")}; ${attack("cron")}; echo x > cron/jobs.json`);
      expect(place.read(join(place.workspace, "sessions/cli.jsonl"))).toBe("the session");
      expect(place.read(join(place.workspace, "cron/jobs.json"))).toBe("the jobs");
      expect(readdirSync(place.workspace).sort()).toEqual([".nanobot", "cron", "memory", "sessions"]);
    });

    test("a command can write in memory, and can only read its history, however it goes about it", async () => {
      const place = createPlace();
      const memory = join(place.workspace, "memory");
      place.put(join(memory, "MEMORY.md"), "the facts");
      place.put(join(memory, "HISTORY.md"), "the history");
      place.put(join(memory, "history.jsonl"), "the original's");
      const used = "echo x >> memory/2026-12-01.md && echo new > memory/MEMORY.md && cat memory/[Hh]*";
      expect(await runIn(place, used)).toEqual({ code: 0, out: "the historythe original's", err: "" });
      const attacks = ["HISTORY.md", "history.jsonl"].flatMap((name) => [
        `echo x >> memory/${name}`,
        `rm -f memory/${name}`,
        `mv memory/${name} memory/x`,
        `mv memory/MEMORY.md memory/${name}`,
        `ln -f memory/MEMORY.md memory/${name}`,
        `ln memory/${name} memory/x && echo x > memory/x`,
        `chmod 777 memory/${name}`,
        `python3 -c "import os; os.replace('memory/MEMORY.md', 'memory/${name}')"`,
      ]);
      for (const attack of [...attacks, "mv memory elsewhere", "rmdir memory", "ln -sfn . memory/../memory"])
        expect([attack, (await runIn(place, attack)).code]).not.toEqual([attack, 0]);
      await runIn(place, "rm -rf memory; mkdir -p memory; echo x > memory/HISTORY.md");
      expect(readdirSync(memory).sort()).toEqual(["HISTORY.md", "history.jsonl"]);
      expect(place.read(join(memory, "HISTORY.md"))).toBe("the history");
      expect(place.read(join(memory, "history.jsonl"))).toBe("the original's");
    });

    test("a command finds an empty history where there was none, and what is added to it meanwhile", async () => {
      const place = createPlace();
      const history = join(place.workspace, "memory/HISTORY.md");
      expect((await runIn(place, "echo x > memory/HISTORY.md; ls memory; cat memory/*")).out).toBe(
        "HISTORY.md\n",
      );
      expect(statSync(history).mode & 0o777).toBe(0o600);
      expect(statSync(join(place.workspace, "memory")).mode & 0o777).toBe(0o700);
      place.put(history, "[2026-11-30 09:00] They met.\n");
      expect((await runIn(place, "cat memory/HISTORY.md")).out).toContain("They met.");
    });

    test("a command that comes upon something else in the place of the history is refused", async () => {
      for (const make of [mkdirSync, (path: string) => symlinkSync("MEMORY.md", path)]) {
        const place = createPlace();
        place.put(join(place.workspace, "memory/MEMORY.md"), "the facts");
        make(join(place.workspace, "memory/HISTORY.md"));
        await expect(runIn(place, "true")).rejects.toThrow(
          "is not a regular file, and the sandbox can protect",
        );
      }
    });

    test("a command cannot make what is missing of them", async () => {
      const place = createPlace();
      for (const name of ["sessions", "cron", ".nanobot"])
        rmSync(join(place.workspace, name), { recursive: true });
      await runIn(
        place,
        "mkdir -p cron sessions .nanobot; echo x > cron/jobs.json; echo x > sessions/a; echo x > .nanobot/a",
      );
      for (const name of ["sessions", "cron", ".nanobot"]) {
        expect(readdirSync(join(place.workspace, name))).toEqual([]);
        expect(statSync(join(place.workspace, name)).mode & 0o777).toBe(0o700);
      }
    });

    test("a command that comes upon a link in the place of one of them is refused", async () => {
      const place = createPlace();
      rmSync(join(place.workspace, "sessions"), { recursive: true });
      symlinkSync(join(place.base, "outside"), join(place.workspace, "sessions"));
      await expect(runIn(place, "true")).rejects.toThrow("the sandbox can protect nothing else");
    });

    test("a command sees no other process, and leaves none", async () => {
      const place = createPlace();
      const { out } = await runIn(place, "cat /proc/[0-9]*/comm; (setsid sleep 600.4242 &) ; echo done");
      const others = out.split("\n").filter((name) => !["bwrap", "bash", "cat", "done", ""].includes(name));
      expect(others).toEqual([]);
      expect(out).toStartWith("bwrap\nbash\n");
      expect(isRunning("600.4242")).toBe(false);
    });

    test("a command that is ended in its first moment leaves nothing behind", async () => {
      const program = await programIn(createPlace(), "sleep 600.4343");
      const processes = createProcesses(systemClock);
      // Bubblewrap has half a dozen steps to go at that time, and each must be one at which it can be ended.
      for (let step = 0; step < 30; step++) {
        const running = await processes.start(program);
        await turns(step < 8 ? step : (step - 7) ** 2);
        running.end("aborted");
        await running.exited;
      }
      expect(isRunning("600.4343")).toBe(false);
    });

    test("a command has no capability and is not root", async () => {
      const { out } = await runIn(createPlace(), "id -u; grep -E 'Cap(Eff|Bnd)' /proc/self/status");
      expect(out).toMatch(/^[1-9]\d*\nCapEff:\t0+\nCapBnd:\t0+\n$/);
    });

    test("a command cannot read what only some on the machine may, also where nanobot can", async () => {
      const { out, err } = await runIn(
        createPlace(),
        "cat /etc/shadow /etc/gshadow /etc/ssl/private/*; head -1 /etc/passwd",
      );
      expect(out).toMatch(/^root:.*\n$/);
      expect(err).toContain("/etc/shadow");
    });

    test("a command gets the code of its own end", async () => {
      const place = createPlace();
      expect((await runIn(place, "exit 7")).code).toBe(7);
      expect((await runIn(place, "kill -9 $$")).code).toBe(137);
    });

    test("allowed folders and binds can be used as the owner says", async () => {
      const place = createPlace();
      const [tools, shared] = [join(place.base, "tools"), join(place.base, "shared")];
      mkdirSync(shared);
      place.put(join(tools, "data"), "data");
      const options = {
        roBinds: [tools],
        rwBinds: ["~/shared"],
        allowedPaths: [join(place.base, "outside"), "~/missing"],
      };
      const command = `cat ${tools}/data ${place.outside}; echo new > ${shared}/new; echo more >> ${place.outside}; echo x > ${tools}/x`;
      const { out, err } = await runIn(place, command, options);
      expect(out).toBe("datasomebody's notes");
      expect(err).toContain("Read-only");
      expect(place.read(join(shared, "new"))).toBe("new\n");
      expect(place.read(place.outside)).toBe("somebody's notesmore\n");
      expect(readdirSync(tools)).toEqual(["data"]);
    });

    test("an allowed folder around everything opens neither the configuration nor what is nanobot's own", async () => {
      const place = createPlace();
      place.put(`${place.configFile}.bak-2026`, "the configuration of before");
      const command = [
        `cat ${place.home}/config.json* .nanobot/audit.jsonl`,
        `mv ${place.home} ${place.base}/moved; mv ${place.configFile} ${place.home}/moved; rm -rf ${place.home}`,
        `mkdir -p ${place.home}; echo x > ${place.configFile}; echo x > ${place.workspace}/sessions/x; cat ${place.outside}`,
      ].join("; ");
      expect((await runIn(place, command, { allowedPaths: [place.base] })).out).toBe("somebody's notes");
      expect(place.read(place.configFile)).toBe("the configuration");
      expect(place.read(join(place.workspace, ".nanobot/audit.jsonl"))).toBe("the record");
      expect(readdirSync(join(place.workspace, "sessions"))).toEqual(["cli.jsonl"]);
    });

    test.each(["config.json", "deep/er/config.json"])(
      "a configuration at %s in the workspace stays closed",
      async (name) => {
        const place = createPlace();
        const configFile = place.put(join(place.workspace, name), "the inner configuration");
        const command = `cat ${name}; mv ${name} x; rm -rf deep; mv deep x; mkdir -p deep/er; echo x > ${name}; cat ${name} x`;
        expect((await runIn(place, command, { configFile })).out).toBe("");
        expect(place.read(configFile)).toBe("the inner configuration");
      },
    );

    test("a command is refused where it could make the configuration that is missing", async () => {
      const place = createPlace();
      const run = runIn(place, "true", { configFile: join(place.workspace, "config.json") });
      await expect(run).rejects.toThrow("it could put another configuration at");
    });

    test("a command is refused in a folder that the sandbox does not show", async () => {
      const place = createPlace();
      const sandbox = await sandboxIn(place);
      const wrapped = sandbox.wrap(
        { file: "/bin/sh", args: [] },
        { cwd: join(place.base, "outside"), owner: "own" },
      );
      await expect(wrapped).rejects.toThrow("the sandbox does not show that folder");
    });
  },
);
