/** Whoever changes a file without knowing it is told, whatever tool they use. */

import { expect, test } from "bun:test";
import { createReadLogs } from "../../src/lib/read-log.ts";
import { applyPatch } from "../../src/tools/apply-patch.ts";
import { editFile } from "../../src/tools/edit-file.ts";
import { readFile } from "../../src/tools/read-file.ts";
import { writeFile } from "../../src/tools/write-file.ts";
import { createTestToolbox, testRun } from "../fakes/toolbox.ts";
import { createFixture } from "./fixture.ts";

const { workspace, put, context } = createFixture();
const logs = createReadLogs();
const toolbox = createTestToolbox({
  tools: [applyPatch, editFile, readFile, writeFile],
  workspace,
  ports: ({ sessionKey }) => ({ ...context.ports, reads: logs.of(sessionKey) }),
  maxResultChars: 16_000,
  spill: () => Promise.reject(new Error("Nothing is that long")),
});

const { signal } = context;
const session = (sessionKey: string) => (name: string, args: object) =>
  toolbox.run({ id: "c", name, arguments: JSON.stringify(args) }, testRun({ sessionKey, signal }));

const unread = "had not been read in this session";
const changed = "had changed since it was last read";

const changes = [
  { name: "edit_file", args: { path: "f.txt", old_text: "a", new_text: "b" } },
  { name: "write_file", args: { path: "f.txt", content: "b\n" } },
  {
    name: "apply_patch",
    args: { edits: [{ path: "f.txt", action: "replace", old_text: "a", new_text: "b" }] },
  },
];

test.each(changes)("$name warns of a file that was not read", async ({ name, args }) => {
  put("f.txt", "a\n");
  const { ok, text } = await session(`unread ${name}`)(name, args);
  expect(ok).toBe(true);
  expect(text).toContain(`(Warning: "f.txt" ${unread}`);
});

test.each(changes)("$name warns of a file that another session read", async ({ name, args }) => {
  put("f.txt", "a\n");
  await session(`other ${name}`)("read_file", { path: "f.txt" });
  expect((await session(`own ${name}`)(name, args)).text).toContain(unread);
});

test.each(changes)("$name warns of a file that changed since it was read", async ({ name, args }) => {
  put("f.txt", "a\n");
  const run = session(`changed ${name}`);
  await run("read_file", { path: "f.txt" });
  put("f.txt", "a\nmore\n");
  const { ok, text } = await run(name, args);
  expect(ok).toBe(true);
  expect(text).toContain(`(Warning: "f.txt" ${changed}`);
});

test.each(changes)(
  "$name does not warn of a file that was read, or that the session wrote",
  async ({ name, args }) => {
    put("f.txt", "a\n");
    const run = session(`read ${name}`);
    await run("read_file", { path: "f.txt", limit: 1 });
    expect((await run(name, args)).text).not.toContain("Warning");
    expect((await run("edit_file", { path: "f.txt", old_text: "b", new_text: "a" })).text).not.toContain(
      "Warning",
    );
    expect((await run(name, args)).text).not.toContain("Warning");
  },
);

test("a new file needs no reading", async () => {
  const run = session("new");
  expect((await run("edit_file", { path: "new-1.txt", old_text: "", new_text: "a" })).text).not.toContain(
    "Warning",
  );
  expect((await run("write_file", { path: "new-2.txt", content: "a" })).text).not.toContain("Warning");
  const edits = [{ path: "new-3.txt", action: "add", new_text: "a" }];
  expect((await run("apply_patch", { edits })).text).not.toContain("Warning");
});

test("a session that begins anew is shown the file again", async () => {
  put("anew.txt", "a\n");
  const run = session("anew");
  const args = { path: "anew.txt" };
  const shown = await run("read_file", args);
  expect((await run("read_file", args)).text).toStartWith("File unchanged");
  logs.forget("anew");
  expect(await run("read_file", args)).toEqual(shown);
});
