import { expect, test } from "bun:test";
import fc from "fast-check";
import type { InboundMessage } from "../../../src/core/messages.ts";
import { createEmulator } from "./emulator.ts";
import { ask, type Setup, setUp } from "./setup.ts";

const never = new AbortController().signal;

test("createOneShot() emits one message of the session it was given", async () => {
  const { emitted } = await ask({ session: "telegram:12:3" }, {}, ({ answer }, turn) => answer(turn, "hi"));
  expect(emitted).toEqual([
    {
      id: "cli:1" as InboundMessage["id"],
      kind: "message",
      channel: "cli",
      senderId: "user",
      chatId: "12:3",
      content: "hello",
      media: [],
      timestamp: "2026-11-30T09:00:00.000Z",
      origin: "chat",
      sessionKey: "telegram:12:3",
      metadata: {},
    },
  ]);
});

test("createOneShot() sends its media along, also with no text and with a command", async () => {
  const media = [{ path: "/ws/media/cli/0a.png", mime: "image/png", name: "a.png" }];
  for (const message of ["look", "", "/status"]) {
    const { emitted } = await ask({ message, media }, {}, ({ answer }, turn) => answer(turn, "hi"));
    expect(emitted.map(({ content, media }) => ({ content, media }))).toEqual([{ content: message, media }]);
  }
});

for (const [session, chatId] of [
  ["cli:direct", "direct"],
  ["notes", "notes"],
  ["cli:", "cli:"],
] as const) {
  test(`createOneShot() takes "${chatId}" for the chat of session "${session}"`, async () => {
    const { emitted } = await ask({ session }, {}, ({ answer }, turn) => answer(turn, "hi"));
    expect(emitted[0]?.chatId).toBe(chatId);
  });
}

test("createOneShot() does not end before the message that answers was sent", async () => {
  const setup = await setUp({ message: "hello" });
  let ended = false;
  const started = setup.channel.start(never).then(() => {
    ended = true;
  });
  const turn = await setup.nextEmitted(0);
  await setup.answer(turn, "a notice", { answers: [], outcome: "notice" });
  expect(ended).toBe(false);
  await setup.answer(turn, "hi");
  await started;
  expect([setup.terminal.stdout, setup.terminal.stderr]).toEqual(["hi\n", "a notice\n"]);
});

test("createOneShot() prints only the final content when stdout is not a terminal", async () => {
  const { terminal } = await ask({}, { stderrIsTty: true }, async (setup, turn) => {
    await setup.stream(turn, "Let me see.");
    await setup.streamEnd(turn, true);
    await setup.hint(turn, 'read_file("notes.md")');
    await setup.stream(turn, "# It says", " hi");
    await setup.streamEnd(turn, false);
    await setup.answer(turn, "# It says hi");
  });
  expect(terminal.stdout).toBe("# It says hi\n");
});

