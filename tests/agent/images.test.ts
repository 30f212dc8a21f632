import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createImageLoader } from "../../src/agent/images.ts";
import { createMediaStore } from "../../src/agent/media.ts";
import type { Media } from "../../src/core/messages.ts";
import type { ChatMessage } from "../../src/core/model.ts";
import type { FileSystem } from "../../src/core/platform.ts";
import type { StoredMessage } from "../../src/core/session.ts";
import { toChat } from "../../src/lib/transcript.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { GIF, PNG, pngOf } from "../fakes/images.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";

const MIB = 1024 * 1024;

function setUp(workspace = tempFolder()) {
  const log = createFakeLog();
  const real = createFileSystem();
  const touched: string[] = [];
  const read: string[] = [];
  const files: FileSystem = {
    ...real,
    async realPath(path) {
      touched.push(path);
      return real.realPath(path);
    },
    async read(path, range) {
      read.push(path);
      return real.read(path, range);
    },
  };
  mkdirSync(join(workspace, "media/cli"), { recursive: true });
  const store = createMediaStore({ files: real, clock: createFakeClock(), log, workspace });
  return {
    workspace,
    log,
    touched,
    read,
    loader: createImageLoader({ files, log, workspace }),
    save: (bytes: Uint8Array) => store.save({ channel: "cli", bytes }),
    /** A file in `media/cli/`, said to be a PNG. */
    put(name: string, bytes: Uint8Array): Media {
      const path = join(workspace, "media/cli", name);
      writeFileSync(path, bytes);
      return { path, mime: "image/png" };
    },
  };
}

const user = (...media: readonly (string | Media)[]): StoredMessage => ({
  role: "user",
  content: "Look",
  ...(media.length > 0 ? { media } : {}),
});

const result = (...media: readonly (string | Media)[]): StoredMessage => ({
  role: "tool",
  tool_call_id: "call_1",
  name: "read_file",
  content: "A picture",
  ...(media.length > 0 ? { media } : {}),
});

const imagesOf = (message: ChatMessage | undefined) =>
  message === undefined ? 0 : "images" in message ? (message.images?.length ?? 0) : 0;

test("load() gives an image as base64, typed by its bytes and not by what the line says", async () => {
  const { loader, put } = setUp();
  expect(await loader.load(user(put("0a.png", GIF)))).toEqual([
    { mime: "image/gif", data: GIF.toString("base64"), name: "media/cli/0a.png" },
  ]);
});

test("load() finds the images of a workspace that was moved", async () => {
  const { workspace, save } = setUp();
  const line = user(await save(PNG));
  const moved = join(tempFolder(), "moved");
  renameSync(workspace, moved);
  expect(await setUp(moved).loader.load(line)).toHaveLength(1);
});

test("load() looks at nothing but the user's media that are said to be images", async () => {
  const { loader, touched, put } = setUp();
  const { path } = put("0a.png", PNG);
  const pdf = { path, mime: "application/pdf" };
  expect(await loader.load(user(path, pdf, { path, mime: "image/svg+xml" }))).toEqual([]);
  expect(await loader.load({ ...user({ path, mime: "image/png" }), role: "assistant" })).toEqual([]);
  expect(touched).toEqual([]);
});

/** Each gets the workspace and a picture outside of it, and gives the path that a line holds. */
const outsiders: readonly (readonly [what: string, make: (workspace: string, picture: string) => string])[] =
  [
    ["a path outside", (_, picture) => picture],
    ["a file of the workspace beside media/", (workspace) => join(workspace, "a.png")],
    ["a way up", (workspace) => `${workspace}/media/../a.png`],
    ["a way up from a channel", (workspace) => `${workspace}/media/cli/../../a.png`],
    ["a folder that only begins like media/", (workspace) => join(workspace, "media2/cli/a.png")],
    [
      "a link to a file outside",
      (workspace, picture) => {
        symlinkSync(picture, join(workspace, "media/cli/link.png"));
        return join(workspace, "media/cli/link.png");
      },
    ],
    [
      "a link to a folder outside",
      (workspace, picture) => {
        symlinkSync(join(picture, ".."), join(workspace, "media/linked"));
        return join(workspace, "media/linked/a.png");
      },
    ],
    [
      "media/ itself being a link",
      (workspace, picture) => {
        rmSync(join(workspace, "media"), { recursive: true });
        symlinkSync(join(picture, "../.."), join(workspace, "media"));
        return join(workspace, "media/pictures/a.png");
      },
    ],
    ["a path with a NUL", (workspace) => `${workspace}/media/cli/a\0.png`],
  ];
for (const [what, make] of outsiders) {
  test(`load() never reads ${what}`, async () => {
    const { loader, workspace, read, log } = setUp();
    const picture = join(tempFolder(), "pictures/a.png");
    mkdirSync(join(picture, ".."));
    mkdirSync(join(workspace, "media2/cli"), { recursive: true });
    for (const path of [picture, join(workspace, "a.png"), join(workspace, "media2/cli/a.png")]) {
      writeFileSync(path, PNG);
    }
    const path = make(workspace, picture);
    expect(await loader.load(user({ path, mime: "image/png" }))).toEqual([]);
    expect(read).toEqual([]);
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toStartWith("debug Left an image out");
  });
}

