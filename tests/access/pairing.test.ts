import { describe, expect, test } from "bun:test";
import { createFakeClock } from "../fakes/clock.ts";
import { writeState } from "./fixture.ts";
import { MINUTE, setUp } from "./pairing-fixture.ts";

describe("request()", () => {
  test("gives a stranger a code for ten minutes, and the same as long as it can be used", async () => {
    const { ask, clock, pairing } = setUp();
    const first = await ask("1|alice", "telegram", "Alice");
    expect(first).toEqual({
      code: expect.stringMatching(/^[A-HJ-NP-Z2-9]{8}$/),
      channel: "telegram",
      senderId: "1|alice",
      chatId: "chat of 1|alice",
      displayName: "Alice",
      expiresAt: new Date(clock.now() + 10 * MINUTE).toISOString(),
    });
    await clock.advance(10 * MINUTE - 1);
    expect(await ask("1|alice")).toEqual(first);
    // The same person under another user name.
    expect(await ask("1|alice2")).toEqual(first);
    expect((await pairing.list()).pending).toEqual(first === undefined ? [] : [first]);
    await clock.advance(1);
    expect((await pairing.list()).pending).toEqual([]);
    const second = await ask("1|alice");
    expect(second?.code).not.toBe(first?.code);
    expect((await pairing.list()).pending.length).toBe(1);
  });

  test("tells people and channels apart", async () => {
    const { codeOf } = setUp();
    const codes = [await codeOf("1"), await codeOf("2"), await codeOf("1", "slack")];
    expect(new Set(codes).size).toBe(3);
  });

  test("takes codes that cannot be foreseen unless it is told otherwise", async () => {
    const one = await setUp({ randomBytes: undefined as never }).codeOf("1");
    const other = await setUp({ randomBytes: undefined as never }).codeOf("1");
    expect(one).not.toBe(other);
  });

  test("gives three codes of a channel in a minute, and no more", async () => {
    const { ask, clock, text } = setUp();
    for (const id of ["1", "2", "3"]) expect(await ask(id)).toBeDefined();
    const before = text();
    expect(await ask("4")).toBeUndefined();
    expect(await ask("3")).toBeDefined();
    expect(text()).toBe(before);
    expect(await ask("4", "slack")).toBeDefined();
    await clock.advance(MINUTE);
    expect(await ask("4")).toBeDefined();
  });

  test("gives no more codes than may wait, and more when some have run out", async () => {
    const { ask, clock, pairing } = setUp({ mostPending: 4 });
    for (const id of ["1", "2", "3"]) expect(await ask(id)).toBeDefined();
    expect(await ask("4", "slack")).toBeDefined();
    expect(await ask("5", "discord")).toBeUndefined();
    await clock.advance(10 * MINUTE);
    expect(await ask("5", "discord")).toBeDefined();
    expect((await pairing.list()).pending.length).toBe(1);
  });

  test("keeps few codes, whoever and how many ask", async () => {
    const { ask, clock, pairing, text } = setUp();
    for (let id = 0; id < 1_000; id++) {
      await ask(`${id}`, `channel ${id % 7}`);
      await clock.advance(3_000);
    }
    expect((await pairing.list()).pending.length).toBeLessThanOrEqual(100);
    expect(text().length).toBeLessThan(50_000);
  });

  test("gives none to whoever has no id, or one that is none", async () => {
    const { ask } = setUp();
    for (const id of ["", " ", "|", " | ", "x".repeat(501)]) expect(await ask(id)).toBeUndefined();
  });

  test("keeps a name that is fit to be shown", async () => {
    const { ask, pairing } = setUp();
    await ask("1", "telegram", `\u001b[2J\ud800 ${"long ".repeat(100)}\n\u202eevil`);
    const [pending] = (await pairing.list()).pending;
    expect(pending?.displayName).toMatch(/^\ufffd? ?long long/);
    expect(pending?.displayName?.length).toBeLessThanOrEqual(100);
    expect(pending?.displayName).not.toMatch(/[\u001b\n\u202e\ud800]/);
  });

  test("spells out what cannot be seen in a name", async () => {
    const { ask, pairing } = setUp();
    await ask("1", "telegram", "al\u200bice \u0430lice b\u043eb");
    const [pending] = (await pairing.list()).pending;
    expect(pending?.displayName).toBe("al⟨U+200B⟩ice ⟨U+0430⟩lice b⟨U+043E⟩b");
  });

  test("does not take a code for good because the clock was wrong when it was made", async () => {
    const { workspace, codeOf } = setUp();
    const code = await codeOf("1");
    const past = createFakeClock(1_600_000_000_000);
    const later = setUp({ workspace, clock: past });
    expect((await later.pairing.list()).pending).toEqual([]);
    expect(await later.pairing.approve(code)).toBeUndefined();
  });
});

