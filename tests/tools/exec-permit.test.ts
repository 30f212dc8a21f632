import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ToolContext, ToolShell } from "../../src/core/tool.ts";
import { permitExec } from "../../src/tools/exec-permit.ts";
import { createFixture } from "./fixture.ts";

/** What the shell is asked, and its answer. */
function askedOf(answer: Awaited<ReturnType<ToolShell["permit"]>> = { decision: "allow" }) {
  const asked: unknown[] = [];
  const fixture = createFixture();
  const { shell } = fixture.context.ports;
  const permit: ToolShell["permit"] = async (command, { cwd, shell: name, login }) => {
    asked.push({ command, cwd, shell: name, login });
    return answer;
  };
  const ports = { ...fixture.context.ports, shell: { ...shell, permit } };
  const context: ToolContext = { ...fixture.context, ports };
  return { ...fixture, context, asked };
}

test("permitExec() asks about the command, in the folder it would run in", async () => {
  const { context, asked, workspace, put } = askedOf();
  put("sub/x", "x");
  symlinkSync("sub", join(workspace, "link"));
  expect(await permitExec({ command: "ls", working_dir: "link", shell: "sh", login: true }, context)).toEqual(
    {
      decision: "allow",
    },
  );
  await permitExec({ command: "ls" }, context);
  expect(asked).toEqual([
    { command: "ls", cwd: join(workspace, "sub"), shell: "sh", login: true },
    { command: "ls", cwd: workspace, shell: undefined, login: undefined },
  ]);
});

test("permitExec() hands on what the owner is to be asked", async () => {
  const ask = { decision: "ask", what: "rm -rf x", reason: "it deletes" } as const;
  expect(await permitExec({ command: "rm -rf x" }, askedOf(ask).context)).toEqual(ask);
});

test("permitExec() asks about the very text that runs", async () => {
  const { context, asked } = askedOf();
  await permitExec({ command: "echo \ud800" }, context);
  expect(asked).toEqual([expect.objectContaining({ command: "echo \ufffd" })]);
});

test.each([
  ["", "it is blank"],
  [" \n", "it is blank"],
  ["echo a\0b", "NUL"],
  ["x".repeat(120_001), "write a script with write_file"],
])("permitExec() refuses a command that cannot be run before it is judged", async (command, why) => {
  const { context, asked } = askedOf();
  const permit = await permitExec({ command }, context);
  expect(permit.decision === "deny" && permit.reason).toContain(why);
  expect(asked).toEqual([]);
});

test("permitExec() refuses a folder outside the workspace", async () => {
  const { context, asked } = askedOf();
  const permit = permitExec({ command: "ls", working_dir: "/etc" }, context);
  await expect(permit).rejects.toThrow('Cannot run the command in "/etc": it leads outside the workspace');
  expect(asked).toEqual([]);
});

test("permitExec() refuses by the rules of the real judge, with what would be allowed", async () => {
  const { context } = createFixture();
  const reasonFor = async (command: string) => {
    const permit = await permitExec({ command }, context);
    return permit.decision === "deny" ? permit.reason : permit.decision;
  };
  expect(await reasonFor("rm -rf build")).toContain(
    "a plain rm -r of a literal path below the workspace is allowed",
  );
  expect(await reasonFor("cat /etc/passwd")).toContain("commands may use paths below the workspace");
  expect(await reasonFor("cat .nanobot/audit.jsonl")).toContain("tell the user if that is needed");
  expect(await reasonFor("echo shutdown; rm -r build/cache")).toBe("allow");
});
