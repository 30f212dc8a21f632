import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import type { ApprovalAnswer, ApprovalQuestion } from "../../src/core/approval.ts";
import type { AuditEntry } from "../../src/core/audit.ts";
import { UserError } from "../../src/core/errors.ts";
import type { Image } from "../../src/core/model.ts";
import { defineTool, type Permit, toolError, toolOk } from "../../src/core/tool.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createTestToolbox, testRun } from "../fakes/toolbox.ts";

const parameters = v.strictObject({ command: v.string() });

/** Runs what its permit lets through, and remembers it. */
function guarded(permit: (command: string) => Promise<Permit>) {
  const executed: string[] = [];
  const tool = defineTool({
    name: "act",
    description: "",
    parameters,
    permit: ({ command }) => permit(command),
    async execute({ command }) {
      executed.push(command);
      return toolOk(`did ${command}`, { exitCode: 0 });
    },
  });
  return { tool, executed };
}

const call = { id: "c1", name: "act", arguments: '{"command":"rm -r x"}' };
const asking = async (what: string): Promise<Permit> => ({ decision: "ask", what, reason: "it deletes" });

describe("createToolbox() permits a call", () => {
  test("and runs it when the tool allows it", async () => {
    const { tool, executed } = guarded(async () => ({ decision: "allow" }));
    const audited: AuditEntry[] = [];
    const box = createTestToolbox({ tools: [tool], audit: (entry) => audited.push(entry) });
    expect(await box.run(call, testRun())).toEqual({ ok: true, text: "did rm -r x", exitCode: 0 });
    expect(executed).toEqual(["rm -r x"]);
    expect(audited[0]).toMatchObject({ decision: { kind: "ran" }, ok: true, exitCode: 0 });
  });

  test("and says why when the tool denies it", async () => {
    const { tool, executed } = guarded(async () => ({ decision: "deny", reason: "it deletes everything" }));
    const audited: AuditEntry[] = [];
    const box = createTestToolbox({ tools: [tool], audit: (entry) => audited.push(entry) });
    const result = await box.run(call, testRun());
    expect(result.ok).toBe(false);
    expect(result.text).toContain("it deletes everything");
    expect(executed).toEqual([]);
    expect(audited[0]?.decision).toEqual({ kind: "refused", why: "it deletes everything" });
  });

  test("and refuses it when its permit throws", async () => {
    const { tool, executed } = guarded(() => Promise.reject(new Error("no parser")));
    const result = await createTestToolbox({ tools: [tool] }).run(call, testRun());
    expect(result).toMatchObject({ ok: false });
    expect(result.text).toContain("no parser");
    expect(executed).toEqual([]);
  });

  test("when the owner says yes to exactly this call", async () => {
    const { tool, executed } = guarded(asking);
    const questions: ApprovalQuestion[] = [];
    const audited: AuditEntry[] = [];
    const box = createTestToolbox({
      tools: [tool],
      audit: (entry) => audited.push(entry),
      ask: async (question) => {
        questions.push(question);
        return { granted: true, by: "cli:user" };
      },
    });
    const result = await box.run(call, testRun({ sessionKey: "s" }));
    expect(result.ok).toBe(true);
    expect(executed).toEqual(["rm -r x"]);
    expect(questions[0]).toMatchObject({
      id: "c1",
      tool: "act",
      what: "rm -r x",
      reason: "it deletes",
      run: { sessionKey: "s" },
    });
    expect(audited[0]?.decision).toEqual({ kind: "approved", by: "cli:user" });
  });

  test("not when the owner says no, is late, or is not there", async () => {
    const answers: ApprovalAnswer[] = [
      { granted: false, why: "denied", by: "cli:user" },
      { granted: false, why: "expired" },
      { granted: false, why: "nobody" },
    ];
    for (const answer of answers) {
      const { tool, executed } = guarded(asking);
      const audited: AuditEntry[] = [];
      const box = createTestToolbox({
        tools: [tool],
        ask: async () => answer,
        audit: (entry) => audited.push(entry),
      });
      const result = await box.run(call, testRun());
      expect(result.ok).toBe(false);
      expect(result.text).toContain("it deletes");
      expect(executed).toEqual([]);
      expect(audited[0]?.decision.kind).toBe("refused");
    }
  });

  test("not when the turn is stopped while the owner is asked", async () => {
    const { tool, executed } = guarded(asking);
    const stop = new AbortController();
    const audited: AuditEntry[] = [];
    const box = createTestToolbox({
      tools: [tool],
      audit: (entry) => audited.push(entry),
      ask: () => {
        stop.abort(new Error("stopped"));
        return new Promise(() => {});
      },
    });
    const result = await box.run(call, testRun({ signal: stop.signal }));
    expect(result.text).toContain("not run");
    expect(executed).toEqual([]);
    expect(audited).toHaveLength(1);
  });
});