test("createOneShot() shows hints dimmed on a terminal, and not at all elsewhere", async () => {
  const reply = async (setup: Setup, turn: InboundMessage) => {
    await setup.hint(turn, 'read_file("notes.md")');
    await setup.answer(turn, "hi");
  };
  const shown = await ask({}, { stderrIsTty: true }, reply);
  expect(shown.terminal.stderr).toContain('\x1b[2m↳ read_file("notes.md")\x1b[22m\n');
  const plain = await ask({ color: false }, { stderrIsTty: true }, reply);
  expect(plain.terminal.stderr).toContain('↳ read_file("notes.md")\n');
  expect(plain.terminal.stderr).not.toMatch(/\x1b\[[0-9;]*m/);
  const hidden = await ask({}, { stdoutIsTty: true }, reply);
  expect([hidden.terminal.stdout, hidden.terminal.stderr]).toEqual(["hi\n", ""]);
});

test("createOneShot() prints errors on stderr, and what was streamed before stays", async () => {
  const { terminal } = await ask({ color: false }, { stdoutIsTty: true }, async (setup, turn) => {
    await setup.stream(turn, "The answer is");
    await setup.streamEnd(turn, false);
    await setup.answer(turn, "The model did not answer", { outcome: "error" });
  });
  expect([terminal.stdout, terminal.stderr]).toEqual(["The answer is\n", "The model did not answer\n"]);
});

test("createOneShot() prints its notice on stderr", async () => {
  const { terminal } = await ask({ notice: "Using the offline model" }, {}, ({ answer }, turn) =>
    answer(turn, "hi"),
  );
  expect([terminal.stdout, terminal.stderr]).toEqual(["hi\n", "Using the offline model\n"]);
});

test("createOneShot() renders each block once, as soon as it is complete", async () => {
  const rendered: string[] = [];
  const renderMarkdown = (text: string, { columns, color }: { columns: number; color: boolean }) => {
    rendered.push(text);
    return `\n<${text.trim()}|${columns}|${color}>\n`;
  };
  const { terminal } = await ask(
    {},
    { stdoutIsTty: true, columns: 20, renderMarkdown },
    async (setup, turn) => {
      await setup.stream(turn, "# One\n", "\ntwo **bo");
      expect(rendered).toEqual(["# One\n\n"]);
      await setup.stream(turn, "ld**\n\n```\na\n\n", "b\n```");
      await setup.streamEnd(turn, false);
      await setup.answer(turn, "# One\n\ntwo **bold**\n\n```\na\n\nb\n```");
    },
  );
  expect(rendered).toEqual(["# One\n\n", "two **bold**\n\n", "```\na\n\nb\n```"]);
  expect(terminal.stdout).toBe("<# One|20|true>\n\n<two **bold**|20|true>\n\n<```\na\n\nb\n```|20|true>\n");
});

test("createOneShot() shows Markdown that renders to nothing as it was written", async () => {
  const { terminal } = await ask(
    {},
    { stdoutIsTty: true, renderMarkdown: () => "\x1b[0m\n" },
    (setup, turn) => setup.answer(turn, "[a]: http://example.org"),
  );
  expect(terminal.stdout).toBe("[a]: http://example.org\n");
});

test("createOneShot() prints a final that differs from what was streamed on its own", async () => {
  const { terminal } = await ask({ markdown: false }, { stdoutIsTty: true }, async (setup, turn) => {
    await setup.stream(turn, "draft");
    await setup.streamEnd(turn, false);
    await setup.answer(turn, "answer");
  });
  expect(terminal.stdout).toBe("draft\nanswer\n");
});

test("createOneShot() compares a final with what was streamed since tools ran", async () => {
  const { terminal } = await ask({ markdown: false }, { stdoutIsTty: true }, async (setup, turn) => {
    await setup.stream(turn, "Let me see.");
    await setup.streamEnd(turn, true);
    await setup.answer(turn, "sent by a tool", { answers: [] });
    await setup.stream(turn, "Two ", "files.\n");
    await setup.streamEnd(turn, false);
    await setup.answer(turn, "Two files.");
  });
  expect(terminal.stdout).toBe("Let me see.\nsent by a tool\nTwo files.\n");
});

test("createOneShot() prints the files of an answer", async () => {
  const media = [{ path: "/tmp/a.png", mime: "image/png" }];
  const { terminal } = await ask({}, {}, ({ answer }, turn) => answer(turn, "here", { media }));
  expect(terminal.stdout).toBe("here\n📎 /tmp/a.png\n");
});

test("createOneShot() prints one JSON object and nothing else on stdout", async () => {
  const usage = { input: 5, output: 2, cached: 0, reasoning: 0 };
  const { terminal } = await ask({ json: true, session: "cli:x" }, { tty: true }, async (setup, turn) => {
    await setup.stream(turn, "Hi");
    await setup.hint(turn, 'exec("ls")', { name: "exec", arguments: { command: "ls" } });
    await setup.streamEnd(turn, false);
    await setup.answer(turn, "Hi\u001b[31m \u202e\u009b\u2028 語", { metadata: { usage, model: "m" } });
  });
  expect(terminal.stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]/);
  expect(terminal.stdout).toEndWith("}\n");
  expect(JSON.parse(terminal.stdout)).toEqual({
    session: "cli:x",
    outcome: "answer",
    content: "Hi\u001b[31m \u202e\u009b\u2028 語",
    tools: [{ name: "exec", arguments: { command: "ls" } }],
    usage,
    model: "m",
  });
});

test("createOneShot() reports an error in JSON with its outcome", async () => {
  const { terminal } = await ask({ json: true }, {}, ({ answer }, turn) =>
    answer(turn, "No key", { outcome: "error" }),
  );
  expect(JSON.parse(terminal.stdout)).toEqual({
    session: "cli:direct",
    outcome: "error",
    content: "No key",
    tools: [],
  });
  expect(terminal.stderr).toBe("");
});

test("createOneShot() spins on stderr and leaves nothing of it", async () => {
  const emulator = createEmulator(40);
  await ask({ color: false }, { tty: true, columns: 40, onWrite: emulator.write }, async (setup, turn) => {
    await setup.clock.advance(3_000);
    expect(emulator.rows.at(-1)).toMatch(/^[⠀-⣿] thinking… [23] s$/);
    await setup.hint(turn, 'read_file("notes.md")');
    await setup.clock.advance(200);
    expect(emulator.rows.at(-1)).toMatch(/^[⠀-⣿] read_file\("notes.md"\)$/);
    await setup.answer(turn, "hi");
  });
  expect(emulator.rows).toEqual(['↳ read_file("notes.md")', "hi"]);
});

