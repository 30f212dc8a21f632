import { describe, expect, test } from "bun:test";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SendError } from "../../../src/core/channel.ts";
import { JPEG, PNG, pngOf } from "../../fakes/images.ts";
import { until } from "../../fakes/until.ts";
import { createFixture, type Fixture, mediaPart, type PartOptions, passUntil, textPart } from "./fixture.ts";

const never = new AbortController().signal;
const MB = 1024 * 1024;

async function withChat(work: (fixture: Fixture) => Promise<void>): Promise<void> {
  const fixture = await createFixture();
  fixture.server.meet(7);
  await work(fixture);
  await fixture.close();
}

async function errorOf(work: Promise<unknown> | undefined): Promise<SendError> {
  const error = await work?.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SendError);
  return error as SendError;
}

describe("send()", () => {
  test("sends HTML without previews, and plain text as it is", async () => {
    await withChat(async ({ channel, server }) => {
      await channel.send(textPart("<b>bold</b> &amp; <code>x</code>"), never);
      await channel.send(textPart("a < b & c", { isPlain: true }), never);
      expect(server.sent(7).map(({ text, parseMode }) => [text, parseMode])).toEqual([
        ["bold & x", "HTML"],
        ["a < b & c", undefined],
      ]);
      for (const { fields } of server.calls)
        expect(fields["link_preview_options"]).toEqual({ is_disabled: true });
    });
  });

  test("sends what render() makes of any Markdown", async () => {
    await withChat(async ({ channel, server }) => {
      const markdown =
        "# Title\n\n**bold _both_** `a<b`\n\n```ts\nlet x = 1 && 2;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |";
      await channel.send(textPart(channel.render?.(markdown) ?? ""), never);
      expect(server.sent(7)[0]?.text).toContain("let x = 1 && 2;");
    });
  });

  test("quotes what it answers, and sends without where that is gone", async () => {
    await withChat(async ({ channel, server }) => {
      const { messageId } = server.say(7, "question");
      await channel.send(textPart("answer", { replyTo: `${messageId}` }), never);
      await channel.send(textPart("answer", { replyTo: "99999" }), never);
      await channel.send(textPart("answer", { replyTo: "no number" }), never);
      expect(server.sent(7).map(({ replyTo }) => replyTo)).toEqual([messageId, undefined, undefined]);
    });
  });

  test("sends to the topic, and to the group when the topic is gone", async () => {
    await withChat(async ({ channel, server }) => {
      server.say(-100, { text: "hi", message_thread_id: 5, is_topic_message: true });
      const place: PartOptions = { chatId: -100, thread: "5" };
      await channel.send(textPart("one", place), never);
      await channel.showTyping?.({ chatId: "-100", thread: "5" }, never);
      server.closeTopic(-100, 5);
      await channel.send(textPart("two", place), never);
      expect(server.sent(-100).map(({ text, thread }) => [text, thread])).toEqual([
        ["one", 5],
        ["two", undefined],
      ]);
      const typing = server.calls.find(({ method }) => method === "sendChatAction");
      expect(typing?.fields).toEqual({ chat_id: -100, message_thread_id: 5, action: "typing" });
    });
  });

  test("follows a group to its new id, and goes there at once the next time", async () => {
    await withChat(async ({ channel, server }) => {
      server.migrate(-5, -1005);
      await channel.send(textPart("one", { chatId: -5 }), never);
      await channel.send(textPart("two", { chatId: -5 }), never);
      expect(server.sent(-1005).map(({ text }) => text)).toEqual(["one", "two"]);
      expect(server.calls.map(({ fields }) => fields["chat_id"])).toEqual([-5, -1005, -1005]);
    });
  });

  test("names the kind of what the platform refuses", async () => {
    await withChat(async ({ channel, server }) => {
      const kind = async (text: string, options?: PartOptions) =>
        (await errorOf(channel.send(textPart(text, options), never))).kind;
      for (const markup of ["<b>open", "a < b", "a & b", "<x>y</x>", "<b><i>x</b></i>", "<b> </b>"]) {
        expect(await kind(markup)).toBe("markup");
      }
      expect(await kind("x".repeat(4_097))).toBe("refused");
      expect(await kind("hi", { chatId: 404 })).toBe("refused");
      server.block(8);
      expect(await kind("hi", { chatId: 8 })).toBe("refused");
      server.fail("sendMessage", "drop");
      expect(await kind("hi")).toBe("down");
      server.fail("sendMessage", { code: 500, description: "Internal Server Error" });
      expect(await kind("hi")).toBe("down");
      server.fail("sendMessage", { code: 409, description: "Conflict: something" });
      expect(await kind("hi")).toBe("temporary");
      server.fail("sendMessage", {
        code: 400,
        description: "Bad Request: not enough rights to send text messages",
      });
      expect(await kind("hi")).toBe("refused");
      const description = "Too Many Requests: retry after 31";
      server.fail("sendMessage", { code: 429, description, parameters: { retry_after: 31 } });
      const slow = await errorOf(channel.send(textPart("hi"), never));
      expect([slow.kind, slow.retryAfterMs]).toEqual(["slowDown", 31_000]);
      server.revokeToken();
      expect(await kind("hi")).toBe("unauthorized");
    });
  });

  test("takes exactly what fits, counted as the platform counts", async () => {
    await withChat(async ({ channel, server }) => {
      const text = "😀".repeat(2_048);
      await channel.send(textPart(`<b>${text}</b>`), never);
      expect(server.sent(7)[0]?.text).toBe(text);
      expect((await errorOf(channel.send(textPart(`${text}.`), never))).kind).toBe("refused");
    });
  });

  test("gives up on a platform that does not answer", async () => {
    const fixture = await createFixture();
    const { channel, server } = fixture;
    server.meet(7);
    server.fail("sendMessage", "hang");
    let error: unknown;
    const sending = channel.send(textPart("hi"), never).catch((thrown: unknown) => {
      error = thrown;
    });
    await server.called("sendMessage", 1);
    await fixture.clock.advance(30_000);
    await sending;
    expect((error as SendError).kind).toBe("down");
    await until(() => server.open === 0);
    await fixture.close();
  });
});

