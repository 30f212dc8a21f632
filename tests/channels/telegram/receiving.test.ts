import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Message } from "grammy/types";
import { isMeant } from "../../../src/channels/telegram/addressed.ts";
import { contentOf } from "../../../src/channels/telegram/content.ts";
import { until } from "../../fakes/until.ts";
import { createFixture, type Fixture, type FixtureOptions, textPart } from "./fixture.ts";

const GROUP = -100;
const ALICE = { id: 1001, is_bot: false, first_name: "Alice", last_name: "Smith", username: "alice" };
const never = new AbortController().signal;

/** The door of a group in which only those are heard who mean the bot. */
const onlyMeant: FixtureOptions["ports"] = {
  admit: async ({ isPrivate, isAddressed }) => isPrivate || isAddressed,
};

async function withChannel(
  options: FixtureOptions,
  work: (fixture: Fixture) => Promise<void>,
): Promise<Fixture> {
  const fixture = await createFixture(options);
  await fixture.start();
  await work(fixture);
  await fixture.close();
  return fixture;
}

/** Says all of it in order and resolves when all was taken or left. */
async function hear(
  said: readonly { chat?: number; what: string | Readonly<Record<string, unknown>> }[],
  options: FixtureOptions = {},
): Promise<Fixture> {
  return withChannel(options, async ({ server }) => {
    for (const { chat = GROUP, what } of said) server.say(chat, what);
    await until(() => server.updates.waiting.length === 0);
  });
}

const contents = ({ emitted }: Fixture) => emitted.map(({ content }) => content);

describe("start() in a group", () => {
  test("takes what mentions the bot in text or caption, whatever the case, and nothing else", async () => {
    const { server: _, ...fixture } = await hear(
      [
        { what: { photo: [{ file_id: "none", file_unique_id: "n", width: 1, height: 1 }] } },
        { what: { sticker: { emoji: "😀", file_id: "s", file_unique_id: "s" } } },
        { what: { caption: "@ourbot what is this", location: { latitude: 1, longitude: 2 } } },
        { what: "@OurBot are you there" },
        { what: "hey @OURBOT" },
        { what: "@ourbot2 what is this" },
        { what: "mail me at me@ourbot.example" },
        { what: "ourbot is nice" },
        { what: { text: "@ourbot", entities: [] } },
      ],
      { ports: onlyMeant },
    );
    expect(fixture.emitted.map(({ content }) => content)).toEqual([
      "what is this\n[location 1,2]",
      "are you there",
      "hey @OURBOT",
    ]);
  });

  test("finds a mention behind characters of two code units", async () => {
    const text = "👩‍👩‍👧‍👦𝔘𝔫 @ourbot hi";
    const entities = [{ type: "mention", offset: text.indexOf("@"), length: 7 }];
    const fixture = await hear([{ what: { text, entities } }], { ports: onlyMeant });
    expect(contents(fixture)).toEqual([text]);
  });

  test("takes what answers the bot, names it without a username, or commands it", async () => {
    const fixture = await withChannel({ ports: onlyMeant }, async ({ server, channel }) => {
      server.meet(GROUP);
      await channel.send(textPart("I am here", { chatId: GROUP }), never);
      const mine = { message_id: 1, date: 1, chat: { id: GROUP, type: "supergroup" }, text: "I am here" };
      server.say(GROUP, { text: "good", reply_to_message: { ...mine, from: server.bot } });
      server.say(GROUP, { text: "and you", reply_to_message: { ...mine, from: ALICE } });
      server.say(GROUP, {
        text: "Our bot, please",
        entities: [{ type: "text_mention", offset: 0, length: 7, user: { ...server.bot, is_bot: true } }],
      });
      server.say(GROUP, {
        text: "Alice, please",
        entities: [{ type: "text_mention", offset: 0, length: 5, user: ALICE }],
      });
      server.say(GROUP, "/status@ourbot");
      server.say(GROUP, "/STATUS@OURBOT now");
      server.say(GROUP, "/status");
      await until(() => server.updates.waiting.length === 0);
    });
    expect(contents(fixture)).toEqual([
      '[In reply to your message: "I am here"]\ngood',
      "please",
      "/status@ourbot",
      "/STATUS@OURBOT now",
    ]);
  });

  test("leaves commands for other bots, other bots, channels, edits and what the group itself says", async () => {
    const fixture = await withChannel({}, async ({ server }) => {
      server.say(GROUP, "/start@otherbot");
      server.say(7, "/start@ourbot2");
      server.say(GROUP, { text: "@ourbot beep", from: { ...ALICE, is_bot: true } });
      server.say(GROUP, { text: "@ourbot hi", sender_chat: { id: -5, type: "channel", title: "News" } });
      server.say(GROUP, { text: "@ourbot hi", is_automatic_forward: true });
      server.say(GROUP, { new_chat_members: [ALICE] });
      server.say(GROUP, { pinned_message: { message_id: 1 } });
      server.update("edited_message", { message_id: 1, text: "edited" }, GROUP);
      server.update("channel_post", { message_id: 1, text: "post" }, GROUP);
      server.say(GROUP, "/start@otherbot or rather @ourbot");
      await until(() => server.updates.waiting.length === 0);
    });
    expect(contents(fixture)).toEqual(["/start@otherbot or rather @ourbot"]);
  });

  test("makes a mention in front of a command no obstacle", async () => {
    const fixture = await hear([{ what: "@ourbot, /status" }, { what: "@ourbot" }]);
    expect(contents(fixture)).toEqual(["/status", "@ourbot"]);
  });
});