test("createOneShot() cuts what the spinner says to the width of the terminal", async () => {
  const emulator = createEmulator(20);
  await ask({}, { tty: true, columns: 20, onWrite: emulator.write }, async (setup, turn) => {
    await setup.hint(turn, `read_file("日本語日本語日本語.md")`);
    await setup.clock.advance(5_000);
    const last = emulator.rows.at(-1) ?? "";
    expect(last).toMatch(/^[⠀-⣿] read_file.*… [45] s$/);
    expect(Bun.stringWidth(last)).toBeLessThan(20);
    await setup.answer(turn, "hi");
  });
  expect(emulator.rows.at(-1)).toBe("hi");
});

test("createOneShot() says that it waits for what goes on in the background, and shows what that says", async () => {
  const emulator = createEmulator(60);
  const quiet = Promise.withResolvers<void>();
  const terminal = { tty: true, columns: 60, onWrite: emulator.write };
  const waits = { quiet: () => quiet.promise };
  const setup = await setUp({ message: "hello", color: false }, terminal, waits);
  const started = setup.channel.start(never);
  const turn = await setup.nextEmitted(0);
  await setup.answer(turn, "I began a task");
  await setup.clock.advance(3_000);
  expect(emulator.rows.at(-1)).toMatch(/^[⠀-⣿] waiting for work in the background… [23] s$/);
  const later = { ...turn, id: "task:1" as InboundMessage["id"] };
  await setup.hint(later, 'read_file("notes.md")');
  await setup.clock.advance(1_000);
  expect(emulator.rows.at(-1)).toMatch(/^[⠀-⣿] read_file\("notes.md"\)/);
  await setup.answer(later, "The first is done");
  await setup.clock.advance(1_000);
  expect(emulator.rows.at(-1)).toMatch(/^[⠀-⣿] waiting for work in the background…/);
  quiet.resolve();
  await started;
  expect(emulator.rows).toEqual(["I began a task", '↳ read_file("notes.md")', "The first is done"]);
  expect(setup.clock.pending).toBe(0);
});

test.each([
  ["stderr is no terminal", { stdoutIsTty: true }, 60_000],
  ["nothing is waited for", { tty: true }, 0],
])("createOneShot() says nothing of the background when %s", async (_, terminal, waitedMs) => {
  const quiet = Promise.withResolvers<void>();
  const waits = { quiet: () => quiet.promise };
  const setup = await setUp({ message: "hello", color: false }, terminal, waits);
  const started = setup.channel.start(never);
  await setup.answer(await setup.nextEmitted(0), "hi");
  await setup.clock.advance(waitedMs);
  quiet.resolve();
  await started;
  expect(setup.terminal.written).not.toContain("background");
  expect(setup.terminal.stdout).toContain("hi\n");
});

test("createOneShot() draws nothing more when its signal aborts while it waits for the background", async () => {
  const emulator = createEmulator(60);
  const terminal = { tty: true, columns: 60, onWrite: emulator.write };
  const setup = await setUp({ message: "hello", color: false }, terminal, {
    quiet: () => new Promise(() => {}),
  });
  const controller = new AbortController();
  const started = setup.channel.start(controller.signal);
  const turn = await setup.nextEmitted(0);
  await setup.answer(turn, "hi");
  await setup.clock.advance(1_000);
  controller.abort();
  await started;
  await setup.answer({ ...turn, id: "task:1" as InboundMessage["id"] }, "late");
  await setup.clock.advance(1_000);
  expect(emulator.rows.join()).not.toContain("background");
  expect(setup.clock.pending).toBe(0);
});

test("createOneShot() ends and cleans up when its signal aborts", async () => {
  const emulator = createEmulator(40);
  const setup = await setUp({ message: "hello" }, { tty: true, columns: 40, onWrite: emulator.write });
  const controller = new AbortController();
  const started = setup.channel.start(controller.signal);
  await setup.nextEmitted(0);
  await setup.clock.advance(1_000);
  expect(emulator.rows).not.toEqual([]);
  controller.abort();
  await started;
  expect(emulator.rows).toEqual([]);
  expect(setup.clock.pending).toBe(0);
});

test("createOneShot() ends when it is stopped, and stop() is safe before start()", async () => {
  const setup = await setUp({ message: "hello" });
  const started = setup.channel.start(never);
  await setup.nextEmitted(0);
  await setup.channel.stop();
  await started;
  const other = await setUp({ message: "hello" });
  await other.channel.stop();
  await other.channel.start(never);
  expect(other.emitted).toEqual([]);
});

