import { expect, test } from "bun:test";
import { join } from "node:path";
import { command } from "../../src/cli/agent.ts";
import type { CommandContext } from "../../src/cli/command.ts";
import { parseInvocation } from "../../src/cli/parse.ts";
import type { ConverseOptions, ModelChoice } from "../../src/core/app.ts";
import type { MediaSource } from "../../src/core/media.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp } from "./fixture.ts";

const model = { name: "test-model", offline: false } as ModelChoice;

/** Runs `nanobot agent` with these arguments as far as the channel. */
async function converse(
  args: readonly string[],
  { tty = false, stdinIsTty = tty, stdin = "" }: { tty?: boolean; stdinIsTty?: boolean; stdin?: string } = {},
) {
  const home = tempFolder();
  const app = createTestApp({ home, tty, stdinIsTty, chooseModel: async () => model });
  const conversations: ConverseOptions[] = [];
  const sources: MediaSource[] = [];
  const { options } = await parseInvocation(["agent", ...args]);
  const context: CommandContext = {
    app: {
      ...app,
      platform: { ...app.platform, terminal: { ...app.terminal, stdinIsTty, readAll: async () => stdin } },
      media: async () => ({
        async save(source) {
          sources.push(source);
          return { path: `/ws/media/cli/${sources.length}.png`, mime: "image/png", name: "a.png" };
        },
        tidy: async () => {},
      }),
      async converse(options) {
        conversations.push(options);
        return "answer";
      },
    },
    positionals: [],
    options,
    signal: new AbortController().signal,
  };
  const code = await command.run?.(context);
  return { home, code, sources, config: conversations[0]?.config };
}

test("agent --image sends each image along, found from the current folder, the home folder or the root", async () => {
  const { home, config, sources } = await converse([
    "-m",
    "Look",
    "--image",
    "a.png",
    "--image=~/b.png",
    "--image",
    "/c.png",
  ]);
  expect(sources).toEqual(
    [join(home, "a.png"), join(home, "b.png"), "/c.png"].map((path) => ({
      channel: "cli",
      path,
      imagesOnly: true,
    })),
  );
  expect(config?.["message"]).toBe("Look");
  expect(config?.["media"]).toEqual(
    [1, 2, 3].map((n) => ({ path: `/ws/media/cli/${n}.png`, mime: "image/png", name: "a.png" })),
  );
});

for (const [what, args, terminal, message] of [
  ["an empty -m", ["-m", " "], {}, ""],
  ["an empty pipe", [], { stdin: "\n" }, ""],
  ["text from a pipe", [], { stdin: "What is it?\n" }, "What is it?"],
  ["no message where a chat cannot be", [], { stdinIsTty: true }, ""],
  ["no message in a terminal, which is a chat,", [], { tty: true }, undefined],
] as const) {
  test(`agent --image takes ${what}`, async () => {
    const { config, code } = await converse(["--image", "a.png", ...args], terminal);
    expect(config?.["message"]).toBe(message as string);
    expect(config?.["media"]).toHaveLength(1);
    expect(code).toBe(0);
  });
}

test("agent without --image sends no media, and still wants a message", async () => {
  expect((await converse(["-m", "hi"])).config?.["media"]).toEqual([]);
  await expect(converse(["-m", " "])).rejects.toThrow("The message from -m is empty");
  await expect(converse([], { stdinIsTty: true })).rejects.toThrow("A conversation needs a terminal");
});

test("agent refuses more images than a message takes before it keeps any", async () => {
  const args = Array.from({ length: 9 }, (_, index) => `--image=${index}.png`);
  await expect(converse(["-m", "hi", ...args])).rejects.toThrow("Cannot send 9 images: a message takes 8");
});
