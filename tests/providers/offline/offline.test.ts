import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatMessage, ChatRequest, ToolCall, ToolDefinition } from "../../../src/core/model.ts";
import { understand } from "../../../src/providers/offline/intent.ts";
import { createOfflineModel } from "../../../src/providers/offline/offline.ts";
import { modelContract } from "../../contracts/model.ts";

modelContract("offline", async () => ({ model: createOfflineModel(), name: "offline", question: "hello" }));

const tools = (...names: string[]): ToolDefinition[] =>
  names.map((name) => ({ name, description: "", parameters: { type: "object" } }));
const ALL = tools("read_file", "write_file", "edit_file", "list_dir", "exec");

const CONTEXT = `[Runtime Context — metadata only, not instructions]
Current Time: 2026-02-18 14:30 (Wednesday, Europe/Berlin)
Channel: cli
[/Runtime Context]`;

async function chat(messages: readonly ChatMessage[], extra: Partial<ChatRequest> = {}) {
  const request: ChatRequest = {
    model: "offline",
    messages: [{ role: "system", content: "s" }, ...messages],
    tools: ALL,
    toolChoice: "auto",
    maxTokens: 100,
    ...extra,
  };
  const reply = await createOfflineModel().chat(request, {
    signal: new AbortController().signal,
    onDelta() {},
  });
  if (!reply.ok) throw new Error(reply.error.message);
  return reply;
}

/** What the model says in the end, when its calls get these results one after the other; and its calls. */
async function converse(text: string, results: readonly string[], extra: Partial<ChatRequest> = {}) {
  const messages: ChatMessage[] = [{ role: "user", content: `${CONTEXT}\n\n${text}` }];
  const calls: { name: string; arguments: unknown }[] = [];
  for (const content of [...results, "no result is left"]) {
    const reply = await chat(messages, extra);
    const [call] = reply.toolCalls as readonly (ToolCall | undefined)[];
    if (!call) return { calls, said: reply.content };
    calls.push({ name: call.name, arguments: JSON.parse(call.arguments) });
    messages.push({ role: "assistant", content: "", toolCalls: [call] });
    messages.push({ role: "tool", toolCallId: call.id, name: call.name, content });
  }
  throw new Error("the model goes on calling");
}

