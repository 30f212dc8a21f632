import { expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { createOwner, type OwnerOptions, parseChat } from "../../src/access/owner.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";
import { mortalFiles, readState, realFiles, statePath, unreadableFiles, writeState } from "./fixture.ts";

function setUp(options: Partial<OwnerOptions> = {}) {
  const workspace = options.workspace ?? tempFolder();
  const clock = createFakeClock();
  const log = createFakeLog();
  let writes = 0;
  const files = options.files ?? {
    ...realFiles,
    replace: (...args: Parameters<typeof realFiles.replace>) => {
      writes++;
      return realFiles.replace(...args);
    },
  };
  const owner = createOwner({ configured: undefined, clock, log, ...options, files, workspace });
  const active = (chatId: string, channel = "telegram") =>
    owner.active({ channel, chatId, senderId: `${chatId}|name` });
  return { workspace, clock, log, owner, active, writes: () => writes };
}

test("find() is the configured chat, whoever is active", async () => {
  const { owner, active, writes } = setUp({ configured: "matrix:!room:example.org" });
  active("1");
  expect(await owner.find()).toEqual({ channel: "matrix", chatId: "!room:example.org" });
  await owner.flush();
  expect(writes()).toBe(0);
});

test("find() is nobody where the configured chat is none", async () => {
  for (const configured of ["", ":", "telegram", "telegram:", ":1"]) {
    const { owner, active } = setUp({ configured });
    active("1");
    expect(await owner.find()).toBeUndefined();
  }
});

test("find() is the latest active chat, at once", async () => {
  const { owner, active } = setUp();
  expect(await owner.find()).toBeUndefined();
  active("1");
  expect(await owner.find()).toEqual({ channel: "telegram", chatId: "1" });
  active("a:b:c", "slack");
  expect(await owner.find()).toEqual({ channel: "slack", chatId: "a:b:c" });
  active("1");
  expect(await owner.find()).toEqual({ channel: "telegram", chatId: "1" });
});

test("find() is the chat that was active last before the process began", async () => {
  const { owner, active, workspace } = setUp();
  active("1");
  active("2");
  await owner.flush();
  expect(await setUp({ workspace }).owner.find()).toEqual({ channel: "telegram", chatId: "2" });
  expect(statSync(statePath(workspace, "owner.json")).mode & 0o777).toBe(0o600);
});

test("find() passes over whoever is let in no more", async () => {
  const { owner, active, workspace } = setUp();
  for (const chatId of ["1", "2", "3"]) active(chatId);
  await owner.flush();
  const asked: string[] = [];
  const isAdmitted = async (channel: string, senderId: string) => {
    asked.push(`${channel} ${senderId}`);
    if (senderId.startsWith("3")) throw new Error("EIO");
    return senderId.startsWith("1");
  };
  const next = setUp({ workspace, isAdmitted });
  expect(await next.owner.find()).toEqual({ channel: "telegram", chatId: "1" });
  expect(asked).toEqual(["telegram 3|name", "telegram 2|name", "telegram 1|name"]);
  expect(await setUp({ workspace, isAdmitted: async () => false }).owner.find()).toBeUndefined();
});

test("active() writes only when the chat changes, and not at once", async () => {
  const { owner, active, clock, writes, workspace } = setUp();
  for (let message = 0; message < 100; message++) active("1");
  expect(writes()).toBe(0);
  await clock.advance(5_000);
  await owner.flush();
  expect(writes()).toBe(1);
  for (let message = 0; message < 100; message++) active("1");
  await owner.flush();
  expect(writes()).toBe(1);
  // Nor after a restart.
  const next = setUp({ workspace });
  next.active("1");
  await next.owner.flush();
  expect(next.writes()).toBe(0);
});

test("active() costs one write in a while when two people write in turns", async () => {
  const { owner, active, clock, writes, workspace } = setUp();
  for (let message = 0; message < 1_000; message++) {
    active(`${message % 2}`);
    await clock.advance(10);
  }
  await owner.flush();
  expect(writes()).toBeLessThanOrEqual(3);
  expect(await setUp({ workspace }).owner.find()).toEqual({ channel: "telegram", chatId: "1" });
});

test("active() keeps few chats, and none with an id that is none", async () => {
  const { owner, active, workspace } = setUp();
  for (let chat = 0; chat < 1_000; chat++) active(`${chat}`);
  active("x".repeat(10_000));
  await owner.flush();
  const { chats } = JSON.parse(readState(workspace, "owner.json"));
  expect(chats.map(({ chatId }: { chatId: string }) => chatId)).toEqual(
    Array.from({ length: 8 }, (_, index) => `${999 - index}`),
  );
});

test("a damaged owner.json is kept under another name, and a new one is begun", async () => {
  for (const text of ["{", "", "[]", '{"v":1}', '{"v":1,"chats":{}}']) {
    const { owner, active, workspace, log } = setUp();
    writeState(workspace, "owner.json", text);
    expect(await owner.find()).toBeUndefined();
    active("1");
    await owner.flush();
    expect(await setUp({ workspace }).owner.find()).toEqual({ channel: "telegram", chatId: "1" });
    const names = readdirSync(statePath(workspace, "")).sort();
    expect(names).toEqual(["owner.json", expect.stringMatching(/^owner\.json\.corrupt-\d{8}T\d{9}Z$/)]);
    expect(readState(workspace, names[1] ?? "")).toBe(text);
    expect(log.lines.length).toBe(2);
  }
});

test("an owner.json of a newer version stays as it is", async () => {
  const { owner, active, workspace } = setUp();
  const text = '{"v":2,"chats":[{"channel":"telegram","chatId":"9","senderId":"9"}]}';
  writeState(workspace, "owner.json", text);
  active("1");
  expect(await owner.find()).toEqual({ channel: "telegram", chatId: "1" });
  await owner.flush();
  expect(readState(workspace, "owner.json")).toBe(text);
});

test("entries of owner.json that are damaged cost only themselves", async () => {
  const { owner, workspace } = setUp();
  const good = { channel: "telegram", chatId: "1", senderId: "1" };
  writeState(workspace, "owner.json", { v: 1, chats: [null, { channel: "telegram" }, 7, good] });
  expect(await owner.find()).toEqual({ channel: "telegram", chatId: "1" });
});

test("find() does without an owner.json that cannot be read", async () => {
  const { owner, active, log } = setUp({ files: unreadableFiles() });
  expect(await owner.find()).toBeUndefined();
  active("1");
  expect(await owner.find()).toEqual({ channel: "telegram", chatId: "1" });
  await owner.flush();
  expect(log.lines.join("\n")).toContain("EIO");
});

test.each(["before", "after"] as const)(
  "owner.json is whole when its process is killed %s any write",
  async (moment) => {
    for (let at = 1; at <= 6; at++) {
      const workspace = tempFolder();
      const { owner, active } = setUp({ workspace, files: mortalFiles(at, moment) });
      for (const chatId of ["1", "2"]) {
        active(chatId);
        await owner.flush();
      }
      const next = setUp({ workspace });
      const found = await next.owner.find();
      expect([undefined, "1", "2"]).toContain(found?.chatId);
      expect(next.log.lines).toEqual([]);
    }
  },
);

test("parseChat() splits at the first colon", () => {
  expect(parseChat("telegram:-100")).toEqual({ channel: "telegram", chatId: "-100" });
  expect(parseChat("matrix:!a:b")).toEqual({ channel: "matrix", chatId: "!a:b" });
});
