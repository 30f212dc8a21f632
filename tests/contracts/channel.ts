/**
 * What every channel must do, whatever its platform. `channelContract` looks at a channel from inside;
 * `conversationContract` knows only what people say and see, so that it holds for a running program too.
 */

import { describe, expect, test } from "bun:test";
import {
  type Channel,
  type ChannelCapabilities,
  type ChannelContext,
  type ChannelDefinition,
  type OutboundPart,
  SendError,
} from "../../src/core/channel.ts";
import type { InboundMessage, Origin } from "../../src/core/messages.ts";
import { outboundFinal } from "../fakes/messages.ts";
import { until } from "../fakes/until.ts";

export type ChannelPorts = Pick<ChannelContext, "admit" | "emit" | "heard" | "report">;

/** An event of the platform, as its fake knows it. */
type PlatformEvent = number | string;

/** The platform, as far as a test of one channel needs it. */
export interface ChannelPlatform {
  /** Of a private chat with somebody. */
  readonly chatId: string;
  say(text: string): PlatformEvent;
  /** The same by somebody who does not know the secret, where that is what lets people in. */
  sayWithoutSecret?(text: string): PlatformEvent;
  /** Hands the event out again, as after an acknowledgement that was lost. */
  again(event: PlatformEvent): void;
  /** Whether the platform was told that the event is safe. */
  isAcknowledged(event: PlatformEvent): boolean;
  /** What the channel shows in the chat, in order. */
  shown(): readonly string[];
  /** The next message is not taken, for this reason; kinds that the platform does not know are left out. */
  readonly refusals: Partial<Record<SendError["kind"], () => void>>;
  /** The next message is answered by nobody. Resolves when it waits for that. */
  hang(): Promise<void>;
  /** Requests of the channel that are open. */
  open(): number;
  /** Lets that much time pass for the channel. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface ChannelSubject {
  readonly channel: Channel;
  readonly capabilities: ChannelCapabilities;
  /** Nothing that is shown or reported may hold one. */
  readonly secrets: readonly string[];
  readonly platform: ChannelPlatform;
  /** What was said, in a message that holds more than that. */
  saidIn?(message: InboundMessage): string;
}

export interface ChannelNature {
  readonly permission?: ChannelDefinition["admits"];
  /** Of what people say. */
  readonly origin?: Origin;
  /** Why `send` never waits for the platform. */
  readonly sendsAtOnce?: string;
}

export type MakeChannel = (ports: ChannelPorts) => Promise<ChannelSubject>;

interface Opened extends ChannelSubject {
  saidIn(message: InboundMessage): string;
  readonly emitted: InboundMessage[];
  readonly reports: { isConnected: boolean; detail?: string }[];
  readonly heard: () => number;
  start(): Promise<void>;
  readonly ended: () => Promise<void>;
  finish(): Promise<void>;
}

async function open(make: MakeChannel, ports: Partial<ChannelPorts> = {}): Promise<Opened> {
  const emitted: InboundMessage[] = [];
  const reports: { isConnected: boolean; detail?: string }[] = [];
  let heard = 0;
  const subject = await make({
    admit: ports.admit ?? (async () => true),
    async emit(message, signal) {
      const isNew = ports.emit
        ? await ports.emit(message, signal)
        : emitted.every(({ id }) => id !== message.id);
      emitted.push(message);
      return isNew;
    },
    heard: () => void heard++,
    report: (state) => void reports.push(state),
  });
  let ending = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  return {
    saidIn: ({ content }) => content,
    ...subject,
    emitted,
    reports,
    heard: () => heard,
    async start() {
      ending = new AbortController();
      reports.length = 0;
      ended = subject.channel.start(ending.signal);
      ended.catch(() => {});
      await until(() => reports.at(-1)?.isConnected === true);
    },
    ended: () => ended,
    async finish() {
      ending.abort(new Error("The test is over"));
      await subject.channel.stop();
      await ended;
      await subject.platform.close();
    },
  };
}

const never = new AbortController().signal;

/** Loopback has had time to bring whatever would come. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function part(platform: ChannelPlatform, text: string, key = "part-0"): OutboundPart {
  const { chatId } = platform;
  const message = outboundFinal({ chatId, content: text });
  return { message, index: 0, key, chatId, content: { kind: "text", text, isPlain: true } };
}

/** A part of the contract, or why it cannot apply to a channel. */
function applies(title: string, reason: string | undefined, body: () => Promise<void>): void {
  if (reason === undefined) test(title, body);
  else test.skip(`${title}: ${reason}`, body);
}

