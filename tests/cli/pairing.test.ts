import { describe, expect, test } from "bun:test";
import process from "node:process";
import { createPairing } from "../../src/access/pairing.ts";
import { help } from "../../src/cli/help.ts";
import { command } from "../../src/cli/pairing.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createLocks } from "../../src/platform/locks.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp, runCommand } from "./fixture.ts";

/** The command line of a workspace whose gateway gives codes. */
function setUp({ mask = (text: string) => text } = {}) {
  const workspace = tempFolder();
  const app = createTestApp({ home: tempFolder() });
  const pairing = createPairing({
    files: createFileSystem(),
    locks: createLocks({ os: process.platform, folder: workspace }),
    clock: app.platform.clock,
    log: createFakeLog(),
    workspace,
  });

  const run = (...args: string[]) =>
    runCommand(app, { mask, pairing: async () => pairing }, ["pairing", ...args]);

  async function askFor(senderId: string, { channel = "telegram", name = "" } = {}): Promise<string> {
    const pending = await pairing.request(channel, { senderId, chatId: senderId, displayName: name });
    const code = pending?.code ?? "";
    return `${code.slice(0, 4)}-${code.slice(4)}`;
  }
  return { app, pairing, run, askFor };
}

describe("nanobot pairing list", () => {
  test("says that there is nobody", async () => {
    expect(await setUp().run("list")).toEqual({
      code: 0,
      out: "",
      err: "Nobody waits to be let in, and nobody was let in by a code.\n",
    });
  });

  test("shows who waits with their codes, and who was let in", async () => {
    const { run, askFor } = setUp();
    await run("approve", await askFor("7", { channel: "slack" }));
    const code = await askFor("123|alice", { name: "Alice 中文" });
    const { out, err } = await run("list");
    expect(err).toBe("");
    expect(out).toBe(
      [
        `waits   ${code}  telegram  123|alice  Alice 中文  10 min left\n`,
        "let in             slack     7                      since 2023-11-14\n",
      ].join(""),
    );
  });

  test("prints JSON, also of nobody", async () => {
    const { run, askFor } = setUp();
    expect(JSON.parse((await run("list", "--json")).out)).toEqual({ pending: [], approved: [] });
    const code = await askFor("123|alice", { name: "Alice" });
    const { out } = await run("list", "--json");
    expect(JSON.parse(out)).toEqual({
      pending: [
        {
          code: code.replace("-", ""),
          channel: "telegram",
          senderId: "123|alice",
          chatId: "123|alice",
          displayName: "Alice",
          expiresAt: "2023-11-14T22:23:20.000Z",
        },
      ],
      approved: [],
    });
  });

  test("prints nothing that steers a terminal, and one line for each", async () => {
    const { run, askFor } = setUp();
    await askFor("1\u009b2J|x", { name: "\u001b[1m\u202eevil\nwaits" });
    await run("approve", await askFor("2\u009b2J", { channel: "sl\u009back" }));
    for (const args of [["list"], ["list", "--json"]]) {
      const { out } = await run(...args);
      expect(out).not.toMatch(/[\u009b\u001b\u202e]/);
      if (args.length === 1) expect(out.trimEnd().split("\n").length).toBe(2);
    }
  });

  test("prints no secret", async () => {
    const { run, askFor } = setUp({ mask: (text) => text.replaceAll("hunter2", "[masked]") });
    const code = await askFor("hunter2", { name: "hunter2" });
    const outputs = [await run("list"), await run("list", "--json"), await run("approve", code)];
    for (const { out } of outputs) expect(out).toContain("[masked]");
    expect(outputs.map(({ out }) => out).join("")).not.toContain("hunter2");
  });
});

describe("nanobot pairing approve and deny", () => {
  test("let somebody in, or not, and say who that is", async () => {
    const { run, askFor, pairing } = setUp();
    const one = await askFor("123|alice", { name: "Al\u001b[31mice\n" });
    expect(await run("approve", one.toLowerCase())).toEqual({
      code: 0,
      out: "Let in: 123|alice (Alice) on telegram\n",
      err: "",
    });
    expect(await pairing.isApproved("telegram", "123|alice")).toBe(true);
    const other = await askFor("5", { channel: "slack" });
    expect(await run("deny", other.replace("-", ""))).toEqual({
      code: 0,
      out: "Not let in: 5 on slack\n",
      err: "",
    });
    expect(await pairing.isApproved("slack", "5")).toBe(false);
  });

  test("refuse a code that nobody has, with exit code 2", async () => {
    const { run, askFor } = setUp();
    const used = await askFor("1");
    await run("deny", used);
    for (const word of ["approve", "deny"]) {
      for (const code of [used, "", "ABCD-2345", "nonsense\u001b[1m"])
        await expect(run(word, code)).rejects.toMatchObject({
          name: "UserError",
          exitCode: 2,
          message: `Nobody waits with the code ${JSON.stringify(code)}`,
          hint: expect.stringContaining("nanobot pairing list"),
        });
    }
  });

  test("ask for a code", async () => {
    for (const word of ["approve", "deny"])
      await expect(setUp().run(word)).rejects.toMatchObject({ message: "Missing CODE" });
  });
});

describe("nanobot pairing revoke", () => {
  test("lets somebody in no more, on one channel or on all", async () => {
    const { run, askFor, pairing } = setUp();
    for (const channel of ["telegram", "slack", "discord"])
      await run("approve", await askFor("123", { channel }));
    expect(await run("revoke", "123", "--channel", "slack")).toEqual({
      code: 0,
      out: "Not let in any more: 123\n",
      err: "",
    });
    expect(await pairing.isApproved("slack", "123")).toBe(false);
    expect(await pairing.isApproved("telegram", "123")).toBe(true);
    expect((await run("revoke", "123")).code).toBe(0);
    expect((await pairing.list()).approved).toEqual([]);
  });

  test("refuses an id that nobody has, and says which was meant", async () => {
    const { run, askFor } = setUp();
    await run("approve", await askFor("1234567"));
    await expect(run("revoke", "123456")).rejects.toMatchObject({
      name: "UserError",
      exitCode: 2,
      message: 'Nobody called "123456" was let in by a code',
      hint: 'Did you mean "1234567"?',
    });
    await expect(run("revoke", "1234567", "--channel", "slack")).rejects.toMatchObject({
      message: 'Nobody called "1234567" was let in by a code on "slack"',
      hint: expect.stringContaining("nanobot pairing list"),
    });
  });
});

test("nanobot pairing --help lists what there is", async () => {
  const text = await help(["pairing"], command);
  for (const line of ["list", "approve CODE", "deny CODE", "revoke ID"])
    expect(text).toContain(`\n  ${line} `);
  const revoke = await help(["pairing", "revoke"], command.subcommands?.["revoke"]);
  expect(revoke).toContain("nanobot pairing revoke ID");
  expect(revoke).toContain("--channel NAME");
});