const unfit: readonly (readonly [what: string, make: (path: string) => void, isRead: boolean])[] = [
  ["is missing", () => {}, false],
  ["is a folder", (path) => mkdirSync(path), false],
  ["is a FIFO", (path) => void execFileSync("mkfifo", [path]), false],
  ["is a byte too large", (path) => writeFileSync(path, pngOf(3.75 * MIB + 1)), false],
  [
    "is a sparse file of 3 GB",
    (path) => {
      writeFileSync(path, PNG);
      truncateSync(path, 3_000_000_000);
    },
    false,
  ],
  ["is text", (path) => writeFileSync(path, "hello"), true],
  ["is empty", (path) => writeFileSync(path, ""), true],
];
for (const [what, make, isRead] of unfit) {
  test(`load() leaves out what ${what}, says so in the log, and gives the others`, async () => {
    const { loader, workspace, read, log, put } = setUp();
    const good = put("good.png", PNG);
    const bad = { path: join(workspace, "media/cli/bad.png"), mime: "image/png" };
    make(bad.path);
    expect((await loader.load(user(bad, good))).map(({ name }) => name)).toEqual(["media/cli/good.png"]);
    expect(read.includes(bad.path)).toBe(isRead);
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]).toStartWith("debug Left an image out media/cli/bad.png");
  });
}

test("load() takes an image of exactly 3.75 MiB, which is 5 MiB of base64", async () => {
  const { loader, put } = setUp();
  const [image] = await loader.load(user(put("a.png", pngOf(3.75 * MIB))));
  expect(image?.data.length).toBe(5 * MIB);
});

test("load() gives the first 8 images of a message", async () => {
  const { loader, put } = setUp();
  const media = Array.from({ length: 10 }, (_, index) => put(`${index}.png`, pngOf(100, index)));
  const names = (await loader.load(user(...media))).map(({ name }) => name);
  expect(names).toEqual(Array.from({ length: 8 }, (_, index) => `media/cli/${index}.png`));
});

test("load() gives no more of one message than a request may hold", async () => {
  const { loader, put } = setUp();
  const media = Array.from({ length: 5 }, (_, index) => put(`${index}.png`, pngOf(3.75 * MIB, index)));
  expect(await loader.load(user(...media))).toHaveLength(3);
});

test("load() reads a file once, and again when it changed", async () => {
  const { loader, read, put } = setUp();
  const line = user(put("a.png", PNG));
  const [first] = await loader.load(line);
  const [again] = await loader.load(line);
  expect(again).toBe(first as NonNullable<typeof first>);
  expect(read).toHaveLength(1);
  put("a.png", pngOf(200));
  const [changed] = await loader.load(line);
  expect(changed?.data).toBe(pngOf(200).toString("base64"));
  expect(read).toHaveLength(2);
});

test("load() lets go of the longest unused images beyond 24 MiB", async () => {
  const { loader, read, put } = setUp();
  const lines = Array.from({ length: 5 }, (_, index) => user(put(`${index}.png`, pngOf(3.75 * MIB, index))));
  for (const line of lines) await loader.load(line);
  const [first, second] = lines as [StoredMessage, StoredMessage];
  expect(read).toHaveLength(5);
  await loader.load(first);
  expect(read).toHaveLength(6);
  await loader.load(first);
  expect(read).toHaveLength(6);
  await loader.load(second);
  expect(read).toHaveLength(7);
});

