/** What every tool must do, whatever it is for, called as the loop calls it: through the wrapper. */

import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditEntry } from "../../src/core/audit.ts";
import type { JsonObject, JsonValue } from "../../src/core/json.ts";
import type { AnyTool, ToolPorts } from "../../src/core/tool.ts";
import { STOPPED_MIDWAY } from "../../src/lib/phrases.ts";
import { failedBecause } from "../../src/lib/tool-failure.ts";
import { createTestToolbox, testRun } from "../fakes/toolbox.ts";
import { createFixture } from "../tools/fixture.ts";

export interface ToolSubject {
  readonly tool: AnyTool;
  /** Arguments of a call that does what it is asked to, in a workspace with `notes.md`. */
  readonly args: JsonObject;
  /** Ports that its call needs beside the files and the shell. */
  readonly ports?: Partial<ToolPorts>;
}

const LIMIT = 400;
/** What the wrapper may put around a result that it has cut: the notice of the cut, the mark of an error. */
const AROUND = 200;

function open({ tool, args, ports = {} }: ToolSubject) {
  const { base, workspace, context, put } = createFixture({ ports });
  put("notes.md", "milk\nbread\n");
  put(".nanobot/audit.jsonl", "a secret line\n");
  put("sessions/cli.jsonl", "{}\n");
  writeFileSync(join(base, "outside.md"), "a secret line\n");
  mkdirSync(join(base, "ws-other"));
  writeFileSync(join(base, "ws-other/outside.md"), "a secret line\n");
  symlinkSync(join(base, "ws-other"), join(workspace, "link"));
  const audited: AuditEntry[] = [];
  const toolbox = createTestToolbox({
    tools: [tool],
    audit: (entry) => audited.push(entry),
    workspace,
    maxResultChars: LIMIT,
    ports: () => context.ports,
  });
  return {
    base,
    call: (changes: JsonObject = {}, signal = context.signal) =>
      toolbox.run(
        {
          id: "cli:1/1/0",
          name: tool.name,
          arguments: JSON.stringify({ ...args, ...changes }),
        },
        testRun({ signal }),
      ),
    contents: () => contentsOf(base),
    decisions: () => audited.map(({ decision }) => decision.kind),
  };
}

/** Every file below, with what it holds. */
function contentsOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(
      ({ parentPath, name }) => `${join(parentPath, name)}: ${readFileSync(join(parentPath, name), "utf8")}`,
    )
    .sort();
}

const outside = [
  "../outside.md",
  "../ws-other/outside.md",
  "link/outside.md",
  "sessions/../../outside.md",
  "/etc/passwd",
  "~/outside.md",
  ".nanobot/audit.jsonl",
  ".NANOBOT/audit.jsonl",
];

/** The same arguments with another text in the place of each path in them. */
function withPath(value: JsonValue, path: string): JsonValue {
  if (Array.isArray(value)) return value.map((item) => withPath(item, path));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === "path" || key === "working_dir" ? path : withPath(inner, path),
    ]),
  );
}

export function toolContract(subject: ToolSubject): void {
  const { tool, args } = subject;
  const takesPaths = JSON.stringify(withPath(args, "\0")).includes("\\u0000");

  describe(`${tool.name}, as a tool`, () => {
    test("run() does what it is asked to, and says so within the limit", async () => {
      const { call } = open(subject);
      const { ok, text } = await call();
      expect([ok, text]).toEqual([true, expect.any(String)]);
      expect(text.length).toBeLessThanOrEqual((tool.resultLimit ?? LIMIT) + AROUND);
      expect(text.isWellFormed()).toBe(true);
    });

    test("run() refuses arguments that it does not know, by name", async () => {
      const { call, contents } = open(subject);
      const before = contents();
      const { ok, text } = await call({ no_such_thing: true });
      expect(ok).toBe(false);
      expect(failedBecause(text)).toContain("no_such_thing");
      expect(contents()).toEqual(before);
    });

    test("run() does nothing in a turn that was stopped", async () => {
      const { call, contents } = open(subject);
      const before = contents();
      const { ok, text } = await call({}, AbortSignal.abort(new Error("stop")));
      expect([ok, text]).toEqual([false, expect.stringContaining("stopped")]);
      expect(text).not.toContain(STOPPED_MIDWAY);
      expect(contents()).toEqual(before);
    });

    test.skipIf(tool.readOnly !== true)("run() changes nothing (skipped of tools that write)", async () => {
      const { call, contents } = open(subject);
      const before = contents();
      await call();
      expect(contents()).toEqual(before);
    });

    test.skipIf(!takesPaths).each(outside)(
      "run() keeps away from %j (skipped of tools that take no path)",
      async (path) => {
        const { base, call, contents, decisions } = open(subject);
        const before = contents();
        const changed = withPath(args, path) as JsonObject;
        const { ok, text } = await call(changed);
        expect([ok, text]).toEqual([false, expect.stringContaining("Cannot ")]);
        expect(text).not.toMatch(/a secret line|root:/);
        expect(text).not.toContain(base);
        expect(decisions()).toEqual(["refused"]);
        expect(contents()).toEqual(before);
      },
    );
  });
}