describe("createToolbox() records a call", () => {
  test("with who asked, how long it took and a digest of what the model got", async () => {
    const clock = createFakeClock(0);
    const audited: AuditEntry[] = [];
    const tool = defineTool({
      name: "act",
      description: "",
      parameters,
      async execute() {
        clock.advance(25);
        return toolError("broken", { exitCode: 3 });
      },
    });
    const box = createTestToolbox({ tools: [tool], clock, audit: (entry) => audited.push(entry) });
    const result = await box.run(call, testRun({ sessionKey: "telegram:7", sender: "7", origin: "cron" }));
    expect(audited).toEqual([
      {
        call: "c1",
        turn: testRun().turn,
        session: "telegram:7",
        origin: "cron",
        sender: "7",
        tool: "act",
        arguments: call.arguments,
        decision: { kind: "ran" },
        ok: false,
        durationMs: 25,
        exitCode: 3,
        error: expect.stringContaining("broken"),
        digest: new Bun.CryptoHasher("sha256").update(result.text).digest("hex"),
      },
    ]);
  });

  test("without the secrets in it, those that nobody configured included", async () => {
    const audited: AuditEntry[] = [];
    const { tool } = guarded(async (command) => ({ decision: "deny", reason: `refused: ${command}` }));
    const box = createTestToolbox({
      tools: [tool],
      mask: (text) => text.replaceAll("hunter2hunter2", "[masked]"),
      audit: (entry) => audited.push(entry),
    });
    const command =
      "export FOO_API_KEY=sk-test-123456; curl -u me:hunter2hunter2 https://a:bcdefg@example.com";
    await box.run({ ...call, arguments: JSON.stringify({ command }) }, testRun());
    await box.run({ ...call, name: "act(hunter2hunter2)" }, testRun());
    const line = JSON.stringify(audited);
    for (const secret of ["sk-test-123456", "hunter2hunter2", "bcdefg"]) expect(line).not.toContain(secret);
    expect(line).toContain("FOO_API_KEY=");
  });

  test.each([
    ["throws", () => Promise.reject(new UserError("it leads outside", { isRefusal: true }))],
    ["gives back", async () => toolError("it leads outside", { refused: true })],
  ])("that the tool %s as refused", async (_, execute) => {
    const audited: AuditEntry[] = [];
    const tool = defineTool({ name: "act", description: "", parameters, execute });
    const box = createTestToolbox({ tools: [tool], audit: (entry) => audited.push(entry) });
    const result = await box.run(call, testRun());
    expect(result.ok).toBe(false);
    expect(audited[0]).toMatchObject({ ok: false, decision: { kind: "refused", why: "it leads outside" } });
  });

  test("that names no tool or does not fit its schema", async () => {
    const audited: AuditEntry[] = [];
    const { tool } = guarded(async () => ({ decision: "allow" }));
    const box = createTestToolbox({ tools: [tool], audit: (entry) => audited.push(entry) });
    await box.run({ ...call, name: "nothing" }, testRun());
    await box.run({ ...call, arguments: "[]" }, testRun());
    expect(audited.map(({ decision }) => decision.kind)).toEqual(["refused", "refused"]);
  });
});

describe("createToolbox() with a tool that looks something up", () => {
  function lookup() {
    let asked = 0;
    const tool = defineTool({
      name: "act",
      description: "",
      parameters,
      isLookup: true,
      readOnly: true,
      execute: async () => toolOk(`answer ${++asked}`, { external: true }),
    });
    return { tool, asked: () => asked };
  }

  test("asks the same twice in a turn and gives the earlier answer the third time", async () => {
    const { tool, asked } = lookup();
    const box = createTestToolbox({ tools: [tool] });
    const run = testRun();
    await box.run(call, run);
    // The same in another spelling.
    await box.run({ ...call, arguments: ' {"command" : "rm -r x"}' }, run);
    const third = await box.run(call, run);
    expect(asked()).toBe(2);
    expect(third).toMatchObject({ ok: false, external: true });
    expect(third.text).toContain("answer 2");
  });

  test("counts the calls that run side by side", async () => {
    const { tool, asked } = lookup();
    const box = createTestToolbox({ tools: [tool] });
    const run = testRun();
    const results = await Promise.all([1, 2, 3, 4].map(() => box.run(call, run)));
    expect(asked()).toBe(2);
    expect(results.map(({ ok }) => ok)).toEqual([true, true, false, false]);
  });

  test("asks again in another turn, and anything else at any time", async () => {
    const { tool, asked } = lookup();
    const box = createTestToolbox({ tools: [tool] });
    for (const run of [testRun(), testRun()]) for (let i = 0; i < 2; i++) await box.run(call, run);
    expect(asked()).toBe(4);
  });
});

describe("createToolbox() with a tool that gives images", () => {
  const image = (name: string): Image => ({ mime: "image/png", data: "iVBORw0KGgo=", name });
  const pictures = (count: number) =>
    defineTool({
      name: "act",
      description: "",
      parameters,
      execute: async () =>
        toolOk("here", { images: Array.from({ length: count }, (_, index) => image(`${index}.png`)) }),
    });

  test("keeps them and says where they are", async () => {
    const result = await createTestToolbox({ tools: [pictures(1)] }).run(call, testRun());
    expect(result).toMatchObject({
      text: "here",
      images: [image("0.png")],
      media: [{ path: "/ws/media/tools/0.png", mime: "image/png" }],
    });
  });

  test("shows no more than a message may have", async () => {
    const result = await createTestToolbox({ tools: [pictures(12)] }).run(call, testRun());
    expect(result.images).toHaveLength(8);
  });

  test("names an image that could not be kept, and does not show it", async () => {
    const box = createTestToolbox({
      tools: [pictures(2)],
      keepImage: async ({ name, mime }) => {
        if (name === "0.png") throw new Error("ENOSPC");
        return { path: name, mime, name };
      },
    });
    const result = await box.run(call, testRun());
    expect(result.images).toEqual([image("1.png")]);
    expect(result.text).toContain("0.png");
  });
});