export function channelContract(
  name: string,
  make: MakeChannel,
  { permission = "senders", origin = "chat", sendsAtOnce }: ChannelNature = {},
): void {
  const asksNobody = permission === "secret" ? "whoever knows the secret is listened to" : undefined;

  describe(`${name}, as a channel`, () => {
    test("start() reports that it is connected, and that it heard from the platform", async () => {
      const { start, heard, finish, platform, emitted } = await open(make);
      await start();
      platform.say("hello");
      await until(() => emitted.length === 1);
      expect(heard()).toBeGreaterThan(0);
      await finish();
    });

    test("start() emits what is said, with everything that the agent needs", async () => {
      const { start, finish, platform, emitted, saidIn } = await open(make);
      await start();
      platform.say("What time is it?");
      await until(() => emitted.length === 1);
      const [message] = emitted;
      expect(message).toMatchObject({ kind: "message", chatId: platform.chatId, media: [], origin });
      expect(message && saidIn(message)).toBe("What time is it?");
      expect(message?.id).toStartWith(`${message?.channel}:`);
      expect(message?.sessionKey).toStartWith(`${message?.channel}:${platform.chatId}`);
      expect(message?.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(message?.senderId).not.toBe("");
      await finish();
    });

    test("start() emits in the order of the chat, and each event under an id of its own", async () => {
      const { start, finish, platform, emitted, saidIn } = await open(make);
      await start();
      const said = ["one", "two", "three", "four"];
      for (const text of said) platform.say(text);
      await until(() => emitted.length === said.length);
      expect(emitted.map(saidIn)).toEqual(said);
      expect(new Set(emitted.map(({ id }) => id)).size).toBe(said.length);
      await finish();
    });

    test("start() emits what was said while it was away", async () => {
      const { start, finish, platform, emitted, saidIn } = await open(make);
      platform.say("Are you there?");
      await start();
      await until(() => emitted.length === 1);
      expect(emitted.map(saidIn)).toEqual(["Are you there?"]);
      await finish();
    });

    test("start() emits an event that comes again under the same id, and acknowledges it", async () => {
      const { start, finish, platform, emitted } = await open(make);
      await start();
      const event = platform.say("once");
      await until(() => platform.isAcknowledged(event));
      platform.again(event);
      await until(() => platform.isAcknowledged(event));
      await quiet();
      expect(new Set(emitted.map(({ id }) => id)).size).toBe(1);
      await finish();
    });

    test("start() acknowledges nothing that could not be emitted, and emits it when it comes again", async () => {
      let isBroken = true;
      const attempts: string[] = [];
      const { start, finish, platform } = await open(make, {
        async emit({ id }) {
          attempts.push(id);
          if (isBroken) throw new Error("the disk is full");
          return true;
        },
      });
      await start();
      const event = platform.say("keep me");
      await until(() => attempts.length > 0);
      await quiet();
      expect(platform.isAcknowledged(event)).toBe(false);
      isBroken = false;
      await platform.pass(2_000);
      await until(() => platform.isAcknowledged(event));
      expect(new Set(attempts).size).toBe(1);
      await finish();
    });

    test("start() gives up on an emit that waits too long, and the event comes again", async () => {
      let attempts = 0;
      const { start, finish, platform } = await open(make, {
        async emit(_, signal) {
          if (++attempts > 1) return true;
          return new Promise((_, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason), { once: true });
          });
        },
      });
      await start();
      const event = platform.say("patience");
      await until(() => attempts === 1);
      await platform.pass(5_000);
      await quiet();
      await platform.pass(2_000);
      await until(() => platform.isAcknowledged(event));
      expect(attempts).toBe(2);
      await finish();
    });

    applies(
      "start() emits nothing of somebody who is not listened to, and shows nothing",
      asksNobody,
      async () => {
        const { start, finish, platform, emitted } = await open(make, { admit: async () => false });
        await start();
        const event = platform.say("let me in");
        await until(() => platform.isAcknowledged(event));
        await quiet();
        expect(emitted).toEqual([]);
        expect(platform.shown()).toEqual([]);
        await finish();
      },
    );

    applies("start() acknowledges nothing when nobody can tell who is listened to", asksNobody, async () => {
      let asked = 0;
      const { start, finish, platform, emitted } = await open(make, {
        async admit() {
          if (++asked === 1) throw new Error("the file cannot be read");
          return true;
        },
      });
      await start();
      const event = platform.say("and me?");
      await until(() => asked === 1);
      await quiet();
      expect(emitted).toEqual([]);
      await platform.pass(2_000);
      await until(() => platform.isAcknowledged(event));
      expect(emitted).toHaveLength(1);
      await finish();
    });

    if (permission === "secret") {
      test("start() takes nothing of somebody without the secret, and asks nobody", async () => {
        const { start, finish, platform, emitted, saidIn } = await open(make, {
          admit: async () => Promise.reject(new Error("nobody is to be asked")),
        });
        await start();
        const event = platform.sayWithoutSecret?.("let me in") ?? "";
        await quiet();
        expect(platform.isAcknowledged(event)).toBe(false);
        expect(platform.shown()).toEqual([]);
        platform.say("hello");
        await until(() => emitted.length === 1);
        expect(emitted.map(saidIn)).toEqual(["hello"]);
        await finish();
      });
    }

    test("send() shows the text and resolves to what the platform calls it", async () => {
      const { channel, capabilities, start, finish, platform } = await open(make);
      platform.say("hello");
      await start();
      const first = await channel.send(part(platform, "one & <two>"), never);
      const second = await channel.send(part(platform, "three", "part-1"), never);
      expect(platform.shown()).toEqual(["one & <two>", "three"]);
      if (capabilities.edits) expect([first, second]).not.toContain("");
      if (capabilities.edits) expect(first).not.toBe(second);
      await finish();
    });

    test("send() shows a part once where the platform knows keys", async () => {
      const { channel, capabilities, start, finish, platform } = await open(make);
      platform.say("hello");
      await start();
      await channel.send(part(platform, "once"), never);
      await channel.send(part(platform, "once"), never);
      expect(platform.shown()).toHaveLength(capabilities.idempotencyKey ? 1 : 2);
      await finish();
    });

    test("edit() changes what was sent, and resolves when there is nothing to change", async () => {
      const { channel, capabilities, start, finish, platform } = await open(make);
      expect(channel.edit !== undefined).toBe(capabilities.edits);
      platform.say("hello");
      await start();
      const id = await channel.send(part(platform, "draft"), never);
      await channel.edit?.(id, part(platform, "final"), never);
      await channel.edit?.(id, part(platform, "final"), never);
      expect(platform.shown()).toEqual([capabilities.edits ? "final" : "draft"]);
      await finish();
    });

    test("send() rejects with a SendError of the kind that the platform means, without a secret", async () => {
      const { channel, start, finish, platform, secrets } = await open(make);
      platform.say("hello");
      await start();
      for (const [kind, refuse] of Object.entries(platform.refusals)) {
        refuse();
        const error = await channel.send(part(platform, "hi"), never).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(SendError);
        const { kind: told, message, retryAfterMs } = error as SendError;
        expect(told as string).toBe(kind);
        if (kind === "slowDown") expect(retryAfterMs).toBeGreaterThan(0);
        for (const secret of secrets) expect(message).not.toContain(secret);
      }
      expect(platform.shown()).toEqual([]);
      await finish();
    });

    applies("send() rejects with the signal's reason and leaves no request behind", sendsAtOnce, async () => {
      const { channel, start, finish, platform } = await open(make);
      platform.say("hello");
      await start();
      const hanging = platform.hang();
      const abort = new AbortController();
      const sending = channel.send(part(platform, "hi"), abort.signal).catch((thrown: unknown) => thrown);
      await hanging;
      const reason = new Error("enough");
      abort.abort(reason);
      expect(await sending).toBe(reason);
      await channel.stop();
      await until(() => platform.open() === 0);
      await finish();
    });

    test("stop() ends what start() does, leaves no request open, and can be called again", async () => {
      const { channel, start, ended, finish, platform } = await open(make);
      await channel.stop();
      await start();
      await channel.stop();
      await channel.stop();
      await ended();
      await until(() => platform.open() === 0);
      await finish();
    });

    test("start() resolves when its signal aborts", async () => {
      const { start, ended, finish } = await open(make);
      await start();
      await finish();
      expect(await ended()).toBeUndefined();
    });

    test("start() works again after stop(), and nothing is lost between", async () => {
      const { channel, start, finish, platform, emitted, saidIn } = await open(make);
      await start();
      platform.say("before");
      await until(() => emitted.length === 1);
      await channel.stop();
      platform.say("meanwhile");
      await start();
      platform.say("after");
      await until(() => new Set(emitted.map(({ id }) => id)).size === 3);
      const contents = [...new Map(emitted.map((message) => [message.id, saidIn(message)])).values()];
      expect(contents).toEqual(["before", "meanwhile", "after"]);
      await finish();
    });

    test("check() tells whose credentials these are", async () => {
      const { channel, finish, secrets } = await open(make);
      const told = await channel.check?.(never);
      expect(told).not.toBe("");
      for (const secret of secrets) expect(told ?? "").not.toContain(secret);
      await finish();
    });
  });
}

