import { expect, test } from "bun:test";
import { createNotes, noted } from "../../src/app/gateway/notes.ts";
import type { InboundMessage } from "../../src/core/messages.ts";
import type { RouteTarget } from "../../src/core/schedule.ts";
import { never } from "../../src/lib/abort.ts";
import { createFakeClock } from "../fakes/clock.ts";
import { inboundMessage } from "../fakes/messages.ts";

const job = inboundMessage({ id: "cron:a:1", origin: "cron", senderId: "cron", channel: "none", chatId: "" });
const answer = { outcome: "answer", content: "the secret is tea" } as const;

function setUp(target: RouteTarget | undefined, publish: () => Promise<boolean> = async () => true) {
  const put: InboundMessage[] = [];
  const putNote = createNotes({
    bus: {
      publishInbound(message) {
        put.push(message);
        return publish();
      },
    },
    clock: createFakeClock(Date.parse("2026-11-30T09:00:00Z")),
    mask: (text) => text.replace("secret", "***"),
  });
  const route = noted(async () => target, {
    putNote,
    sessionOf: ({ channel, chatId }) => `${channel}:${chatId}`,
  });
  return { put, route: () => route(job, answer, never) };
}

test("noted() puts a note for the session of the chat that is told, with an id of its own and no secret", async () => {
  const target = { channel: "telegram", chatId: "5", thread: "7" };
  const { put, route } = setUp(target);
  expect(await route()).toEqual(target);
  expect(put).toMatchObject([
    {
      id: "cron:a:1/note",
      kind: "note",
      ...target,
      content: "the *** is tea",
      origin: "cron",
      sessionKey: "telegram:5",
      timestamp: "2026-11-30T09:00:00.000Z",
    },
  ]);
});

test("noted() notes what is said in the place of the result", async () => {
  const { put, route } = setUp({ channel: "telegram", chatId: "5", content: "Reminder: tea" });
  await route();
  expect(put).toMatchObject([{ content: "Reminder: tea" }]);
});

test("noted() puts nothing where nobody is told", async () => {
  const { put, route } = setUp(undefined);
  expect(await route()).toBeUndefined();
  expect(put).toEqual([]);
});

test("noted() rejects when the note cannot be put, so that the answer is not lost for it", async () => {
  const { route } = setUp({ channel: "telegram", chatId: "5" }, async () => {
    throw new Error("ENOSPC");
  });
  expect(route()).rejects.toThrow("ENOSPC");
});