describe("start() tells of the sender", () => {
  test("both ids, the chat, and whether it is private and addressed", async () => {
    const { senders } = await hear([
      { chat: 7, what: { text: "hi", from: { ...ALICE, id: 7, username: "Alice_W" } } },
      { chat: 8, what: { text: "hi", from: { id: 8, is_bot: false, first_name: "Bob" } } },
      { what: "not for you" },
    ]);
    expect(senders).toEqual([
      {
        senderId: "7|Alice_W",
        chatId: "7",
        isPrivate: true,
        isAddressed: true,
        eventId: "telegram:update:100",
        displayName: "Alice Smith",
      },
      {
        senderId: "8",
        chatId: "8",
        isPrivate: true,
        isAddressed: true,
        eventId: "telegram:update:101",
        displayName: "Bob",
      },
      expect.objectContaining({ senderId: "1001|alice", isPrivate: false, isAddressed: false }),
    ]);
  });

  test("and fetches nothing of somebody who is not listened to", async () => {
    const fixture = await withChannel({ ports: { admit: async () => false } }, async ({ server }) => {
      const file = server.file(new Uint8Array([1, 2, 3]), "a.bin");
      server.say(7, { document: file, caption: "open this" });
      await until(() => server.updates.waiting.length === 0);
    });
    expect(fixture.emitted).toEqual([]);
    const methods = fixture.server.calls.map(({ method }) => method);
    for (const method of ["getFile", "download", "sendMessage", "setMessageReaction"]) {
      expect(methods).not.toContain(method);
    }
  });
});

describe("start() keeps topics apart", () => {
  test("and nothing else that has a thread's number", async () => {
    const { emitted } = await hear([
      { what: { text: "in a topic", message_thread_id: 5, is_topic_message: true } },
      { what: { text: "in a chain of replies", message_thread_id: 9 } },
      { chat: 7, what: { text: "in private", message_thread_id: 3, is_topic_message: true } },
    ]);
    const sessions = new Map(emitted.map(({ content, ...rest }) => [content, rest]));
    expect(sessions.get("in a topic")).toMatchObject({ sessionKey: "telegram:-100:topic:5", thread: "5" });
    expect(sessions.get("in a chain of replies")).toMatchObject({ sessionKey: "telegram:-100" });
    expect(sessions.get("in a chain of replies")?.thread).toBeUndefined();
    expect(sessions.get("in private")).toMatchObject({ sessionKey: "telegram:7:topic:3", thread: "3" });
  });

  test("whose first message is no message that is answered", async () => {
    const beginning = { message_id: 5, date: 1, chat: { id: GROUP }, forum_topic_created: { name: "News" } };
    const fixture = await withChannel({ ports: onlyMeant }, async ({ server }) => {
      const reply_to_message = { ...beginning, from: server.bot };
      const topic = { message_thread_id: 5, is_topic_message: true, reply_to_message };
      server.say(GROUP, { text: "hello all", ...topic });
      server.say(GROUP, { text: "@ourbot hello", ...topic });
      await until(() => server.updates.waiting.length === 0);
    });
    expect(contents(fixture)).toEqual(["hello"]);
  });
});

