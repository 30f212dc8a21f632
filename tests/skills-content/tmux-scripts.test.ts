/** The scripts of the skill tmux, with a real tmux. */

import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { tempFolder } from "../fakes/temp.ts";
import { environment, runScript } from "./run-script.ts";
import { root } from "./skill-files.ts";

// For whatever hangs.
setDefaultTimeout(60_000);

const running = new Set<{ kill(signal: NodeJS.Signals): void; readonly exited: Promise<number> }>();

afterEach(async () => {
  for (const server of running) server.kill("SIGKILL");
  await Promise.all([...running].map(({ exited }) => exited));
  running.clear();
});

function tmux(cwd: string, ...args: readonly string[]) {
  const ended = Bun.spawnSync(["tmux", "-S", "tmux.sock", "-N", ...args], {
    cwd,
    env: { ...environment, HOME: cwd },
  });
  return { code: ended.exitCode, stdout: ended.stdout.toString() };
}

/** A folder with a server in it, which answers. */
async function served(...args: readonly string[]) {
  const cwd = tempFolder();
  const server = Bun.spawn([join(root, "tmux/scripts/serve.sh"), ...args], {
    cwd,
    env: { ...environment, HOME: cwd },
    stdio: ["ignore", "ignore", "pipe"],
  });
  running.add(server);
  let isOver = false;
  void server.exited.then(() => {
    isOver = true;
  });
  // It has no sessions, and says so once it can be asked.
  while (!isOver && tmux(cwd, "show-options", "-s", "exit-empty").code !== 0) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return { cwd, server };
}

/** A session whose program says `text` and waits. */
function begin(cwd: string, name: string, text: string): void {
  const program = `printf '%s\\n' '${text}'; exec cat`;
  expect(tmux(cwd, "new-session", "-d", "-s", name, "-x", "40", "-y", "10", program).code).toBe(0);
}

const waitFor = (cwd: string, ...args: readonly string[]) =>
  runScript("tmux/scripts/wait-for-text.sh", args, { cwd });

const isMissing = Bun.which("tmux") === null;

describe.skipIf(isMissing)("serve.sh (skipped where tmux is not installed)", () => {
  test("runs a server that ends with it, and takes its sessions along", async () => {
    const { cwd, server } = await served();
    begin(cwd, "work", "hello");
    expect(tmux(cwd, "list-sessions").stdout).toStartWith("work:");
    server.kill("SIGTERM");
    await server.exited;
    expect(tmux(cwd, "list-sessions").code).not.toBe(0);
  });

  test("gives its sessions a shell that lets somebody in, whatever the user's own is", async () => {
    const { cwd } = await served();
    expect(tmux(cwd, "show-options", "-g", "default-shell").stdout).toMatch(/\/(ba)?sh\n$/);
  });

  test("takes what is pasted from a file, line by line, as the skill says", async () => {
    const { cwd } = await served();
    begin(cwd, "work", "ready");
    writeFileSync(join(cwd, "input.txt"), "print(6 * 7)\n  'second' line\n");
    expect(tmux(cwd, "load-buffer", "-b", "typed", "input.txt").code).toBe(0);
    expect(tmux(cwd, "paste-buffer", "-d", "-b", "typed", "-t", "work").code).toBe(0);
    // The terminal shows what is typed, and cat says each line again.
    expect(waitFor(cwd, "-t", "work", "-e", "^ {2}'second' line$").code).toBe(0);
    expect(waitFor(cwd, "-t", "work", "-e", "^print\\(6 \\* 7\\)$").code).toBe(0);
  });

  test("refuses a second server on the same socket", async () => {
    const { cwd } = await served();
    const second = runScript("tmux/scripts/serve.sh", ["tmux.sock"], { cwd });
    expect(second).toEqual({ code: 1, stdout: "", stderr: "A server runs at tmux.sock already\n" });
  });

  test("takes the place of a server that was killed", async () => {
    const cwd = tempFolder();
    const dead = createServer().listen(join(cwd, "tmux.sock"));
    await new Promise<void>((resolve) => dead.once("listening", resolve));
    // Closing would remove the socket; a link to it stays, as after a kill.
    Bun.spawnSync(["ln", join(cwd, "tmux.sock"), join(cwd, "kept")]);
    await new Promise<void>((resolve) => dead.close(() => resolve()));
    Bun.spawnSync(["mv", join(cwd, "kept"), join(cwd, "tmux.sock")]);
    const server = Bun.spawn([join(root, "tmux/scripts/serve.sh")], {
      cwd,
      env: { ...environment, HOME: cwd },
      stdio: ["ignore", "ignore", "ignore"],
    });
    running.add(server);
    while (server.exitCode === null && tmux(cwd, "show-options", "-s", "exit-empty").code !== 0) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    begin(cwd, "again", "hello");
    expect(tmux(cwd, "list-sessions").stdout).toStartWith("again:");
  });

  test("leaves a file in the place of its socket alone", () => {
    const cwd = tempFolder();
    writeFileSync(join(cwd, "tmux.sock"), "notes");
    const refused = runScript("tmux/scripts/serve.sh", [], { cwd });
    expect(refused).toEqual({ code: 1, stdout: "", stderr: "tmux.sock is there and no socket\n" });
    expect(existsSync(join(cwd, "tmux.sock"))).toBe(true);
  });

  test.each([[["-x"]], [["a", "b"]]])("says how it is used when it is given %j", (args) => {
    const { code, stderr } = runScript("tmux/scripts/serve.sh", args, { cwd: tempFolder() });
    expect(stderr).toStartWith("Usage: serve.sh");
    expect(code).toBe(2);
  });
});