describe("understand()", () => {
  test.each<[string, ReturnType<typeof understand>]>([
    ["what files are in my workspace?", { kind: "list", path: ".", recursive: false }],
    ["list the files here", { kind: "list", path: ".", recursive: false }],
    ["List files", { kind: "list", path: ".", recursive: false }],
    ["ls", { kind: "list", path: ".", recursive: false }],
    [
      "Can you show me the files in the docs folder, please?",
      { kind: "list", path: "docs", recursive: false },
    ],
    ["list all files in notes/2026 recursively", { kind: "list", path: "notes/2026", recursive: true }],
    ["what's in my workspace?", { kind: "list", path: ".", recursive: false }],
    ["which files do I have?", { kind: "list", path: ".", recursive: false }],
    ["ls src", { kind: "list", path: "src", recursive: false }],
    ["read notes.md", { kind: "read", path: "notes.md" }],
    ["please read the file docs/ab.md", { kind: "read", path: "docs/ab.md" }],
    ["What does notes.txt say?", { kind: "read", path: "notes.txt" }],
    ["show me the contents of README.md.", { kind: "read", path: "README.md" }],
    ['cat "Makefile"', { kind: "read", path: "Makefile" }],
    ["write hello world to notes.txt", { kind: "write", path: "notes.txt", text: "hello world" }],
    ['Write "a to b" into `x/y.md`.', { kind: "write", path: "x/y.md", text: "a to b" }],
    ["write hello with love to notes.txt", { kind: "write", path: "notes.txt", text: "hello with love" }],
    ["create todo.txt with buy milk", { kind: "write", path: "todo.txt", text: "buy milk" }],
    ["create a file called a.txt with the content: x\ny", { kind: "write", path: "a.txt", text: "x\ny" }],
    ["create an empty file b.txt", { kind: "write", path: "b.txt", text: "" }],
    ["run `ls -la | wc -l` please", { kind: "run", command: "ls -la | wc -l" }],
    ["run the command: echo hi", { kind: "run", command: "echo hi" }],
    ["execute uname -a", { kind: "run", command: "uname -a" }],
    ["run ```sh\necho a\necho b\n```", { kind: "run", command: "echo a\necho b" }],
    ["$ date", { kind: "run", command: "date" }],
    ["remember that I like tea.", { kind: "remember", fact: "I like tea" }],
    ["Remember: my cat is Tom", { kind: "remember", fact: "my cat is Tom" }],
    ["what do you remember about me?", { kind: "recall" }],
    [
      "remind me in 20 minutes to water the plants",
      { kind: "remind", what: "water the plants", when: { kind: "in", seconds: 1200 } },
    ],
    [
      "remind me to stretch every 2 hours",
      { kind: "remind", what: "stretch", when: { kind: "every", seconds: 7200 } },
    ],
    [
      "remind me at 3:30 pm to leave",
      { kind: "remind", what: "leave", when: { kind: "clock", hour: 15, minute: 30 } },
    ],
    ["what time is it?", { kind: "time" }],
    ["hello", { kind: "help" }],
    ["Hi!", { kind: "help" }],
    ["help", { kind: "help" }],
    ["write me a poem", { kind: "unknown" }],
    ["", { kind: "unknown" }],
  ])("takes %j as it is meant", (text, intent) => {
    expect(understand(text)).toEqual(intent);
  });

  test("takes any text without a throw", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), (text) => void understand(text)));
  });

  test.each(["list ", "write a to ", "create a with ", "remind me in ", "`", "run `", "a.b/", " ", "```"])(
    "does not get lost in %j over and over",
    (seed) => {
      expect(understand(seed.repeat(20_000)).kind).toBeString();
      expect(understand(`write ${seed.repeat(20_000)}`).kind).toBeString();
    },
  );
});

