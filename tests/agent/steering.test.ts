import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { defineTool, toolOk } from "../../src/core/tool.ts";
import { PNG } from "../fakes/images.ts";
import { held, startAgent } from "./started.ts";
import { checkTranscript } from "./transcript-rules.ts";

const look = defineTool({
  name: "look",
  description: "",
  parameters: v.strictObject({}),
  execute: async () => toolOk("seen"),
});
const callLook = { calls: [{ name: "look" }] };

/** A turn whose first reply is held while tests send more, and then calls a tool. */
function begin(replies: readonly string[], deps: Parameters<typeof startAgent>[1] = {}) {
  const first = held(callLook);
  const agent = startAgent({ script: [first.scripted, ...replies], tools: [look] }, deps);
  return { ...agent, first };
}

const contents = (agent: ReturnType<typeof begin>, request: number) =>
  agent.model.requests[request]?.messages.map(({ role, content }) => `${role} ${content.split("\n").at(-1)}`);

describe("createDispatch(), with messages that come while a turn runs", () => {
  test("takes them into the turn before its next model call, and answers all with one final", async () => {
    const agent = begin(["both"]);
    await agent.send({ id: "1", content: "first" });
    await agent.first.reached;
    await agent.send({ id: "2", content: "second" });
    await agent.send({ id: "3", content: "third" });
    agent.first.release();
    await agent.finalsAre(1);
    expect(contents(agent, 0)).toEqual(["system You are a test.", "user first"]);
    expect(contents(agent, 1)?.slice(2)).toEqual(["assistant ", "tool seen", "user second", "user third"]);
    expect(checkTranscript(agent.model.requests[1]?.messages ?? [])).toBeUndefined();
    await agent.stop();
    expect(agent.finals()).toMatchObject([{ id: "1/final", content: "both", answers: ["1", "2", "3"] }]);
    expect(agent.undone()).toEqual([]);
    expect(await agent.stored()).toMatchObject([
      { turn: "1", inbound: "1", content: "first" },
      { turn: "1", role: "assistant" },
      { turn: "1", role: "tool" },
      { turn: "1", inbound: "2", content: "second", runtime: expect.stringContaining("Current Time") },
      { turn: "1", inbound: "3", content: "third", runtime: expect.stringContaining("Current Time") },
      { turn: "1", content: "both" },
    ]);
    expect(agent.ended.map(({ inboundId, status }) => `${inboundId} ${status}`)).toEqual([
      "1 answered",
      "2 answered",
      "3 answered",
    ]);
    expect(agent.started).toEqual(["1"]);
  });

  test("lets them wait where that is wanted", async () => {
    const agent = begin(["one", "two"], { midTurn: "queue" });
    await agent.send({ id: "1", content: "first" });
    await agent.first.reached;
    await agent.send({ id: "2", content: "second" });
    agent.first.release();
    await agent.finalsAre(2);
    expect(agent.finals().map(({ answers }) => answers.join())).toEqual(["1", "2"]);
    await agent.stop();
  });

  test("takes nobody in once the last model call has begun", async () => {
    const last = held("one");
    const agent = startAgent({ script: [callLook, last.scripted, "two"], tools: [look] });
    await agent.send({ id: "1" });
    await last.reached;
    await agent.send({ id: "2" });
    last.release();
    await agent.finalsAre(2);
    expect(agent.finals().map(({ answers }) => answers.join())).toEqual(["1", "2"]);
    await agent.stop();
  });

  test("takes nobody in before the summary at the end of all rounds, when nothing could be done for them", async () => {
    const agent = begin(["summary", "two"], { maxToolIterations: 1 });
    await agent.send({ id: "1" });
    await agent.first.reached;
    await agent.send({ id: "2" });
    agent.first.release();
    await agent.finalsAre(2);
    expect(agent.finals().map(({ answers }) => answers.join())).toEqual(["1", "2"]);
    await agent.stop();
  });

  test.each([
    ["of somebody else", { senderId: "other" }],
    ["of another origin", { origin: "cron" }],
    ["that is a note", { kind: "note" }],
    ["of another chat of the same session", { chatId: "elsewhere" }],
    ["of another thread", { thread: "9" }],
  ] as const)("takes in no message %s, and none behind it", async (_, changes) => {
    const agent = begin(["one", "two", "three"]);
    await agent.send({ id: "1" });
    await agent.first.reached;
    await agent.send({ id: "2", content: "second" });
    await agent.send({ id: "3", content: "third", ...changes });
    await agent.send({ id: "4", content: "fourth" });
    agent.first.release();
    const finals = "kind" in changes ? 2 : 3;
    await agent.finalsAre(finals);
    const answers = agent.finals().map((final) => final.answers.join());
    expect(answers).toEqual(["1,2", ...("kind" in changes ? [] : ["3"]), "4"]);
    await agent.stop();
    expect(agent.undone()).toEqual([]);
  });

  test("takes in nothing from behind a command that waits for the turn", async () => {
    const agent = begin(["one", "two"], (fixture) => ({
      models: { ...fixture.deps.models, lastOf: () => undefined },
    }));
    await agent.send({ id: "1" });
    await agent.first.reached;
    await agent.send({ id: "2", content: "/model" });
    await agent.send({ id: "3" });
    agent.first.release();
    await agent.finalsAre(3);
    expect(agent.finals().map(({ answers }) => answers.join())).toEqual(["1", "2", "3"]);
    await agent.stop();
  });

  test("answers them too when the turn fails", async () => {
    const agent = begin([]);
    await agent.send({ id: "1" });
    await agent.first.reached;
    await agent.send({ id: "2" });
    agent.first.release();
    await agent.finalsAre(1);
    await agent.stop();
    expect(agent.finals()).toMatchObject([{ outcome: "error", answers: ["1", "2"] }]);
    expect(agent.undone()).toEqual([]);
  });

  test("answers them too when the session cannot be written any more", async () => {
    let fails = false;
    const agent = begin(["never"], (fixture) => ({
      sessions: {
        ...fixture.sessions,
        async open(key, options) {
          const session = await fixture.sessions.open(key, options);
          const append: typeof session.append = (lines, how) =>
            fails && lines[0]?.role === "user"
              ? Promise.reject(new Error("ENOSPC: full"))
              : session.append(lines, how);
          return Object.assign(Object.create(session), { append });
        },
      },
    }));
    await agent.send({ id: "1" });
    await agent.first.reached;
    await agent.send({ id: "2" });
    fails = true;
    agent.first.release();
    await agent.finalsAre(1);
    expect(agent.finals()).toMatchObject([{ outcome: "error", answers: ["1", "2"] }]);
    await agent.stop();
  });

  test("/stop answers for what runs, what joined it and what waits", async () => {
    const first = held(callLook);
    const then = held(callLook);
    const agent = startAgent({ script: [first.scripted, then.scripted], tools: [look] });
    await agent.send({ id: "1" });
    await first.reached;
    await agent.send({ id: "2" });
    first.release();
    await then.reached;
    await agent.send({ id: "3" });
    await agent.send({ id: "4", content: "/stop" });
    then.release();
    await agent.finalsAre(1);
    await agent.stop();
    expect(agent.finals()).toMatchObject([{ answers: ["4", "1", "2", "3"], content: "Stopped 2 tasks." }]);
    expect(agent.undone()).toEqual([]);
  });

  test("shows the model the images of what joined", async () => {
    const agent = begin(["nice"]);
    const folder = join(agent.workspace, "media", "cli");
    mkdirSync(folder, { recursive: true });
    const path = join(folder, "a.png");
    writeFileSync(path, PNG);
    await agent.send({ id: "1" });
    await agent.first.reached;
    await agent.send({ id: "2", content: "look at this", media: [{ path, mime: "image/png" }] });
    agent.first.release();
    await agent.finalsAre(1);
    const last = agent.model.requests[1]?.messages.at(-1);
    expect(last).toMatchObject({ role: "user", images: [{ mime: "image/png" }] });
    await agent.stop();
  });
});
