import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import type { DispatchDeps } from "../../src/agent/dispatch.ts";
import type { FinalMessage } from "../../src/core/messages.ts";
import { defineTool, type SentTo, toolOk } from "../../src/core/tool.ts";
import { createFakeModel, type Scripted } from "../fakes/model.ts";
import { createWorld } from "./killable.ts";
import { held, startAgent } from "./started.ts";

const send = defineTool({
  name: "send",
  description: "",
  parameters: v.strictObject({
    channel: v.optional(v.string(), "cli"),
    chatId: v.optional(v.string(), "direct"),
    thread: v.optional(v.string()),
  }),
  async execute({ channel, chatId, thread }) {
    const sentTo: SentTo = { channel, chatId, ...(thread === undefined ? {} : { thread }) };
    return toolOk("sent", { sentTo });
  },
});
const sends = (args: object = {}) => ({ calls: [{ name: "send", arguments: { ...args } }] });

/** Everything that is put, also what is sent to nobody. */
function start(script: readonly Scripted[], deps: Partial<DispatchDeps> = {}) {
  const put: FinalMessage[] = [];
  const agent = startAgent({ script, tools: [send] }, (fixture) => ({
    bus: {
      ...fixture.bus,
      publishOutbound(message, signal) {
        if (message.kind === "final") put.push(message);
        return fixture.bus.publishOutbound(message, signal);
      },
    },
    ...deps,
  }));
  return { ...agent, put };
}

async function whenEnded({ ended }: ReturnType<typeof start>, turns = 1): Promise<void> {
  while (ended.length < turns) await new Promise((resolve) => setImmediate(resolve));
}

describe("createDispatch(), when a tool has sent something", () => {
  test("to the chat that is answered, does not send it the answer again", async () => {
    const agent = start([sends(), "the answer"]);
    await agent.send({ id: "1" });
    await whenEnded(agent);
    await agent.stop();
    expect(agent.put).toMatchObject([
      { id: "1/final", channel: "none", outcome: "answer", answers: ["1"], content: "the answer" },
    ]);
    expect(agent.shown.filter(({ kind }) => kind === "delta")).toEqual([]);
    expect(agent.ended).toMatchObject([{ inboundId: "1", status: "answered" }]);
    expect(await agent.stored()).toMatchObject([
      { role: "user" },
      { role: "assistant" },
      { role: "tool", content: "sent", sent_to: { channel: "cli", chat_id: "direct" } },
      { content: "the answer" },
    ]);
    expect(JSON.stringify(agent.model.requests)).not.toContain("sent_to");
  });

  test("to a program that waits for the end of the turn, sends the answer too", async () => {
    const agent = start([sends(), "the answer"], { waitsForFinal: (channel) => channel === "cli" });
    await agent.send({ id: "1" });
    await whenEnded(agent);
    await agent.stop();
    expect(agent.put).toMatchObject([{ id: "1/final", channel: "cli", content: "the answer" }]);
  });

  test.each([
    ["another chat", { chatId: "other" }, {}],
    ["another channel", { channel: "telegram" }, {}],
    ["another thread", { thread: "7" }, {}],
    ["the chat and not its thread", {}, { thread: "7" }],
  ])("to %s, answers as ever", async (_, args, message) => {
    const agent = start([sends(args), "the answer"]);
    await agent.send({ id: "1", ...message });
    await whenEnded(agent);
    await agent.stop();
    expect(agent.put).toMatchObject([{ channel: "cli", content: "the answer" }]);
    expect(agent.shown.some(({ kind }) => kind === "delta")).toBe(true);
  });

  test("to the thread that is answered, does not send it the answer again", async () => {
    const agent = start([sends({ thread: "7" }), "the answer"]);
    await agent.send({ id: "1", thread: "7" });
    await whenEnded(agent);
    await agent.stop();
    expect(agent.put).toMatchObject([{ channel: "none", thread: "7" }]);
  });

  test("and the turn fails then, says so", async () => {
    const agent = start([sends()]);
    await agent.send({ id: "1" });
    await whenEnded(agent);
    await agent.stop();
    expect(agent.put).toMatchObject([{ channel: "cli", outcome: "error" }]);
  });

  test("and somebody joined since, sends the answer", async () => {
    const second = held(sends({ chatId: "other" }));
    const agent = start([sends(), second.scripted, "the answer"]);
    await agent.send({ id: "1" });
    await second.reached;
    await agent.send({ id: "2", content: "and?" });
    second.release();
    await whenEnded(agent, 2);
    await agent.stop();
    expect(agent.put).toMatchObject([{ channel: "cli", answers: ["1", "2"], content: "the answer" }]);
  });

  test("in a turn before, answers as ever", async () => {
    const agent = start([sends(), "one", "two"]);
    await agent.send({ id: "1" });
    await agent.send({ id: "2", senderId: "else" });
    await whenEnded(agent, 2);
    await agent.stop();
    expect(agent.put.map(({ channel }) => channel)).toEqual(["none", "cli"]);
  });

  test("before a crash, knows it afterwards", async () => {
    const world = createWorld({ tools: () => [send], model: () => model });
    const model = createFakeModel(sends(), { hang: true }, "the answer");
    const first = world.start();
    first.send({ id: "1" });
    while (model.requests.length < 2) await new Promise((resolve) => setImmediate(resolve));
    first.kill();
    const second = world.start();
    await second.settled();
    await second.end();
    expect(world.finals()).toMatchObject([{ channel: "none", content: "the answer" }]);
  });
});

test("the final answers in the thread, and quotes what is to be quoted", async () => {
  const agent = start(["the answer"]);
  await agent.send({ id: "1", thread: "7", replyTo: "99" });
  await whenEnded(agent);
  await agent.stop();
  expect(agent.put).toMatchObject([{ thread: "7", replyTo: "99" }]);
  expect(agent.shown.map(({ thread }) => thread)).toEqual(agent.shown.map(() => "7"));
});
