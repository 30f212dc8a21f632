import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import fc from "fast-check";
import { formatPairing, parsePairing } from "../../src/access/pairing-file.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { tempFolder } from "../fakes/temp.ts";
import {
  mortalFiles,
  readState,
  realFiles,
  realLocks,
  statePath,
  unreadableFiles,
  writeState,
} from "./fixture.ts";
import { setUp } from "./pairing-fixture.ts";

describe("pairing.json", () => {
  test("has the original's shape, and can be read by nobody else", async () => {
    const { codeOf, pairing, file, workspace, clock } = setUp();
    const first = await codeOf("1|alice");
    const second = await codeOf("2");
    await pairing.approve(first);
    expect(file()).toEqual({
      approved: { telegram: ["1"] },
      approved_at: { telegram: { "1": "2023-11-14T22:13:20.000Z" } },
      pending: {
        [`${second.slice(0, 4)}-${second.slice(4)}`]: {
          channel: "telegram",
          sender_id: "2",
          chat_id: "chat of 2",
          created_at: clock.now() / 1_000,
          expires_at: clock.now() / 1_000 + 600,
        },
      },
    });
    expect(statSync(statePath(workspace, "pairing.json")).mode & 0o777).toBe(0o600);
    expect(statSync(statePath(workspace, "")).mode & 0o777).toBe(0o700);
  });

  test("of the original is read, and kept in what we do not know of it", async () => {
    const { workspace, pairing, clock, file } = setUp();
    const now = clock.now() / 1_000;
    writeState(workspace, "pairing.json", {
      approved: { telegram: ["1|alice", 7, null, {}, ""], slack: null, discord: [] },
      pending: {
        "AB0I-1234": { channel: "telegram", sender_id: 42, created_at: now - 1.25, expires_at: now + 598.75 },
        "AAAA-BBBB": { channel: "telegram", sender_id: "9", created_at: now - 700, expires_at: now - 100 },
        "AAAA-CCCC": null,
        "AAAA-DDDD": { channel: "", sender_id: "9", expires_at: now + 10 },
        "AAAA-EEEE": { channel: "telegram", sender_id: "9", expires_at: true },
        short: { channel: "telegram", sender_id: "9", expires_at: now + 10 },
      },
      more: { of: "it" },
    });
    expect(await pairing.list()).toEqual({
      approved: [
        { channel: "telegram", senderId: "1|alice", approvedAt: undefined },
        { channel: "telegram", senderId: "7", approvedAt: undefined },
      ],
      pending: [
        {
          code: "AB0I1234",
          channel: "telegram",
          senderId: "42",
          chatId: "42",
          displayName: undefined,
          expiresAt: new Date(clock.now() + 598_750).toISOString(),
        },
      ],
    });
    for (const id of ["1", "1|alice", "7"]) expect(await pairing.isApproved("telegram", id)).toBe(true);
    for (const id of ["null", "", "alice"]) expect(await pairing.isApproved("telegram", id)).toBe(false);
    await pairing.approve("ab0i-1234");
    expect(file()).toMatchObject({ approved: { telegram: ["1|alice", "7", "42"] }, more: { of: "it" } });
    expect(await pairing.revoke("alice")).toBe(true);
    expect(await pairing.isApproved("telegram", "1|alice")).toBe(false);
  });

  test("lets in nobody else by a * in it", async () => {
    const { workspace, pairing } = setUp();
    writeState(workspace, "pairing.json", { approved: { telegram: ["*"], "*": ["1"] } });
    expect(await pairing.isApproved("telegram", "1")).toBe(false);
  });

  test("may have null in the place of its maps", async () => {
    for (const text of ["null", "{}", '{"approved":null,"pending":null}', '{"approved":{"telegram":null}}']) {
      const { workspace, pairing, codeOf, log } = setUp();
      writeState(workspace, "pairing.json", text);
      expect(await pairing.isApproved("telegram", "1")).toBe(false);
      expect(await pairing.approve(await codeOf("1"))).toBeDefined();
      expect(await pairing.isApproved("telegram", "1")).toBe(true);
      expect(log.lines).toEqual([]);
    }
  });

  const damaged: readonly [string, string][] = [
    ["with a comma too many", '{"approved":{"telegram":["1"]},}'],
    ["cut off", '{"approved":{"telegram":["1"]'],
    ["empty", ""],
    ["of zeros", "\0".repeat(300)],
    ["a list", "[]"],
    ["a text", '"1"'],
    ["with a list of channels", '{"approved":["1"]}'],
    ["with a text in the place of ids", '{"approved":{"telegram":"1"}}'],
    ["with a list of codes", '{"approved":{"telegram":["1"]},"pending":[1]}'],
  ];
  test.each(damaged)(
    "that is damaged, %s, lets nobody in, is reported once and stays as it is",
    async (_, text) => {
      const { workspace, pairing, ask, log } = setUp();
      writeState(workspace, "pairing.json", text);
      for (let round = 0; round < 3; round++) {
        expect(await pairing.isApproved("telegram", "1")).toBe(false);
        expect(await ask("1")).toBeUndefined();
        for (const work of [
          () => pairing.list(),
          () => pairing.approve("AAAA-AAAA"),
          () => pairing.deny("AAAA-AAAA"),
          () => pairing.revoke("1"),
        ])
          await expect(work()).rejects.toMatchObject({
            name: "UserError",
            message: expect.stringContaining("pairing.json"),
          });
      }
      expect(readState(workspace, "pairing.json")).toBe(text);
      expect(readdirSync(statePath(workspace, ""))).toEqual(["pairing.json"]);
      expect(log.lines.length).toBe(1);
      // Mended by hand.
      writeState(workspace, "pairing.json", { approved: { telegram: ["1"] } });
      expect(await pairing.isApproved("telegram", "1")).toBe(true);
    },
  );

  test("is no file, and nobody is let in", async () => {
    const { workspace, pairing, ask } = setUp();
    mkdirSync(statePath(workspace, "pairing.json"), { recursive: true });
    expect(await pairing.isApproved("telegram", "1")).toBe(false);
    expect(await ask("1")).toBeUndefined();
  });

  test("is read again when another process changed it", async () => {
    const { workspace, pairing, codeOf, clock } = setUp();
    const other = setUp({ workspace, clock }).pairing;
    const code = await codeOf("1");
    expect(await other.approve(code)).toBeDefined();
    expect(await pairing.isApproved("telegram", "1")).toBe(true);
    expect(await pairing.approve(code)).toBeUndefined();
    await other.revoke("1");
    expect(await pairing.isApproved("telegram", "1")).toBe(false);
  });

  test("is not read when nothing changed", async () => {
    const workspace = tempFolder();
    let reads = 0;
    const files = {
      ...realFiles,
      read: (...args: Parameters<typeof realFiles.read>) => {
        reads++;
        return realFiles.read(...args);
      },
    };
    const { pairing } = setUp({ workspace, files });
    writeState(workspace, "pairing.json", { approved: { telegram: ["1"] } });
    for (let round = 0; round < 10; round++) await pairing.isApproved("telegram", "1");
    expect(reads).toBe(1);
  });

  test("that cannot be read is no answer", async () => {
    const { pairing, ask } = setUp({ files: unreadableFiles() });
    await expect(pairing.isApproved("telegram", "1")).rejects.toThrow("EIO");
    await expect(ask("1")).rejects.toThrow("EIO");
    await expect(pairing.list()).rejects.toMatchObject({
      name: "UserError",
      message: expect.stringContaining("the disk failed"),
    });
  });

  test("that cannot be written changes nothing", async () => {
    const { workspace, pairing, ask } = setUp();
    await ask("1");
    const before = readState(workspace, "pairing.json");
    const files = {
      ...realFiles,
      replace: () => Promise.reject(Object.assign(new Error(), { code: "ENOSPC" })),
    };
    const full = setUp({ workspace, files });
    await expect(full.ask("2")).rejects.toThrow("the disk is full");
    expect(await pairing.isApproved("telegram", "2")).toBe(false);
    expect(readState(workspace, "pairing.json")).toBe(before);
  });

  test("is not waited for when another process holds it for ever", async () => {
    const { workspace, pairing, clock, ask } = setUp();
    const lock = await realLocks(workspace).acquire(`pairing:${workspace}`, new AbortController().signal);
    const asking = ask("1").catch((error: unknown) => error);
    await clock.whenPending(1);
    await clock.advance(10_000);
    expect(await asking).toMatchObject({ name: "UserError" });
    await lock.release();
    expect(await pairing.isApproved("telegram", "1")).toBe(false);
    expect(await ask("1")).toBeDefined();
  });

  test.each(["before", "after"] as const)(
    "is whole when its process is killed %s any write",
    async (moment) => {
      for (let at = 1; ; at++) {
        const workspace = tempFolder();
        const clock = createFakeClock();
        const files = mortalFiles(at, moment);
        const { pairing, codeOf } = setUp({ workspace, files, clock });
        const done: string[] = [];
        try {
          await pairing.approve(await codeOf("1"));
          done.push("1 is in");
          const code = await codeOf("2");
          done.push("2 waits");
          await pairing.deny(code);
          done.push("2 is out");
          await pairing.revoke("1");
          done.push("1 is out");
        } catch (error) {
          expect(String(error)).toContain("killed");
        }
        const next = setUp({ workspace, clock });
        const { pending, approved } = await next.pairing.list();
        const isIn = await next.pairing.isApproved("telegram", "1");
        expect(isIn).toBe(approved.length === 1);
        if (done.includes("1 is in") && !done.includes("2 is out")) expect(isIn).toBe(true);
        if (done.includes("1 is out")) expect(isIn).toBe(false);
        if (done.includes("2 waits") && files.writes === at && moment === "before")
          expect(pending.length + Number(done.includes("2 is out"))).toBe(1);
        expect(next.log.lines).toEqual([]);
        if (!files.isDead) break;
      }
    },
  );

  test("is understood or is damaged, whatever it holds", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const state = parsePairing(value);
        if (state === undefined) return;
        const again = parsePairing(JSON.parse(JSON.stringify(formatPairing(state))));
        expect(again?.approved).toEqual(state.approved);
      }),
    );
  });

  test("keeps ids and channels of any name apart", () => {
    const words = fc.string({ unit: "binary", minLength: 1 }).filter((text) => /[^\s|]/.test(text));
    const key = fc.oneof(fc.constantFrom("__proto__", "constructor", "toString"), words);
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(key, key), { selector: (pair) => pair.join("\0") }), (pairs) => {
        const approved = pairs.map(([channel, senderId]) => ({
          channel,
          senderId,
          approvedAt: "2026-01-01",
        }));
        const text = JSON.stringify(formatPairing({ approved, pending: [], rest: {} }));
        const back = parsePairing(JSON.parse(text))?.approved ?? [];
        const sorted = (all: typeof approved) => all.map((sender) => JSON.stringify(sender)).sort();
        expect(sorted(back as typeof approved)).toEqual(sorted(approved));
      }),
    );
  });
});

test("approve() closes a file that was open to others", async () => {
  const { workspace, pairing, codeOf } = setUp();
  await codeOf("1");
  chmodSync(statePath(workspace, "pairing.json"), 0o644);
  await pairing.approve(await codeOf("1"));
  expect(statSync(statePath(workspace, "pairing.json")).mode & 0o777).toBe(0o600);
});