describe("send() with buttons", () => {
  test("shows them in their rows; a press says what its button says", async () => {
    const fixture = await createFixture();
    const { channel, server, emitted } = fixture;
    server.meet(7);
    await fixture.start();
    const long = "a label that is longer than what fits into the data of a button, by far";
    const emoji = "👍".repeat(16);
    await channel.send(
      textPart("Choose", {
        buttons: [
          [
            { label: "Yes", send: "/approve ABCD" },
            { label: "No", send: "no" },
          ],
          [{ label: long, send: long }],
          [{ label: "Thumbs", send: emoji }],
          [{ label: "Blank", send: "" }],
        ],
      }),
      never,
    );
    expect(server.sent(7)[0]?.buttons).toEqual([["Yes", "No"], [long], ["Thumbs"], ["Blank"]]);
    for (const label of ["No", long, "Thumbs", "Blank", "Yes"]) server.press(7, label);
    await until(() => emitted.length === 5);
    expect(new Set(emitted.map(({ content }) => content))).toEqual(
      new Set(["no", long, emoji, "Blank", "/approve ABCD"]),
    );
    await fixture.close();
  });

  test("lets what is longer than a button's data be copied, never cut off", async () => {
    await withChat(async ({ channel, server }) => {
      const long = `Please ${"do this ".repeat(12)}now`;
      const longer = "x".repeat(300);
      const buttons = [
        [
          { label: "Do it", send: long },
          { label: "Longer", send: longer },
        ],
      ];
      await channel.send(textPart("Choose", { buttons }), never);
      const { fields } = server.calls[0] ?? {};
      expect(fields?.["reply_markup"]).toEqual({
        inline_keyboard: [
          [
            { text: "Do it", copy_text: { text: long } },
            { text: "Longer", callback_data: "\u20600.1" },
          ],
        ],
      });
    });
  });

  test("gives every button a label that can be seen", async () => {
    await withChat(async ({ channel, server }) => {
      const labels = [
        { label: "\u200b", send: "yes" },
        { label: " ", send: "\u2060" },
        { label: "a\ud83d", send: "no" },
      ];
      await channel.send(textPart("Choose", { buttons: [labels] }), never);
      expect(server.sent(7)[0]?.buttons).toEqual([["yes", "…", "a\ufffd"]]);
    });
  });

  test("says and changes what stands above buttons that Telegram does not take", async () => {
    await withChat(async ({ channel, server }) => {
      const buttons = [[{ label: "Yes", send: "yes" }]];
      const refused = { code: 400, description: "Bad Request: reply markup is too long" };
      server.fail("sendMessage", refused);
      const id = await channel.send(textPart("Choose", { buttons }), never);
      expect(server.sent(7)).toMatchObject([{ text: "Choose", buttons: [] }]);
      server.fail("editMessageText", refused);
      await channel.edit?.(id, textPart("Choose now", { buttons }), never);
      expect(server.sent(7)).toMatchObject([{ text: "Choose now", buttons: [] }]);
    });
  });

  test("tells somebody who presses a button that tells nothing any more", async () => {
    const fixture = await createFixture();
    const { server, emitted } = fixture;
    await fixture.start();
    const message = { message_id: 5, date: 0, chat: { id: 7, type: "private" } };
    const from = { id: 7, is_bot: false, first_name: "Bob" };
    server.update("callback_query", { id: "1", from, message, chat_instance: "7", data: "\u20600.1" }, 7);
    await server.called("answerCallbackQuery", 1);
    const answer = server.calls.find(({ method }) => method === "answerCallbackQuery");
    expect(answer?.fields["text"]).toContain("too old");
    expect(emitted).toEqual([]);
    await fixture.close();
  });
});