test("createOneShot() rejects when the answer could not be written", async () => {
  const broken = () => {
    throw new Error("EPIPE");
  };
  const setup = await setUp({ message: "hello" }, { onWrite: broken });
  const started = setup.channel.start(never);
  const turn = await setup.nextEmitted(0);
  const failed = started.catch((error: unknown) => error);
  await expect(setup.answer(turn, "hi")).rejects.toThrow("EPIPE");
  expect(await failed).toEqual(new Error("EPIPE"));
});

test("createOneShot() rejects when the message cannot be published", async () => {
  const publish = () => Promise.reject(new Error("disk full"));
  const { channel } = await setUp({ message: "hello" }, {}, { publish });
  await expect(channel.start(never)).rejects.toThrow("disk full");
});

test("createOneShot() ends when its signal aborts although publishing waits", async () => {
  const publish = () => new Promise<void>(() => {});
  const { channel } = await setUp({ message: "hello" }, {}, { publish });
  const controller = new AbortController();
  const started = channel.start(controller.signal);
  controller.abort();
  await started;
});

const hostile = fc
  .array(
    fc.constantFrom(
      ...[
        "a",
        "語",
        "👩‍👧",
        " ",
        "\n",
        "\n\n",
        "```\n",
        "- x\n",
        "\x1b",
        "\x1b[31m",
        "\x1b]0;title\x07",
        "\x9b2J",
      ],
      ...["\x07", "\r", "\t", "\x00", "\u202e", "\x1bP", "\x1b\\", "\x7f", "[2J", "]0;", "\ud83d"],
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));
const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 12 });

function cut(whole: string, places: readonly number[]): string[] {
  const sorted = [...new Set(places.map((at) => at % (whole.length + 1)))].sort((a, b) => a - b);
  return [...sorted, whole.length].map((end, index) => whole.slice(sorted[index - 1] ?? 0, end));
}

const forbidden = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

for (const tty of [true, false]) {
  for (const markdown of [true, false]) {
    test(`createOneShot() lets no control of the model through: terminal ${tty}, Markdown ${markdown}`, async () => {
      await fc.assert(
        fc.asyncProperty(hostile, cuts, async (content, places) => {
          const options = { stdoutIsTty: tty, renderMarkdown: (text: string) => text };
          const { terminal } = await ask({ markdown }, options, async (setup, turn) => {
            await setup.hint(turn, content);
            await setup.stream(turn, ...cut(content, places));
            await setup.streamEnd(turn, false);
            await setup.answer(turn, content);
          });
          expect(terminal.written).not.toMatch(forbidden);
        }),
      );
    });
  }
}

test("createOneShot() lets no control of the model through to stderr", async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (content) => {
      const { terminal } = await ask({ notice: content }, {}, (setup, turn) =>
        setup.answer(turn, content, { outcome: "error" }),
      );
      expect(terminal.written).not.toMatch(forbidden);
    }),
  );
});

const harmless = fc
  .array(fc.constantFrom("a", "# b ", "語", "👩‍👧", "\n", "\n\n", "```\n", "- ", "  ", "1. "), {
    maxLength: 30,
  })
  .map((parts) => parts.join(""));

for (const markdown of [true, false]) {
  test(`createOneShot() shows all of a streamed text once, wherever it is cut: Markdown ${markdown}`, async () => {
    await fc.assert(
      fc.asyncProperty(harmless, harmless, cuts, async (first, second, places) => {
        const options = { stdoutIsTty: true, renderMarkdown: (text: string) => text };
        const { terminal } = await ask({ markdown }, options, async (setup, turn) => {
          await setup.stream(turn, ...cut(first, places));
          await setup.streamEnd(turn, true);
          await setup.stream(turn, ...cut(second, places));
          await setup.streamEnd(turn, false);
          await setup.answer(turn, second.trim());
        });
        expect(terminal.stdout.replace(/\s/g, "")).toBe((first + second).replace(/\s/g, ""));
      }),
    );
  });
}

for (const markdown of [true, false]) {
  test(`createOneShot() leaves the screen as if there had been no preview: Markdown ${markdown}`, async () => {
    await fc.assert(
      fc.asyncProperty(harmless, cuts, fc.integer({ min: 2, max: 24 }), async (content, places, columns) => {
        const emulator = createEmulator(columns);
        const options = {
          tty: true,
          columns,
          onWrite: emulator.write,
          renderMarkdown: (text: string) => text,
        };
        const { terminal } = await ask({ markdown, color: false }, options, async (setup, turn) => {
          for (const piece of cut(content, places)) {
            await setup.stream(turn, piece);
            await setup.clock.advance(150);
          }
          await setup.streamEnd(turn, false);
          await setup.answer(turn, content);
        });
        const plain = createEmulator(columns);
        plain.write(terminal.stdout);
        expect(emulator.rows).toEqual(plain.rows);
        expect(terminal.stdout.replace(/\s/g, "")).toBe(content.replace(/\s/g, ""));
      }),
    );
  });
}