describe("createOfflineModel()", () => {
  test("lists with a call, then quotes its result", async () => {
    const { calls, said } = await converse("what files are in my workspace?", ["a.txt\ndocs/"]);
    expect(calls).toEqual([{ name: "list_dir", arguments: { path: "." } }]);
    expect(said).toContain("```\na.txt\ndocs/\n```");
  });

  test("reads a file and leaves the line numbers out", async () => {
    const { calls, said } = await converse("read notes.md", ["1| one\n2| two\n\n(End of the file)"]);
    expect(calls).toEqual([{ name: "read_file", arguments: { path: "notes.md", force: true } }]);
    expect(said).toContain("`notes.md` says:\n\n```\none\ntwo\n```");
  });

  test("writes a file", async () => {
    const { calls, said } = await converse("write hi to a.txt", [
      'Wrote 3 bytes (1 line) to "a.txt", a new file',
    ]);
    expect(calls).toEqual([{ name: "write_file", arguments: { path: "a.txt", content: "hi\n" } }]);
    expect(said).toBe('Done. Wrote 3 bytes (1 line) to "a.txt", a new file.');
  });

  test("runs a command", async () => {
    const { calls, said } = await converse("run `echo hi`", ["hi\n\nExit code: 0"]);
    expect(calls).toEqual([{ name: "exec", arguments: { command: "echo hi" } }]);
    expect(said).toContain("hi\n\nExit code: 0");
  });

  test("says that a call failed, and why", async () => {
    const { said } = await converse("read nope.md", ['Error: Cannot read "nope.md": there is no such file']);
    expect(said).toStartWith("That did not work:");
    expect(said).toContain("there is no such file");
  });

  test("quotes only the beginning of a long result, in a fence that holds", async () => {
    const { said } = await converse("run `x`", [`\`\`\`\n${"y".repeat(50_000)}`]);
    expect(said.length).toBeLessThan(4_000);
    expect(said).toContain("````\n```\n");
  });

  test("remembers behind the last line of the memory file", async () => {
    const file = "1| # Long-term memory\n2| \n3| - old\n4| \n\n(End of the file, 4 lines)";
    const { calls, said } = await converse("remember that I like tea", [
      file,
      'Edited "memory/MEMORY.md" at line 3',
    ]);
    expect(calls).toEqual([
      { name: "read_file", arguments: { path: "memory/MEMORY.md", force: true } },
      {
        name: "edit_file",
        arguments: { path: "memory/MEMORY.md", old_text: "- old", new_text: "- old\n- I like tea" },
      },
    ]);
    expect(said).toBe("I will remember: I like tea");
  });

  test("remembers behind enough last lines to be unique", async () => {
    const { calls } = await converse("remember x", ["1| a\n2| - b\n3| a", "Edited"]);
    expect(calls[1]?.arguments).toMatchObject({ old_text: "- b\na", new_text: "- b\na\n- x" });
  });

  test("makes the memory file when there is none", async () => {
    const missing = 'Error: Cannot read "memory/MEMORY.md": there is no such file';
    const { calls } = await converse("remember x", [missing, "Wrote"]);
    expect(calls[1]).toEqual({
      name: "write_file",
      arguments: { path: "memory/MEMORY.md", content: "# Long-term memory\n\n- x\n" },
    });
  });

  test("does not replace a memory file that it cannot read", async () => {
    const { calls, said } = await converse("remember x", ["Error: Cannot read it: it is a binary file"]);
    expect(calls).toHaveLength(1);
    expect(said).toContain("binary file");
  });

  test("does not remember the same twice", async () => {
    const { calls, said } = await converse("remember x", ["1| - x"]);
    expect(calls).toHaveLength(1);
    expect(said).toBe("I already remember: x");
  });

  test("says that reminders need the gateway, when there is no schedule", async () => {
    expect((await converse("remind me in 5 minutes to go", [])).said).toContain("gateway");
  });

  test.each([
    ["remind me in 20 minutes to call", { message: "call", at: "2026-02-18T14:50:00" }],
    ["remind me at 14:00 to call", { message: "call", at: "2026-02-19T14:00:00" }],
    ["remind me every 2 hours to call", { message: "call", every_seconds: 7200 }],
  ])("sets a reminder for %j where there is a schedule", async (text, expected) => {
    const { calls, said } = await converse(text, ["Added job"], { tools: tools("cron") });
    expect(calls).toEqual([{ name: "cron", arguments: { action: "add", ...expected } }]);
    expect(said).toBe("I will remind you: call");
  });

  test("tells the time of the runtime context", async () => {
    expect((await converse("what time is it?", [])).said).toBe(
      "It is 2026-02-18 14:30 (Wednesday, Europe/Berlin).",
    );
  });

  test("says what it is, what it can do and how to get a real model", async () => {
    const { said } = await converse("write me a poem", []);
    expect(said).toContain("not a language model");
    expect(said).toContain("list files");
    expect(said).toContain("nanobot onboard");
  });

  test("calls only tools that are offered", async () => {
    const { calls, said } = await converse("run `ls`", [], { tools: tools("read_file") });
    expect(calls).toEqual([]);
    expect(said).toContain("`exec`");
  });

  test("calls nothing when it must not, or must call something it cannot fill in", async () => {
    expect((await converse("run `ls`", [], { toolChoice: "none" })).calls).toEqual([]);
    expect((await converse("run `ls`", [], { toolChoice: { name: "read_file" } })).calls).toEqual([]);
    expect((await converse("run `ls`", ["x"], { toolChoice: { name: "exec" } })).calls).toHaveLength(1);
  });

  test("looks at the last message only, and gives every call of a session an id of its own", async () => {
    const [first] = (await chat([{ role: "user", content: "run `a`" }])).toolCalls;
    if (!first) throw new Error("no call came");
    const history: ChatMessage[] = [
      { role: "user", content: "run `a`" },
      { role: "assistant", content: "", toolCalls: [first] },
      { role: "tool", toolCallId: first.id, name: "exec", content: "x" },
      { role: "assistant", content: "done" },
      { role: "user", content: "list files" },
    ];
    const [second] = (await chat(history)).toolCalls;
    expect(second?.name).toBe("list_dir");
    expect(second?.id).not.toBe(first.id);
  });
});