describe("edit()", () => {
  test("changes the text, resolves when it is the same, and says when the message is gone", async () => {
    await withChat(async ({ channel, server }) => {
      const id = await channel.send(textPart("one"), never);
      await channel.edit?.(id, textPart("<b>two</b>"), never);
      await channel.edit?.(id, textPart("<b>two</b>"), never);
      expect(server.sent(7).map(({ text, edits }) => [text, edits])).toEqual([["two", 1]]);
      expect((await errorOf(channel.edit?.("99", textPart("x"), never))).kind).toBe("gone");
      expect((await errorOf(channel.edit?.(id, textPart("<b>x"), never))).kind).toBe("markup");
      const { messageId } = server.say(7, "mine");
      expect((await errorOf(channel.edit?.(`${messageId}`, textPart("x"), never))).kind).toBe("gone");
    });
  });

  test("is offered at the interval that is set, or not at all", async () => {
    const slow = await createFixture({ config: { streamEditInterval: 1.5 } });
    expect(slow.channel.streaming).toEqual({ intervalMs: 1_500 });
    const never = await createFixture({ config: { streaming: false } });
    expect(never.channel.streaming).toBeUndefined();
    await Promise.all([slow.close(), never.close()]);
  });
});

describe("send() with a file", () => {
  test("sends each as what it is, whole, under its name", async () => {
    await withChat(async ({ channel, server, workspace }) => {
      const cases = [
        ["image/png", PNG, "photo"],
        ["image/jpeg", JPEG, "photo"],
        ["image/gif", Buffer.from("GIF89a"), "animation"],
        ["audio/ogg", Buffer.from("OggS"), "voice"],
        ["audio/mpeg", Buffer.from("ID3"), "audio"],
        ["video/mp4", Buffer.from("ftyp"), "video"],
        ["application/pdf", Buffer.from("%PDF-\r\n\r\n--x"), "document"],
        ["text/plain", Buffer.from("ü"), "document"],
      ] as const;
      for (const [index, [mime, bytes]] of cases.entries()) {
        const path = join(workspace, `file-${index}`);
        writeFileSync(path, bytes);
        await channel.send(mediaPart(path, mime, { name: index % 2 === 0 ? `Ü; "${index}".x` : "" }), never);
      }
      const sent = server.sent(7).map(({ media }) => media);
      expect(sent.map((media) => media?.kind)).toEqual(cases.map(([, , kind]) => kind));
      expect(sent.map((media) => Buffer.from(media?.bytes ?? []))).toEqual(cases.map(([, bytes]) => bytes));
      expect(sent[0]?.name).toBe("Ü_ _0_.x");
      expect(sent[1]?.name).toBe("file-1");
    });
  });

  test("sends a large photo as a document, also one whose shape Telegram does not take", async () => {
    await withChat(async ({ channel, server, workspace }) => {
      const large = join(workspace, "large.png");
      writeFileSync(large, pngOf(10 * MB + 1));
      await channel.send(mediaPart(large, "image/png"), never);
      const wide = join(workspace, "wide.png");
      writeFileSync(wide, PNG);
      server.fail("sendPhoto", { code: 400, description: "Bad Request: PHOTO_INVALID_DIMENSIONS" });
      await channel.send(mediaPart(wide, "image/png"), never);
      expect(server.sent(7).map(({ media }) => media?.kind)).toEqual(["document", "document"]);
      expect(server.sent(7)[0]?.media?.bytes).toHaveLength(10 * MB + 1);
    });
  });

  test("sends a voice message as a document to who takes none", async () => {
    await withChat(async ({ channel, server, workspace }) => {
      const voice = join(workspace, "voice.ogg");
      writeFileSync(voice, "OggS");
      server.fail("sendVoice", { code: 400, description: "Bad Request: VOICE_MESSAGES_FORBIDDEN" });
      await channel.send(mediaPart(voice, "audio/ogg"), never);
      expect(server.sent(7).map(({ media }) => media?.kind)).toEqual(["document"]);
    });
  });

  test("refuses what is too large, empty or gone, and says which", async () => {
    await withChat(async ({ channel, server, workspace }) => {
      const path = join(workspace, "film.mp4");
      writeFileSync(path, "");
      const message = async () => {
        const { kind, message: text } = await errorOf(channel.send(mediaPart(path, "video/mp4"), never));
        expect(kind).toBe("refused");
        return text;
      };
      expect(await message()).toBe('The file "film.mp4" is empty');
      truncateSync(path, 50 * MB + 1);
      expect(await message()).toBe('The file "film.mp4" is larger than 50 MB, the most that a bot can send');
      const gone = mediaPart(join(workspace, "gone.txt"), "text/plain");
      expect((await errorOf(channel.send(gone, never))).message).toBe(
        'The file "gone.txt" is not there any more',
      );
      expect(server.calls).toEqual([]);
    });
  });
});

describe("check()", () => {
  test("tells the bot's name and id without receiving", async () => {
    await withChat(async ({ channel, server }) => {
      expect(await channel.check?.(never)).toBe(`@ourbot (id ${server.bot.id})`);
      expect(server.calls.map(({ method }) => method)).toEqual(["getMe"]);
      server.revokeToken();
      expect((await errorOf(channel.check?.(never))).kind).toBe("unauthorized");
    });
  });
});

describe("the log", () => {
  test("never holds the token, whatever goes wrong", async () => {
    const fixture = await createFixture();
    const { server, log, reports } = fixture;
    await fixture.start();
    server.fail("*", "drop", { status: 500, body: "x" }, { code: 500, description: "x" }, "drop");
    server.say(7, { document: server.file(Buffer.from("x"), "a.txt") });
    await passUntil(fixture, () => fixture.emitted.length === 1);
    const told = [...log.lines, ...reports.map(({ detail = "" }) => detail)].join("\n");
    expect(told).not.toContain(server.token);
    expect(told).not.toContain(server.token.split(":")[1] ?? "");
    await fixture.close();
  });
});