test("loadWindow() costs nothing for lines without images, and gives the very messages of toChat()", async () => {
  const { loader, touched } = setUp();
  const lines = [user(), { role: "assistant", content: "Yes" } as const, user("/old/a.png"), user()];
  const messages = await loader.loadWindow(lines);
  expect(messages.map((message, index) => message === toChat(lines[index] as StoredMessage))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(touched).toEqual([]);
});

test("loadWindow() adds the images to the message, beside the words that name them", async () => {
  const { loader, put } = setUp();
  const [message] = await loader.loadWindow([user(put("0a.png", PNG))]);
  expect(message).toEqual({
    role: "user",
    content: "[image: media/cli/0a.png]\n\nLook",
    images: [{ mime: "image/png", data: PNG.toString("base64"), name: "media/cli/0a.png" }],
  });
});

test("loadWindow() gives the same message again until its images change", async () => {
  const { loader, put } = setUp();
  const [one, two] = [put("1.png", PNG), put("2.png", GIF)];
  const lines = [user(one, two), user(one)];
  const before = await loader.loadWindow(lines);
  const after = await loader.loadWindow([...lines, user()]);
  expect(after.slice(0, 2).map((message, index) => message === before[index])).toEqual([true, true]);
  rmSync(two.path);
  const [without, other] = await loader.loadWindow(lines);
  expect([without === before[0], other === before[1]]).toEqual([false, true]);
  expect(imagesOf(without)).toBe(1);
});

test("loadWindow() only names the image that is gone", async () => {
  const { loader, put } = setUp();
  const image = put("1.png", PNG);
  const line = user(image);
  rmSync(image.path);
  expect((await loader.loadWindow([line]))[0]).toBe(toChat(line));
});

test("loadWindow() keeps the newest when there are more than 20 images", async () => {
  const { loader, put } = setUp();
  const lines = Array.from({ length: 21 }, (_, index) => user(put(`${index}.png`, pngOf(100, index))));
  const before = await loader.loadWindow(lines.slice(0, 20));
  expect(before.filter((message) => imagesOf(message) === 1)).toHaveLength(20);
  const after = await loader.loadWindow(lines);
  const shown = after.map(imagesOf);
  expect(shown).toEqual([...Array(5).fill(0), ...Array(16).fill(1)]);
});

test("loadWindow() keeps the newest when they are more than 16 MiB", async () => {
  const { loader, put } = setUp();
  const lines = Array.from({ length: 4 }, (_, index) => user(put(`${index}.png`, pngOf(3.75 * MIB, index))));
  expect((await loader.loadWindow(lines)).map(imagesOf)).toEqual([0, 1, 1, 1]);
});

test("loadWindow() changes what precedes the newest images only once in several messages", async () => {
  const { loader, put } = setUp();
  const lines = Array.from({ length: 40 }, (_, index) => user(put(`${index}.png`, pngOf(100, index))));
  let changes = 0;
  let before: readonly ChatMessage[] = [];
  for (let length = 1; length <= lines.length; length++) {
    const window = await loader.loadWindow(lines.slice(0, length));
    if (before.some((message, index) => message !== window[index])) changes++;
    expect(window.reduce((sum, message) => sum + imagesOf(message), 0)).toBeLessThanOrEqual(20);
    expect(imagesOf(window.at(-1))).toBe(1);
    before = window;
  }
  expect(changes).toBe(4);
});

test("loadWindow() sends all images of one message that fill the request alone", async () => {
  const { loader, put } = setUp();
  const old = user(put("old.png", PNG));
  const media = Array.from({ length: 3 }, (_, index) => put(`${index}.png`, pngOf(3.75 * MIB, index)));
  expect(
    (await loader.loadWindow([old, user(...media, put("small.png", pngOf(0.75 * MIB)))])).map(imagesOf),
  ).toEqual([0, 4]);
});

test("loadWindow() reads no more than the newest that fit", async () => {
  const { loader, put, read } = setUp();
  const lines = Array.from({ length: 60 }, (_, index) => user(put(`${index}.png`, pngOf(100, index))));
  await loader.loadWindow(lines);
  expect(read).toHaveLength(20);
  expect(read[0]).toEndWith("/40.png");
});

test("loadWindow() adds the images to a tool's result, whose text stays as it was", async () => {
  const { loader, put } = setUp();
  const [message] = await loader.loadWindow([result(put("0a.png", PNG))]);
  expect(message).toEqual({
    role: "tool",
    toolCallId: "call_1",
    name: "read_file",
    content: "A picture",
    images: [{ mime: "image/png", data: PNG.toString("base64"), name: "media/cli/0a.png" }],
  });
});

test("loadWindow() says in a tool's result which of its images are gone, each time in the same message", async () => {
  const { loader, put } = setUp();
  const [one, two] = [put("1.png", PNG), put("2.png", GIF)];
  const lines = [result(one, two), result(), result("/old/a.png")];
  rmSync(one.path);
  const [first, plain, foreign] = await loader.loadWindow(lines);
  expect(first?.content).toBe("A picture\n[The image media/cli/1.png is not shown here any more.]");
  expect(imagesOf(first)).toBe(1);
  expect([plain, foreign]).toEqual([toChat(result()), toChat(result())]);
  expect((await loader.loadWindow(lines))[0]).toBe(first as ChatMessage);
  rmSync(two.path);
  const [none] = await loader.loadWindow(lines);
  expect(none?.content).toBe(
    "A picture\n[The image media/cli/1.png is not shown here any more.]\n[The image media/cli/2.png is not shown here any more.]",
  );
  expect(none).not.toHaveProperty("images");
  expect((await loader.loadWindow(lines))[0]).toBe(none as ChatMessage);
});

test("loadWindow() counts the images of users and tools together", async () => {
  const { loader, put } = setUp();
  const lines = Array.from({ length: 22 }, (_, index) =>
    (index % 2 === 0 ? user : result)(put(`${index}.png`, pngOf(100, index))),
  );
  const messages = await loader.loadWindow(lines);
  expect(messages.map(imagesOf)).toEqual([...Array(5).fill(0), ...Array(17).fill(1)]);
  expect(messages[1]?.content).toContain("media/cli/1.png is not shown");
  expect(messages[5]?.content).toBe("A picture");
});
