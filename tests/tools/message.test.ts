import { describe, expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../src/core/errors.ts";
import type { ToolMessageOut } from "../../src/core/tool.ts";
import { message } from "../../src/tools/message.ts";
import { createTestToolbox, testRun } from "../fakes/toolbox.ts";
import { createFixture } from "./fixture.ts";

interface Sent extends ToolMessageOut {
  readonly key: string;
}

function setUp(refusal?: string) {
  const sent: Sent[] = [];
  const fixture = createFixture({
    ports: {
      outbound: {
        async send({ channel = "cli", chatId = "direct", ...rest }, key) {
          if (refusal !== undefined) throw new UserError(refusal);
          sent.push({ channel, chatId, ...rest, key });
          return { channel, chatId };
        },
      },
    },
  });
  return { ...fixture, sent, run: (args: object) => fixture.call(message, args) };
}

describe("message", () => {
  test("sends to the chat that is answered when none is named, and says where it went", async () => {
    const { run, sent } = setUp();
    expect(await run({ content: "Hello" })).toEqual({
      ok: true,
      text: "Sent to cli:direct",
      sentTo: { channel: "cli", chatId: "direct" },
    });
    expect(sent).toEqual([
      { channel: "cli", chatId: "direct", content: "Hello", media: [], buttons: [], key: "call_0_0" },
    ]);
  });

  test("names the thread when it went to the chat that is answered, and to no other", async () => {
    const { context, run } = setUp();
    Object.assign(context, { thread: "7" });
    expect((await run({ content: "x" })).sentTo).toEqual({ channel: "cli", chatId: "direct", thread: "7" });
    expect((await run({ content: "x", chat_id: "other" })).sentTo).toEqual({
      channel: "cli",
      chatId: "other",
    });
  });

  test("sends to another chat", async () => {
    const { run, sent } = setUp();
    const { ok, text } = await run({ content: "Hi", channel: "telegram", chat_id: "42" });
    expect([ok, text]).toEqual([true, "Sent to telegram:42"]);
    expect(sent).toMatchObject([{ channel: "telegram", chatId: "42" }]);
  });

  test("asks which chat when only another channel is named", async () => {
    const { run, sent } = setUp();
    expect(await run({ content: "Hi", channel: "telegram" })).toMatchObject({
      ok: false,
      text: expect.stringContaining("chat_id"),
    });
    expect(sent).toEqual([]);
  });

  test("sends files of the workspace by what they are", async () => {
    const { run, sent, put, workspace } = setUp();
    put("a.pdf", "%PDF-1.7\n");
    put("notes/b.md", `${"ä".repeat(8_191)}\n`);
    put("c.bin", new Uint8Array([0, 1, 2, 255]));
    const { text } = await run({ media: ["a.pdf", "notes/b.md", "c.bin"] });
    expect(text).toBe("Sent to cli:direct, with 3 files");
    expect(sent[0]?.media).toEqual([
      { path: join(workspace, "a.pdf"), mime: "application/pdf", name: "a.pdf" },
      { path: join(workspace, "notes/b.md"), mime: "text/plain", name: "b.md" },
      { path: join(workspace, "c.bin"), mime: "application/octet-stream", name: "c.bin" },
    ]);
  });

  test.each(["../outside.md", "/etc/passwd", "link", ".nanobot/audit.jsonl", "missing.md", "."])(
    "sends nothing when %j is among the files",
    async (path) => {
      const { base, workspace, run, sent, put } = setUp();
      put("fine.md", "fine");
      put(".nanobot/audit.jsonl", "secret");
      writeFileSync(join(base, "outside.md"), "secret");
      symlinkSync(join(base, "outside.md"), join(workspace, "link"));
      const { ok, text } = await run({ content: "x", media: ["fine.md", path] });
      expect([ok, text]).toEqual([false, expect.stringMatching(/^Cannot (send|read) /)]);
      expect(sent).toEqual([]);
    },
  );

  test("makes buttons that say their label", async () => {
    const { run, sent } = setUp();
    await run({ content: "Which?", buttons: [["Yes", "No"], ["Later"]] });
    expect(sent[0]?.buttons).toEqual([
      [
        { label: "Yes", send: "Yes" },
        { label: "No", send: "No" },
      ],
      [{ label: "Later", send: "Later" }],
    ]);
  });

  test.each([
    [{}, "nothing to send"],
    [{ content: " \n" }, "nothing to send"],
    [{ media: ["a.md"], buttons: [["Yes"]] }, "content"],
    [{ content: "x", buttons: [[" "]] }, "label"],
  ])("refuses %j, and says what is missing", async (args, why) => {
    const { run, sent, put } = setUp();
    put("a.md", "a");
    expect(await run(args)).toMatchObject({ ok: false, text: expect.stringContaining(why) });
    expect(sent).toEqual([]);
  });

  test.each([
    { content: "x", media: Array(11).fill("a.md") },
    { content: "x", buttons: Array(11).fill(["a"]) },
    { content: "x", buttons: [["x".repeat(65)]] },
    { content: "x", buttons: [[]] },
  ])("refuses more than platforms take: %j", async (args) => {
    const { context, sent } = setUp();
    const toolbox = createTestToolbox({ tools: [message], ports: () => context.ports });
    const call = { id: "call_0_0", name: "message", arguments: JSON.stringify(args) };
    expect((await toolbox.run(call, testRun())).ok).toBe(false);
    expect(sent).toEqual([]);
  });

  test("says why a chat may not be written to", async () => {
    const { run } = setUp('Cannot send to "7"');
    expect(await run({ content: "x", chat_id: "7" })).toEqual({ ok: false, text: 'Cannot send to "7"' });
  });

  test.each([
    { text: "Hi", to: "7" },
    { message: "Hi", chatId: "7" },
  ])("takes the names that other programs have for its parameters: %j", async (args) => {
    const { context, sent } = setUp();
    const toolbox = createTestToolbox({ tools: [message], ports: () => context.ports });
    const call = { id: "call_0_0", name: "message", arguments: JSON.stringify(args) };
    expect(await toolbox.run(call, testRun())).toMatchObject({
      ok: true,
      sentTo: { channel: "cli", chatId: "7" },
    });
    expect(sent).toMatchObject([{ content: "Hi", chatId: "7", key: "call_0_0" }]);
  });

  test("carries no lone surrogate on", async () => {
    const { run, sent } = setUp();
    await run({ content: "a\ud800b", buttons: [["\udc00x"]] });
    expect(JSON.stringify(sent)).toBe(JSON.stringify(sent).toWellFormed());
    expect(sent[0]?.content.isWellFormed()).toBe(true);
  });
});
