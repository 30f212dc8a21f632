import { describe, expect, test } from "bun:test";
import { type AdmissionOptions, admissionWarning, createAdmission } from "../../src/access/admission.ts";
import type { PairingStore } from "../../src/access/pairing.ts";
import type { PendingPairing } from "../../src/core/access.ts";
import type { ChatPlace, Sender } from "../../src/core/channel.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";

const MINUTE = 60_000;

function sender(given: Partial<Sender> = {}): Sender {
  return {
    senderId: "1|alice",
    chatId: "1",
    isPrivate: true,
    isAddressed: true,
    eventId: "telegram:update:1",
    ...given,
  };
}

const inGroup = { chatId: "-100", isPrivate: false } as const;

/** Pairing with a code for each who asks; `approved` are let in. */
function fakePairing(clock: { now(): number }, approved: readonly string[] = []) {
  const asked: string[] = [];
  let isBroken = false;
  let isFull = false;
  const store: Pick<PairingStore, "isApproved" | "request"> = {
    async isApproved(channel, senderId) {
      if (isBroken) throw new Error("EIO");
      return approved.includes(`${channel}:${senderId}`);
    },
    async request(channel, { senderId, chatId }): Promise<PendingPairing | undefined> {
      asked.push(senderId);
      if (isBroken) throw new Error("EIO");
      if (isFull) return undefined;
      const expiresAt = new Date(clock.now() + 10 * MINUTE).toISOString();
      return { code: "ABCDEFGH", channel, senderId, chatId, displayName: undefined, expiresAt };
    },
  };
  return {
    store,
    asked,
    breakDown: (broken = true) => {
      isBroken = broken;
    },
    fill: () => {
      isFull = true;
    },
  };
}

function setUp(options: Partial<AdmissionOptions> & { approved?: readonly string[]; pairs?: boolean } = {}) {
  const { approved = [], pairs = true, ...rest } = options;
  const clock = createFakeClock();
  const log = createFakeLog();
  const pairing = fakePairing(clock, approved);
  const notices: { place: ChatPlace; text: string; eventId: string }[] = [];
  const active: string[] = [];
  const admit = createAdmission({
    channel: "telegram",
    allowFrom: ["2"],
    pairing: pairs ? pairing.store : undefined,
    notify: async (place, text, eventId) => {
      notices.push({ place, text, eventId });
    },
    contacts: {
      active: ({ channel, chatId, senderId }) => active.push(`${channel}:${chatId} with ${senderId}`),
    },
    clock,
    log,
    ...rest,
  });
  return { admit, clock, log, pairing, notices, active };
}