describe("start() puts context into words", () => {
  const chat = { id: 7, type: "private" };
  const of = (from: object, text: string) => ({ message_id: 1, date: 1, chat, from, text });

  test("what is answered, and by whom it was said", async () => {
    const fixture = await hear([
      { chat: 7, what: { text: "why?", reply_to_message: of(ALICE, 'line one\nline "two"') } },
      { chat: 7, what: { text: "why?", reply_to_message: of(ALICE, "all of it"), quote: { text: "of it" } } },
      {
        chat: 7,
        what: {
          text: "and this?",
          external_reply: { origin: { type: "channel", chat: { title: "News" } } },
          quote: { text: "hot" },
        },
      },
      { chat: 7, what: { text: "what?", reply_to_message: { ...of(ALICE, ""), sticker: { emoji: "🎩" } } } },
    ]);
    expect(contents(fixture)).toEqual([
      '[In reply to a message of Alice Smith (@alice): "line one line \\"two\\""]\nwhy?',
      '[In reply to a message of Alice Smith (@alice): "of it"]\nwhy?',
      '[In reply to a message of News: "hot"]\nand this?',
      '[In reply to a message of Alice Smith (@alice): "[sticker 🎩]"]\nwhat?',
    ]);
  });

  test("and leaves a command that answers something a command", async () => {
    const fixture = await hear([
      { chat: 7, what: { text: "/approve AB", reply_to_message: of(ALICE, "x") } },
    ]);
    expect(contents(fixture)).toEqual(["/approve AB"]);
  });

  test("where something was forwarded from", async () => {
    const from = (forward_origin: object) => ({ chat: 7, what: { text: "look", forward_origin } });
    const fixture = await hear([
      from({ type: "user", sender_user: ALICE }),
      from({ type: "hidden_user", sender_user_name: "Somebody" }),
      from({ type: "chat", sender_chat: { id: 1, type: "group", title: "Team" } }),
      from({ type: "channel", chat: { id: 1, type: "channel", title: "News" } }),
      from({ type: "what is not known yet" }),
    ]);
    const names = ["Alice Smith (@alice)", "Somebody", "Team", "News", "somebody"];
    expect(contents(fixture)).toEqual(names.map((name) => `[Forwarded from ${name}]\nlook`));
  });

  test("what is neither text nor file, and addresses behind words", async () => {
    const fixture = await hear([
      { chat: 7, what: { sticker: { emoji: "😀", file_id: "s" } } },
      { chat: 7, what: { location: { latitude: 52.5, longitude: 13.4 } } },
      {
        chat: 7,
        what: {
          location: { latitude: 1, longitude: 2 },
          venue: { title: "Café", address: "Main St", location: { latitude: 1, longitude: 2 } },
        },
      },
      { chat: 7, what: { contact: { first_name: "Bob", last_name: "Ray", phone_number: "+491" } } },
      { chat: 7, what: { poll: { question: "Tea?", options: [{ text: "yes" }, { text: "no" }] } } },
      { chat: 7, what: { dice: { emoji: "🎲", value: 4 } } },
      {
        chat: 7,
        what: {
          checklist: {
            title: "Buy",
            tasks: [
              { id: 1, text: "milk" },
              { id: 2, text: "tea" },
            ],
          },
        },
      },
      { chat: 7, what: { story: { id: 1, chat: { id: 7, type: "private" } } } },
      { chat: 7, what: { paid_media: { star_count: 1, paid_media: [] } } },
      {
        chat: 7,
        what: {
          text: "see here and there",
          entities: [
            { type: "text_link", offset: 4, length: 4, url: "https://a.example/" },
            { type: "text_link", offset: 13, length: 5, url: "https://b.example/" },
          ],
        },
      },
    ]);
    expect(contents(fixture)).toEqual([
      "[sticker 😀]",
      "[location 52.5,13.4]",
      "[location 1,2: Café, Main St]",
      "[contact Bob Ray, +491]",
      '[poll "Tea?": "yes", "no"]',
      "[dice 🎲 4]",
      '[checklist "Buy": "milk", "tea"]',
      "[story]",
      "[paid media]",
      "see here (https://a.example/) and there (https://b.example/)",
    ]);
  });

  test("that stay on one bounded line whatever they hold", () => {
    const self = { id: 1, username: "ourbot" };
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 3_000 }),
        fc.string({ unit: "binary" }),
        (quoted, name) => {
          const reply = of({ ...ALICE, first_name: name }, quoted);
          const message = { ...of(ALICE, "end"), reply_to_message: reply } as unknown as Message;
          const content = contentOf([message], self);
          expect(content.isWellFormed()).toBe(true);
          expect(content.split("\n")).toHaveLength(2);
          expect(content.length).toBeLessThan(3_000);
        },
      ),
    );
  });
});

describe("isMeant()", () => {
  test("never throws and never goes by a text without marks", () => {
    const entity = fc.record({
      type: fc.constantFrom("mention", "bot_command", "bold", "url"),
      offset: fc.integer({ min: -5, max: 40 }),
      length: fc.integer({ min: -5, max: 40 }),
    });
    const self = { id: 1, username: "ourbot" };
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.array(entity), (before, entities) => {
        const text = `${before} @ourbot`;
        const message = { message_id: 1, date: 1, chat: { id: 1 }, text, entities } as unknown as Message;
        const expected = entities.some(({ type, offset, length }) => {
          const marked = text.slice(offset, offset + length).toLowerCase();
          if (type === "mention") return marked === "@ourbot";
          return type === "bot_command" && /@.*$/.exec(marked)?.[0] === "@ourbot";
        });
        expect(isMeant(message, self)).toBe(expected);
        expect(isMeant({ ...message, entities: [] }, self)).toBe(false);
      }),
    );
  });
});

