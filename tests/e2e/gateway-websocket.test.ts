/** WebSocket clients of the compiled program: the contract, and coming back to what was missed. */

import { afterEach, expect, test } from "bun:test";
import { type Conversation, conversationContract } from "../contracts/channel.ts";
import { echo, eventually, freePort, killGateways, lastSaid, startGateway } from "./gateway.ts";
import { endToEnd, modelAt, newHome, startModel } from "./harness.ts";

endToEnd();
afterEach(killGateways);

const TOKEN = "a-token-of-many-characters";

interface Event {
  readonly type: string;
  readonly seq?: number;
  readonly id?: string;
  readonly content?: string;
  readonly outcome?: string;
}

/** A client as the documents describe it: it comes back by itself, after what it has heard, and says again what was not acknowledged. */
function connect(port: number, chat: string, { token = TOKEN, after = 0 } = {}) {
  const finals: string[] = [];
  const events: Event[] = [];
  const acknowledged = new Set<string>();
  const said = new Map<string, string>();
  let last = after;
  let socket: WebSocket | undefined;
  let isOver = false;

  function open(): void {
    socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers: { authorization: `Bearer ${token}` } });
    const own = socket;
    own.onopen = () => {
      own.send(JSON.stringify({ type: "hello", chat, after: last }));
      for (const [id, content] of said)
        if (!acknowledged.has(id)) own.send(JSON.stringify({ type: "message", id, content }));
    };
    own.onmessage = ({ data }) => {
      const event = JSON.parse(String(data)) as Event;
      events.push(event);
      if (event.seq !== undefined) last = Math.max(last, event.seq);
      if (event.type === "ack" && event.id !== undefined) acknowledged.add(event.id);
      if (event.type === "final") finals.push(event.content ?? "");
    };
    own.onclose = () => {
      if (!isOver && socket === own) setTimeout(open, 10);
    };
  }

  function say(id: string, content: string): void {
    said.set(id, content);
    acknowledged.delete(id);
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "message", id, content }));
  }

  open();
  return {
    finals,
    events,
    say,
    send: (message: object) => socket?.send(JSON.stringify(message)),
    again: (id: string) => say(id, said.get(id) ?? ""),
    isAcknowledged: (id: string) => acknowledged.has(id),
    isOpen: () => socket?.readyState === WebSocket.OPEN,
    cut: () => socket?.close(),
    last: () => last,
    close() {
      isOver = true;
      socket?.close();
    },
  };
}

function homeWith(modelUrl: string, port: number, websocket: object = {}) {
  return newHome({
    ...modelAt(modelUrl),
    gateway: { port },
    channels: { websocket: { enabled: true, token: TOKEN, ...websocket } },
  });
}

async function conversation(): Promise<Conversation> {
  const model = await startModel(echo);
  const port = await freePort();
  const home = homeWith(model.url, port);
  let gateway = await startGateway(home);
  const clients = new Map<number, ReturnType<typeof connect>>();
  const stranger = connect(port, "chat-1", { token: "a-token-of-somebody-else" });
  const chats = new Map<string, number>();
  let messages = 0;

  function clientOf(chat: number) {
    const client = clients.get(chat) ?? connect(port, `chat-${chat}`);
    clients.set(chat, client);
    return client;
  }

  return {
    say(chat, text) {
      const id = `m${++messages}`;
      chats.set(id, chat);
      clientOf(chat).say(id, text);
      return id;
    },
    // It is not let in, so that nothing of it is heard.
    sayAsStranger(text) {
      stranger.say("s1", text);
      return "s1";
    },
    again: (event) => clientOf(chats.get(String(event)) ?? 0).again(String(event)),
    isAcknowledged: (event) =>
      event === "s1"
        ? !stranger.isOpen()
        : clientOf(chats.get(String(event)) ?? 0).isAcknowledged(String(event)),
    shown: (chat) => clientOf(chat).finals,
    shownToStranger: () => stranger.finals,
    trouble: () => clientOf(1).cut(),
    async restart(whileAway) {
      gateway.signal("SIGTERM");
      expect(await gateway.exited).toBe(0);
      whileAway();
      gateway = await startGateway(home);
    },
    eventually,
    async close() {
      for (const client of [...clients.values(), stranger]) client.close();
      gateway.signal("SIGTERM");
      expect(await gateway.exited).toBe(0);
    },
  };
}

conversationContract("websocket, from the executable", conversation);

test("a client that comes back hears what it missed, also after a restart, and nothing twice", async () => {
  const model = await startModel(echo);
  const port = await freePort();
  const home = homeWith(model.url, port);
  const gateway = await startGateway(home);
  const first = connect(port, "main");
  first.say("m1", "one");
  await eventually(() => first.finals.length === 1);
  const heard = first.last();
  first.say("m2", "two");
  await eventually(() => first.isAcknowledged("m2"));
  first.close();
  gateway.signal("SIGKILL");
  await gateway.exited;
  await startGateway(home);
  const back = connect(port, "main", { after: heard });
  await eventually(() => back.finals.length > 0);
  expect(back.finals).toEqual(["echo: two"]);
  back.close();
});

test("text is shown as it grows, and stop ends a turn", async () => {
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const model = await startModel(async (body) => {
    if (lastSaid(body) === "wait") {
      reached.resolve();
      await gate.promise;
    }
    return { text: ["grow", "ing ", "text"] };
  });
  const port = await freePort();
  await startGateway(homeWith(model.url, port));
  const client = connect(port, "main");
  client.say("m1", "go");
  await eventually(() => client.finals.length === 1);
  const deltas = client.events.filter(({ type }) => type === "delta").map(({ content }) => content);
  expect(deltas.join("")).toBe("growing text");
  client.say("m2", "wait");
  await reached.promise;
  client.send({ type: "stop" });
  await eventually(() => client.finals.includes("Stopped 1 task."));
  gate.resolve();
  client.close();
});

test.each([
  ["without a token", {}],
  ["with a wrong one", { authorization: "Bearer a-token-of-somebody-else" }],
  ["from a page that is not allowed", { authorization: `Bearer ${TOKEN}`, origin: "https://evil.example" }],
])("nobody is let in %s", async (_, headers) => {
  const model = await startModel(echo);
  const port = await freePort();
  await startGateway(homeWith(model.url, port));
  const response = await fetch(`http://127.0.0.1:${port}/ws`, {
    headers: {
      ...headers,
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    },
  });
  expect([401, 403]).toContain(response.status);
});