describe("createAdmission()", () => {
  test("lets in who is on the list, and tells of their private chats", async () => {
    const { admit, active, notices, pairing } = setUp({ allowFrom: ["alice"] });
    expect(await admit(sender())).toBe(true);
    expect(await admit(sender(inGroup))).toBe(true);
    expect(active).toEqual(["telegram:1 with 1|alice"]);
    expect(notices).toEqual([]);
    expect(pairing.asked).toEqual([]);
  });

  test("lets in who was approved", async () => {
    const { admit, active } = setUp({ approved: ["telegram:1|alice"] });
    expect(await admit(sender())).toBe(true);
    expect(active.length).toBe(1);
    expect(await setUp({ channel: "slack", approved: ["telegram:1|alice"] }).admit(sender())).toBe(false);
  });

  test("refuses everybody with an empty list, without a word where pairing is off", async () => {
    for (const allowFrom of [[], [""], [null], undefined, null]) {
      const { admit, notices, active } = setUp({ allowFrom, pairs: false, approved: ["telegram:1|alice"] });
      expect(await admit(sender())).toBe(false);
      expect(await admit(sender(inGroup))).toBe(false);
      expect([notices, active]).toEqual([[], []]);
    }
  });

  test("lets everybody in by *, and tells of the private chats of those alone who are named or were approved", async () => {
    const { admit, active, notices } = setUp({
      allowFrom: ["*", "alice", 5],
      approved: ["telegram:7|carol"],
    });
    for (const senderId of ["2|mallory", "*", "", "1|alice", "5", "7|carol", "8|*"])
      expect(await admit(sender({ senderId }))).toBe(true);
    expect(active).toEqual(["telegram:1 with 1|alice", "telegram:1 with 5", "telegram:1 with 7|carol"]);
    expect(notices).toEqual([]);
    expect(await setUp({ allowFrom: ["*"], pairs: false }).admit(sender())).toBe(true);
  });

  const policies: readonly [AdmissionOptions["groupPolicy"], boolean, boolean, boolean][] = [
    // Addressed, not addressed, not addressed in a group of the list.
    [undefined, true, false, false],
    ["mention", true, false, false],
    ["open", true, true, true],
    ["allowlist", false, false, true],
  ];
  test.each(policies)("hears in groups by the policy %p", async (groupPolicy, addressed, other, listed) => {
    const { admit, active } = setUp({
      allowFrom: [1],
      ...(groupPolicy === undefined ? {} : { groupPolicy }),
      groupAllowFrom: [-200],
    });
    expect(await admit(sender(inGroup))).toBe(addressed);
    expect(await admit(sender({ ...inGroup, isAddressed: false }))).toBe(other);
    expect(await admit(sender({ ...inGroup, chatId: "-200", isAddressed: false }))).toBe(listed);
    expect(active).toEqual([]);
  });

  test.each(["mention", "open", "allowlist"] as const)(
    "ignores strangers in groups, by %p too",
    async (groupPolicy) => {
      const { admit, notices, pairing } = setUp({ groupPolicy, groupAllowFrom: ["*"] });
      expect(await admit(sender(inGroup))).toBe(false);
      expect(notices).toEqual([]);
      expect(pairing.asked).toEqual([]);
    },
  );

  test("tells a stranger in private the code, and what to do with it", async () => {
    const { admit, notices, active } = setUp();
    expect(await admit(sender({ thread: "7" }))).toBe(false);
    expect(notices).toEqual([
      { place: { chatId: "1", thread: "7" }, text: expect.any(String), eventId: "telegram:update:1" },
    ]);
    const text = notices[0]?.text ?? "";
    expect(text).toContain("/pairing approve ABCD-EFGH");
    expect(text).toContain("nanobot pairing approve ABCD-EFGH");
    expect(text).toContain("10 minutes");
    expect(active).toEqual([]);
  });

  test("tells a stranger once a minute, and each one for themselves", async () => {
    const { admit, notices, clock } = setUp();
    for (let event = 1; event <= 5; event++) await admit(sender({ eventId: `telegram:update:${event}` }));
    // Under another user name it is the same person.
    await admit(sender({ senderId: "1|bob", eventId: "telegram:update:6" }));
    expect(notices.map(({ eventId }) => eventId)).toEqual(["telegram:update:1"]);
    await admit(sender({ senderId: "3", chatId: "3", eventId: "telegram:update:7" }));
    expect(notices.length).toBe(2);
    await clock.advance(MINUTE - 1);
    await admit(sender({ eventId: "telegram:update:8" }));
    expect(notices.length).toBe(2);
    await clock.advance(1);
    await admit(sender({ eventId: "telegram:update:9" }));
    expect(notices.length).toBe(3);
  });

  test("tells a stranger once who writes twice at the same time", async () => {
    const { admit, notices } = setUp();
    await Promise.all([admit(sender()), admit(sender({ eventId: "telegram:update:2" }))]);
    expect(notices.length).toBe(1);
  });

  test("says nothing when no code can be given", async () => {
    const { admit, notices, pairing } = setUp();
    pairing.fill();
    expect(await admit(sender())).toBe(false);
    expect(notices).toEqual([]);
  });

  test("says nothing to whoever has no id", async () => {
    const { admit, notices } = setUp();
    for (const senderId of ["", "|", " "]) expect(await admit(sender({ senderId }))).toBe(false);
    expect(notices).toEqual([]);
  });

  test("rejects when the notice is not safe, so that the platform brings the event again", async () => {
    let isFull = true;
    const told: string[] = [];
    const { admit } = setUp({
      notify: async (_, __, eventId) => {
        if (isFull) throw new Error("the disk is full");
        told.push(eventId);
      },
    });
    await expect(admit(sender())).rejects.toThrow("the disk is full");
    isFull = false;
    expect(await admit(sender())).toBe(false);
    expect(told).toEqual(["telegram:update:1"]);
  });

  test("lets nobody new in when that cannot be found out, says so once, and still hears who is on the list", async () => {
    const { admit, pairing, log, notices } = setUp({ approved: ["telegram:1|alice"] });
    pairing.breakDown();
    for (let round = 0; round < 3; round++) {
      expect(await admit(sender())).toBe(false);
      expect(await admit(sender({ senderId: "2" }))).toBe(true);
    }
    expect(notices).toEqual([]);
    expect(log.lines.length).toBe(1);
    pairing.breakDown(false);
    expect(await admit(sender())).toBe(true);
    pairing.breakDown();
    expect(await admit(sender())).toBe(false);
    expect(log.lines.length).toBe(2);
  });
});

describe("admissionWarning()", () => {
  test("says that nobody is answered, and what to do", () => {
    for (const allowFrom of [[], [""], [null], undefined])
      expect(admissionWarning("telegram", { allowFrom, pairing: false })).toBe(
        'channels.telegram.allowFrom is empty, so nobody is answered. Add your id, or "*" for everybody',
      );
  });

  test("says that nobody is the owner when everybody is let in and none is named", () => {
    const everybody = { allowFrom: ["*"], pairing: false };
    expect(admissionWarning("slack", { ...everybody, hasOwner: false })).toContain("gateway.owner");
    expect(admissionWarning("slack", { ...everybody, hasOwner: true })).toBeUndefined();
    const named = { ...everybody, allowFrom: ["*", 1], hasOwner: false };
    expect(admissionWarning("slack", named)).toBeUndefined();
  });

  test("says nothing otherwise", () => {
    expect(admissionWarning("telegram", { allowFrom: [], pairing: true, hasOwner: false })).toBeUndefined();
    expect(admissionWarning("telegram", { allowFrom: [1], pairing: false, hasOwner: false })).toBeUndefined();
  });
});