/** People at a platform, and what they see. The agent answers `echo: ` and the text. */
export interface Conversation {
  /** Somebody who is listened to says something. The same chat number is the same private chat. */
  say(chat: number, text: string): PlatformEvent;
  /** Somebody who is not. */
  sayAsStranger(text: string): PlatformEvent;
  again(event: PlatformEvent): void;
  isAcknowledged(event: PlatformEvent): boolean;
  shown(chat: number): readonly string[];
  shownToStranger(): readonly string[];
  /** The next messages of the agent are not taken for a moment. */
  trouble(): void;
  /** Ends the program in the orderly way, and begins it again with what it left on disk. */
  restart(whileAway: () => void): Promise<void>;
  /** Resolves when `condition` holds; time passes until then. */
  eventually(condition: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export function conversationContract(name: string, begin: () => Promise<Conversation>): void {
  describe(`${name}, in conversation`, () => {
    test("say() is answered once, in its chat", async () => {
      const world = await begin();
      world.say(1, "hello");
      world.say(2, "good day");
      await world.eventually(() => world.shown(1).length > 0 && world.shown(2).length > 0);
      expect(world.shown(1)).toEqual(["echo: hello"]);
      expect(world.shown(2)).toEqual(["echo: good day"]);
      await world.close();
    });

    test("say() is answered in order", async () => {
      const world = await begin();
      for (const text of ["one", "two", "three"]) {
        world.say(1, text);
        await world.eventually(() => world.shown(1).includes(`echo: ${text}`));
      }
      expect(world.shown(1)).toEqual(["echo: one", "echo: two", "echo: three"]);
      await world.close();
    });

    test("again() is answered no second time", async () => {
      const world = await begin();
      const event = world.say(1, "hello");
      await world.eventually(() => world.isAcknowledged(event) && world.shown(1).length === 1);
      world.again(event);
      await world.eventually(() => world.isAcknowledged(event));
      world.say(1, "goodbye");
      await world.eventually(() => world.shown(1).includes("echo: goodbye"));
      expect(world.shown(1)).toEqual(["echo: hello", "echo: goodbye"]);
      await world.close();
    });

    test("sayAsStranger() leads to no answer", async () => {
      const world = await begin();
      const event = world.sayAsStranger("let me in");
      await world.eventually(() => world.isAcknowledged(event));
      world.say(1, "hello");
      await world.eventually(() => world.shown(1).length === 1);
      expect(world.shownToStranger().join("\n")).not.toContain("echo:");
      await world.close();
    });

    test("trouble() of the platform loses no answer", async () => {
      const world = await begin();
      world.say(1, "hello");
      await world.eventually(() => world.shown(1).length === 1);
      world.trouble();
      world.say(1, "are you there?");
      await world.eventually(() => world.shown(1).includes("echo: are you there?"));
      expect(world.shown(1)).toEqual(["echo: hello", "echo: are you there?"]);
      await world.close();
    });

    test("restart() loses nothing that was said meanwhile, and repeats nothing", async () => {
      const world = await begin();
      world.say(1, "before");
      await world.eventually(() => world.shown(1).length === 1);
      await world.restart(() => world.say(1, "meanwhile"));
      await world.eventually(() => world.shown(1).includes("echo: meanwhile"));
      expect(world.shown(1)).toEqual(["echo: before", "echo: meanwhile"]);
      await world.close();
    });
  });
}
