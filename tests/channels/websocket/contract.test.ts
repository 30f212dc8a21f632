/** The channel contract, of a client that connects again when it was cut off, and says again what was not acknowledged. */

import { channel as definition } from "../../../src/channels/websocket/channel.ts";
import type { FileSystem } from "../../../src/core/platform.ts";
import { createFileSystem } from "../../../src/platform/files.ts";
import { type ChannelPorts, type ChannelSubject, channelContract } from "../../contracts/channel.ts";
import { type FakeClient, setUp, TOKEN } from "./fixture.ts";

const CHAT = "main";

/** A disk that is full for one write. */
function createDisk() {
  const files = createFileSystem();
  let isFull = false;
  const full: FileSystem = {
    ...files,
    async replace(...args) {
      if (!isFull) return files.replace(...args);
      isFull = false;
      throw new Error("no space left on device");
    },
  };
  return {
    files: full,
    fill() {
      isFull = true;
    },
  };
}

async function subject(ports: ChannelPorts): Promise<ChannelSubject> {
  const disk = createDisk();
  const { channel, clock, connect, knock } = await setUp({}, { files: disk.files, ports });
  /** What was said, by id, until it is acknowledged. */
  const waiting = new Map<string, string>();
  const clients: FakeClient[] = [];
  /** How often it was acknowledged before it was said again. */
  const earlier = new Map<string, number>();
  let events = 0;
  let connecting: Promise<FakeClient> | undefined;

  async function join(): Promise<FakeClient> {
    const client = await connect();
    clients.push(client);
    await client.ask({ type: "hello", chat: CHAT });
    return client;
  }

  async function deliver(id: string, content: string): Promise<void> {
    waiting.set(id, content);
    if (clients.at(-1)?.closed !== undefined) connecting = undefined;
    connecting ??= join();
    (await connecting).say({ type: "message", id, content });
  }

  const heard = () => clients.flatMap(({ frames }) => frames);
  const acknowledgements = (id: string) =>
    heard().filter((frame) => frame.type === "ack" && frame["id"] === id).length;

  function isAcknowledged(id: string): boolean {
    const isIn = acknowledgements(id) > (earlier.get(id) ?? 0);
    if (isIn) waiting.delete(id);
    return isIn;
  }

  return {
    channel,
    capabilities: definition.capabilities,
    secrets: [TOKEN],
    platform: {
      chatId: CHAT,
      say(text) {
        const id = `m${events++}`;
        void deliver(id, text);
        return id;
      },
      sayWithoutSecret(text) {
        const id = `m${events++}`;
        void knock({ authorization: `Bearer ${TOKEN}!` }).then(({ client }) =>
          client?.say({ type: "message", id, content: text }),
        );
        return id;
      },
      again(event) {
        earlier.set(String(event), acknowledgements(String(event)));
        void deliver(String(event), "once");
      },
      isAcknowledged: (event) => isAcknowledged(String(event)),
      shown: () =>
        heard()
          .filter(({ type }) => type === "final")
          .map((frame) => String(frame["content"])),
      refusals: { down: disk.fill },
      hang: () => Promise.reject(new Error("there is no such thing")),
      open: () => clients.filter(({ closed }) => closed === undefined).length,
      async pass(ms) {
        await clock.advance(ms);
        for (const [id, text] of waiting) if (!isAcknowledged(id)) void deliver(id, text);
      },
      async close() {},
    },
  };
}

channelContract("websocket", subject, {
  permission: definition.admits,
  sendsAtOnce: "what is sent is put on this machine's disk, and clients fetch it",
});