describe("serve.sh without tmux", () => {
  test("says that it is not installed", () => {
    const cwd = tempFolder();
    Bun.spawnSync(["ln", "-s", Bun.which("sh") ?? "/bin/sh", join(cwd, "sh")]);
    const { code, stderr } = runScript("tmux/scripts/serve.sh", [], { cwd, env: { PATH: cwd } });
    expect(stderr).toBe("tmux is not installed\n");
    expect(code).toBe(1);
  });
});

describe.skipIf(isMissing)("find-sessions.sh (skipped where tmux is not installed)", () => {
  const find = (cwd: string, ...args: readonly string[]) =>
    runScript("tmux/scripts/find-sessions.sh", args, { cwd });

  test("lists the sessions of every socket in the folder, names with spaces among them", async () => {
    const { cwd } = await served();
    begin(cwd, "one", "a");
    begin(cwd, "the other one", "b");
    const { code, stdout } = find(cwd);
    // Its program is the shell until that has become what it was told to run.
    expect(stdout.replace(/detached \w+/g, "detached …")).toBe(
      "./tmux.sock 1 detached … one\n./tmux.sock 1 detached … the other one\n",
    );
    expect(code).toBe(0);
  });

  test("shows only those with the text of -q in their name, whatever characters it has", async () => {
    const { cwd } = await served();
    begin(cwd, "build [1]", "a");
    begin(cwd, "build 1", "b");
    expect(find(cwd, "-q", "[1]", "tmux.sock").stdout).toMatch(/^tmux\.sock 1 detached \S+ build \[1\]\n$/);
    // A socket is in no name.
    expect(find(cwd, "-q", "tmux").code).toBe(1);
  });

  test("says that it found none, also where there is no socket", async () => {
    const { cwd } = await served();
    expect(find(cwd)).toEqual({ code: 1, stdout: "", stderr: "No session found\n" });
    expect(find(tempFolder())).toEqual({ code: 1, stdout: "", stderr: "No session found\n" });
    expect(find(cwd, "-x").code).toBe(2);
  });
});