describe("approve(), deny() and revoke()", () => {
  test("let somebody in by a code, once, in any spelling of it", async () => {
    const { codeOf, pairing } = setUp();
    const code = await codeOf("1|alice");
    expect(await pairing.isApproved("telegram", "1|alice")).toBe(false);
    expect(await pairing.approve(`${code.slice(0, 4)}-${code.slice(4)}`.toLowerCase())).toMatchObject({
      code,
      senderId: "1|alice",
    });
    expect(await pairing.isApproved("telegram", "1|alice")).toBe(true);
    expect(await pairing.approve(code)).toBeUndefined();
    expect(await pairing.list()).toEqual({
      pending: [],
      approved: [{ channel: "telegram", senderId: "1", approvedAt: "2023-11-14T22:13:20.000Z" }],
    });
  });

  test("let in the person, whatever they or others call themselves", async () => {
    const { codeOf, pairing } = setUp();
    await pairing.approve(await codeOf("1|alice"));
    expect(await pairing.isApproved("telegram", "1|renamed")).toBe(true);
    expect(await pairing.isApproved("telegram", "1")).toBe(true);
    // Took over the user name, or took the id for a name.
    expect(await pairing.isApproved("telegram", "2|alice")).toBe(false);
    expect(await pairing.isApproved("telegram", "2|1")).toBe(false);
    expect(await pairing.isApproved("slack", "1|alice")).toBe(false);
  });

  test("take no code that is unknown, too old, or of nobody", async () => {
    const { codeOf, clock, pairing } = setUp();
    const code = await codeOf("1");
    for (const text of ["", "ZZZZ-ZZZZ", code.slice(1), `${code}A`, "__proto__", "constructor"]) {
      expect(await pairing.approve(text)).toBeUndefined();
      expect(await pairing.deny(text)).toBeUndefined();
    }
    await clock.advance(10 * MINUTE);
    expect(await pairing.approve(code)).toBeUndefined();
    expect(await pairing.deny(code)).toBeUndefined();
    expect((await pairing.list()).approved).toEqual([]);
  });

  test("deny a code, and another one can be asked for", async () => {
    const { codeOf, pairing } = setUp();
    const code = await codeOf("1");
    expect(await pairing.deny(code)).toMatchObject({ senderId: "1" });
    expect(await pairing.approve(code)).toBeUndefined();
    expect(await pairing.isApproved("telegram", "1")).toBe(false);
    expect(await codeOf("1")).not.toBe(code);
  });

  test("take back what was approved, on one channel or on all", async () => {
    const { codeOf, pairing } = setUp();
    for (const channel of ["telegram", "slack", "discord"]) await pairing.approve(await codeOf("1", channel));
    expect(await pairing.revoke("1", "irc")).toBe(false);
    expect(await pairing.revoke("2")).toBe(false);
    expect(await pairing.revoke("")).toBe(false);
    expect(await pairing.revoke("*")).toBe(false);
    expect(await pairing.revoke("1", "slack")).toBe(true);
    expect(await pairing.isApproved("slack", "1")).toBe(false);
    expect(await pairing.isApproved("discord", "1")).toBe(true);
    expect(await pairing.revoke("1")).toBe(true);
    expect((await pairing.list()).approved).toEqual([]);
    expect(await pairing.revoke("1")).toBe(false);
  });

  test("let in no more people than the file can hold", async () => {
    const { codeOf, pairing, workspace } = setUp();
    const ids = Array.from({ length: 10_000 }, (_, id) => `${id}`);
    writeState(workspace, "pairing.json", { approved: { telegram: ids } });
    const code = await codeOf("one more");
    await expect(pairing.approve(code)).rejects.toMatchObject({ name: "UserError" });
    await pairing.revoke("7");
    expect(await pairing.approve(code)).toBeDefined();
  });

  test("approve somebody twice and keep one entry", async () => {
    const { codeOf, pairing, clock } = setUp();
    await pairing.approve(await codeOf("1|a"));
    await clock.advance(MINUTE);
    expect(await pairing.approve(await codeOf("1|b"))).toBeDefined();
    expect((await pairing.list()).approved.length).toBe(1);
  });
});