describe("start()", () => {
  test("shows a receipt for what is new, and none for what came before", async () => {
    const fixture = await withChannel({}, async ({ server, emitted }) => {
      const { messageId, updateId = 0 } = server.say(7, "hello");
      await until(() => server.reactions(7, messageId).length > 0);
      expect(server.reactions(7, messageId)).toEqual(["👀"]);
      await until(() => server.updates.waiting.length === 0);
      server.updates.offerAgain([updateId]);
      server.say(7, "more");
      await until(() => emitted.length === 2 && server.updates.waiting.length === 0);
      await server.called("setMessageReaction", 2);
    });
    const reactions = fixture.server.calls.filter(({ method }) => method === "setMessageReaction");
    expect(reactions.map(({ fields }) => fields["message_id"])).toEqual([1, 2]);
  });

  test("does without receipts when they are turned off or refused", async () => {
    const off = await hear([{ chat: 7, what: "hello" }], { config: { reactEmoji: "" } });
    expect(off.server.calls.map(({ method }) => method)).not.toContain("setMessageReaction");
    const refused = await withChannel({ config: { reactEmoji: "🦖" } }, async ({ server, log }) => {
      server.say(7, "hello");
      await until(() => log.lines.some((line) => line.startsWith("debug Telegram did not take a reaction")));
    });
    expect(contents(refused)).toEqual(["hello"]);
  });

  test("says which message an answer should quote when it is told to", async () => {
    const quoting = await hear([{ chat: 7, what: "hello" }], { config: { replyToMessage: true } });
    expect(quoting.emitted[0]?.replyTo).toBe("1");
    const silent = await hear([{ chat: 7, what: "hello" }]);
    expect(silent.emitted[0]?.replyTo).toBeUndefined();
  });

  test("makes a press what the button says, by whoever pressed it", async () => {
    const fixture = await withChannel({}, async ({ server, channel, emitted }) => {
      server.say(GROUP, { text: "hi", message_thread_id: 5, is_topic_message: true });
      await until(() => emitted.length === 1);
      const buttons = [[{ label: "Yes", send: "/approve ABCD" }]];
      await channel.send(textPart("May I?", { chatId: GROUP, thread: "5", buttons }), never);
      server.press(GROUP, "Yes", { id: 9, is_bot: false, first_name: "Zoe", username: "zoe" });
      await until(() => emitted.length === 2);
      await server.called("answerCallbackQuery", 1);
    });
    expect(fixture.emitted[1]).toMatchObject({
      id: "telegram:update:101",
      content: "/approve ABCD",
      senderId: "9|zoe",
      sessionKey: "telegram:-100:topic:5",
      thread: "5",
    });
    expect(fixture.senders[1]).toMatchObject({ isAddressed: true, isPrivate: false });
  });

  test("answers no press of somebody who is not listened to", async () => {
    const fixture = await withChannel(
      { ports: { admit: async () => false } },
      async ({ server, channel }) => {
        server.meet(7);
        await channel.send(textPart("May I?", { buttons: [[{ label: "Yes", send: "yes" }]] }), never);
        server.press(7, "Yes");
        await until(() => server.updates.waiting.length === 0);
      },
    );
    expect(fixture.emitted).toEqual([]);
  });

  test("leaves what is in no form that it knows, and goes on", async () => {
    const fixture = await withChannel({}, async ({ server }) => {
      server.update("message", { message_id: 1 }, 7);
      server.update("message", { message_id: 1, date: -1, chat: { id: 7, type: "private" }, from: ALICE }, 7);
      server.say(7, { text: "x", entities: [null] });
      server.say(7, { photo: "no list" });
      server.say(7, { text: "y", reply_to_message: { from: { id: 5 }, text: "z" } });
      server.update("callback_query", { id: "1", from: ALICE, data: "x" }, 7);
      server.say(7, "still there?");
      await until(() => server.updates.waiting.length === 0);
    });
    expect(contents(fixture).at(-1)).toBe("still there?");
  });

  test("lists the commands for those who type one", async () => {
    const fixture = await withChannel({}, ({ server }) => server.called("setMyCommands", 1));
    const call = fixture.server.calls.find(({ method }) => method === "setMyCommands");
    const commands = (call?.fields["commands"] ?? []) as readonly { command: string }[];
    const names = commands.map(({ command }) => command);
    expect(names).toContain("new");
    expect(names).toContain("stop");
    expect(fixture.log.lines.join("\n")).not.toContain("list of commands");
  });
});