describe.skipIf(isMissing)("wait-for-text.sh (skipped where tmux is not installed)", () => {
  test("prints the last line with the text, and none before it", async () => {
    const { cwd } = await served();
    begin(cwd, "work", "first ready");
    tmux(cwd, "send-keys", "-t", "work", "-l", "--", "second ready");
    tmux(cwd, "send-keys", "-t", "work", "Enter");
    expect(waitFor(cwd, "-t", "work", "second ready")).toEqual({
      code: 0,
      stdout: "second ready\n",
      stderr: "",
    });
  });

  test("waits for what comes later", async () => {
    const { cwd } = await served();
    begin(cwd, "work", "not yet");
    const waiting = Bun.spawn(
      [join(root, "tmux/scripts/wait-for-text.sh"), "-t", "work", "-e", "^now$", "-w", "50"],
      { cwd, env: { ...environment, HOME: cwd }, stdio: ["ignore", "pipe", "inherit"] },
    );
    running.add(waiting);
    tmux(cwd, "send-keys", "-t", "work", "-l", "--", "now");
    tmux(cwd, "send-keys", "-t", "work", "Enter");
    expect(await new Response(waiting.stdout).text()).toBe("now\n");
    expect(await waiting.exited).toBe(0);
  });

  test("takes a text as it is, and an expression only with -e", async () => {
    const { cwd } = await served();
    begin(cwd, "work", "cost: 3.50 [ok]");
    expect(waitFor(cwd, "-t", "work", "[ok]").code).toBe(0);
    expect(waitFor(cwd, "-t", "work", "-w", "0", "3.5.").code).toBe(1);
    expect(waitFor(cwd, "-t", "work", "-e", "cost: [0-9.]+").stdout).toBe("cost: 3.50 [ok]\n");
  });

  test("takes a text that looks like an option behind --, and options in any place", async () => {
    const { cwd } = await served();
    begin(cwd, "work", "use --force");
    expect(waitFor(cwd, "-t", "work", "--", "--force").code).toBe(0);
    expect(waitFor(cwd, "use --f.*", "-e", "-S", "tmux.sock", "-t", "work", "-w", "50").code).toBe(0);
  });

  test("finds a text across the edge of the screen, and what has left it", async () => {
    const { cwd } = await served();
    begin(cwd, "work", `${"x".repeat(30)} wrapped here`);
    expect(waitFor(cwd, "-t", "work", "x wrapped here").code).toBe(0);
    for (let line = 0; line < 12; line++) tmux(cwd, "send-keys", "-t", "work", "Enter");
    expect(waitFor(cwd, "-t", "work", "x wrapped here").code).toBe(0);
  });

  test("shows the pane when the text does not come", async () => {
    const { cwd } = await served();
    begin(cwd, "work", "Password:");
    expect(waitFor(cwd, "-t", "work", "Password:").code).toBe(0);
    expect(waitFor(cwd, "-t", "work", "-w", "0", "welcome")).toEqual({
      code: 1,
      stdout: "",
      stderr: "Not found in 0 seconds. The pane shows:\nPassword:\n",
    });
  });

  test("says that there is no such pane", async () => {
    const { cwd } = await served();
    const stderr = "There is no pane nothing on the server at tmux.sock\n";
    expect(waitFor(cwd, "-t", "nothing", "text")).toEqual({ code: 3, stdout: "", stderr });
    expect(waitFor(tempFolder(), "-t", "nothing", "text")).toEqual({ code: 3, stdout: "", stderr });
  });

  test.each([
    [["-t", "work"]],
    [["text"]],
    [["-t", "work", ""]],
    [["-t", "work", "-w", "soon", "text"]],
    [["-t", "work", "-l", "-5", "text"]],
    [["-t", "work", "-e", "bad[", "-w", "0"]],
    [["-t", "work", "a", "b"]],
    [["-t", "work", "a", "--", "b"]],
    [["-t", "work", "a", "-w"]],
    [["-t", "work", "-x", "a"]],
  ])("is used wrongly with %j", async (args) => {
    const { code, stdout } = waitFor(tempFolder(), ...args);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});
