import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { defineTool, toolOk } from "../../src/core/tool.ts";
import type { Scripted } from "../fakes/model.ts";
import { textReply } from "../fakes/model.ts";
import { chat, held, startAgent } from "./started.ts";

/** A tool whose calls wait for a person, until the test lets them. */
function asking() {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  let aside: ReturnType<typeof startAgent>["aside"] | undefined;
  const tool = defineTool({
    name: "risky",
    description: "",
    parameters: v.strictObject({}),
    async permit(_, { turn }) {
      asked.resolve();
      await aside?.(turn, () => answer.promise);
      return { decision: "allow" };
    },
    execute: async () => toolOk("done"),
  });
  return {
    tool,
    asked: asked.promise,
    answer: answer.resolve,
    use(agent: ReturnType<typeof startAgent>) {
      aside = agent.aside;
    },
  };
}

describe("createDispatch(), with many sessions", () => {
  test("answers 500 sessions at once, none waiting for another, and tells who begins", async () => {
    const SESSIONS = 500;
    let asked = 0;
    const allAsked = Promise.withResolvers<void>();
    const slow: Scripted = async () => {
      if (++asked === SESSIONS) allAsked.resolve();
      await agent.clock.sleep(1_000, new AbortController().signal);
      return textReply("done");
    };
    const agent = startAgent({ script: Array<Scripted>(SESSIONS).fill(slow) });
    for (let session = 0; session < SESSIONS; session++)
      await agent.send({ id: `m${session}`, ...chat(`s${session}`) });
    await allAsked.promise;
    await agent.clock.advance(1_000);
    await agent.finalsAre(SESSIONS);
    await agent.stop();
    expect(agent.clock.elapsed()).toBe(1_000);
    expect(new Set(agent.finals().flatMap(({ answers }) => answers)).size).toBe(SESSIONS);
    expect(agent.started).toHaveLength(SESSIONS);
    expect(agent.ended.every(({ status }) => status === "answered")).toBe(true);
  }, 30_000);

  test("runs no more turns at once than are allowed", async () => {
    const first = held("one");
    const agent = startAgent({ script: [first.scripted, "two"] }, { maxTurns: 1 });
    await agent.send({ id: "1", ...chat("a") });
    await first.reached;
    await agent.send({ id: "2", ...chat("b") });
    await agent.send({ id: "3", content: "/status", ...chat("b") });
    await agent.finalsAre(1);
    expect(agent.model.requests).toHaveLength(1);
    expect(agent.started).toEqual(["1"]);
    first.release();
    await agent.finalsAre(3);
    const answered = agent.finals().map(({ id }) => id as string);
    expect(answered).toEqual(["3/final", "1/final", "2/final"]);
    await agent.stop();
  });

  test("aside() lets others have the place of a turn that waits for a person, and it goes on when it has its answer", async () => {
    const risky = asking();
    const script = [{ calls: [{ name: "risky" }] }, "two", "one"];
    const agent = startAgent({ script, tools: [risky.tool] }, { maxTurns: 1 });
    risky.use(agent);
    await agent.send({ id: "1", ...chat("a") });
    await risky.asked;
    await agent.send({ id: "2", ...chat("b") });
    await agent.finalsAre(1);
    risky.answer();
    await agent.finalsAre(2);
    await agent.stop();
    expect(agent.finals().map(({ id, content }) => [id as string, content])).toEqual([
      ["2/final", "two"],
      ["1/final", "one"],
    ]);
  });

  test("/stop ends at once what waits for turns of other sessions", async () => {
    const first = held("one");
    const agent = startAgent({ script: [first.scripted, "two"] }, { maxTurns: 1 });
    await agent.send({ id: "1", ...chat("a") });
    await first.reached;
    await agent.send({ id: "2", ...chat("b") });
    await agent.send({ id: "3", content: "/stop", ...chat("b") });
    await agent.finalsAre(1);
    expect(agent.finals()).toMatchObject([{ content: "Stopped 1 task.", answers: ["3", "2"] }]);
    first.release();
    await agent.finalsAre(2);
    await agent.stop();
    expect(agent.model.requests).toHaveLength(1);
    expect(agent.undone()).toEqual([]);
  });

  test("two /stop at once are both answered, and what they stop is answered once", async () => {
    const agent = startAgent({ script: [{ hang: true, text: "x" }] });
    await agent.send({ id: "1" });
    await agent.until((shown) => shown.length > 0);
    await Promise.all(["2", "3"].map((id) => agent.send({ id, content: "/stop" })));
    await agent.finalsAre(2);
    await agent.stop();
    const answers = agent.finals().flatMap((final) => final.answers);
    expect(answers.sort() as string[]).toEqual(["1", "2", "3"]);
    expect(agent.finals().map(({ content }) => content)).toContain("No active task to stop.");
    expect(agent.undone()).toEqual([]);
  });

  test("/stop ends a call that waits for the owner", async () => {
    const asked = Promise.withResolvers<void>();
    const risky = defineTool({
      name: "risky",
      description: "",
      parameters: v.strictObject({}),
      permit: () => {
        asked.resolve();
        return new Promise(() => {});
      },
      execute: async () => toolOk("done"),
    });
    const agent = startAgent({ script: [{ calls: [{ name: "risky" }] }], tools: [risky] });
    await agent.send({ id: "1" });
    await asked.promise;
    await agent.send({ id: "2", content: "/stop" });
    await agent.finalsAre(1);
    expect((await agent.stored()).map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    await agent.stop();
  });
});

describe("createDispatch(), when nothing can be published", () => {
  const failing =
    (times: number): Exclude<Parameters<typeof startAgent>[1], undefined> =>
    ({ bus }) => {
      let left = times;
      return {
        bus: {
          ...bus,
          publishOutbound: (message, signal) =>
            message.kind === "final" && left-- > 0
              ? Promise.reject(new Error("ENOSPC: full"))
              : bus.publishOutbound(message, signal),
        },
      };
    };

  test.each([1, 4])(
    "tries again later, after %d times, with the answer that the session has, and asks no model for it",
    async (times) => {
      const agent = startAgent({ script: ["one", "two"] }, failing(times));
      await agent.send({ id: "1" });
      while (agent.ended.length === 0) await agent.clock.advance(1_000);
      await agent.finalsAre(1);
      await agent.stop();
      expect(agent.finals()).toMatchObject([{ content: "one", answers: ["1"] }]);
      expect(agent.model.requests).toHaveLength(1);
      expect((await agent.stored()).map(({ content }) => content)).toEqual(["hello", "one"]);
      expect(agent.started).toEqual(["1"]);
    },
  );

  test("answers a command later too, with all that it stopped", async () => {
    const agent = startAgent({ script: [{ hang: true, text: "x" }] }, failing(2));
    await agent.send({ id: "1" });
    await agent.until((shown) => shown.length > 0);
    await agent.send({ id: "2", content: "/stop" });
    while (agent.ended.length < 2) await agent.clock.advance(1_000);
    await agent.finalsAre(1);
    await agent.stop();
    expect(agent.finals()).toMatchObject([{ content: "Stopped 1 task.", answers: ["2", "1"] }]);
  });

  test("ends at once when it is told to, and leaves the message undone", async () => {
    const agent = startAgent({ script: ["one"] }, failing(9));
    await agent.send({ id: "1" });
    const hasFailed = () => agent.log.lines.some((line) => line.includes("could not be put"));
    while (!hasFailed()) await new Promise((resolve) => setImmediate(resolve));
    await agent.stop();
    expect(agent.ended).toMatchObject([{ status: "stopped" }]);
    expect(agent.finals()).toEqual([]);
  });
});

describe("createDispatch(), with notes", () => {
  test("adds a note between turns, once, and answers nobody", async () => {
    const first = held("one");
    const agent = startAgent({ script: [first.scripted, "two"] });
    await agent.send({ id: "1" });
    await first.reached;
    await agent.send({ id: "n", kind: "note", content: "It was sent" });
    await agent.send({ id: "2", content: "and?" });
    first.release();
    await agent.finalsAre(2);
    await agent.stop();
    expect((await agent.stored()).map(({ content }) => content)).toEqual([
      "hello",
      "one",
      "It was sent",
      "and?",
      "two",
    ]);
    expect(agent.finals().map(({ answers }) => answers.join())).toEqual(["1", "2"]);
    expect(agent.started).toEqual(["1", "2"]);
    expect(agent.undone()).toEqual([]);
  });

  test("does not let /stop take a note away", async () => {
    const agent = startAgent({ script: [{ hang: true, text: "x" }] });
    await agent.send({ id: "1" });
    await agent.until((shown) => shown.length > 0);
    await agent.send({ id: "n", kind: "note", content: "It was sent" });
    await agent.send({ id: "2", content: "/stop" });
    await agent.finalsAre(1);
    expect(agent.finals()[0]?.answers as readonly string[]).toEqual(["2", "1"]);
    while (agent.undone().length > 0) await new Promise((resolve) => setImmediate(resolve));
    await agent.stop();
    expect((await agent.stored()).map(({ content }) => content)).toContain("It was sent");
  });

  test("says nothing to anybody about a note that could not be added, and goes on", async () => {
    const agent = startAgent({ script: ["one"] }, (fixture) => ({
      sessions: {
        ...fixture.sessions,
        open: (key, options) =>
          key === "cli:broken"
            ? Promise.reject(new Error("EACCES: no"))
            : fixture.sessions.open(key, options),
      },
    }));
    await agent.send({ id: "n", kind: "note", ...chat("broken") });
    await agent.send({ id: "1" });
    await agent.finalsAre(1);
    await agent.stop();
    expect(agent.finals().map(({ id }) => id as string)).toEqual(["1/final"]);
    expect(agent.undone()).toEqual([]);
    expect(agent.log.lines.join()).toContain("EACCES");
  });
});

describe("createDispatch(), told to end", () => {
  test("gives a turn that runs its time, and leaves what waits for the next start", async () => {
    const first = held("one");
    const agent = startAgent({ script: [first.scripted, "two"] }, { drainMs: 20_000 });
    await agent.send({ id: "1" });
    await first.reached;
    await agent.send({ id: "2" });
    const ended = agent.shutDown();
    first.release();
    await ended;
    await agent.end();
    expect(agent.finals()).toMatchObject([{ content: "one", answers: ["1"] }]);
    expect(agent.undone()).toContain("2");
    expect(agent.model.requests).toHaveLength(1);
    expect(agent.clock.elapsed()).toBe(0);
  });

  test("does not wait for a turn that waits for a person, since no answer is taken in any more", async () => {
    const risky = asking();
    const script = [{ calls: [{ name: "risky" }] }];
    const agent = startAgent({ script, tools: [risky.tool] }, { drainMs: 20_000, isWaiting: () => true });
    risky.use(agent);
    await agent.send({ id: "1" });
    await risky.asked;
    await agent.stop();
    expect(agent.clock.elapsed()).toBe(0);
    expect(agent.undone()).toEqual(["1"]);
    expect((await agent.stored()).map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test("stops what has not ended in that time, and leaves it undone", async () => {
    const agent = startAgent({ script: [{ hang: true, text: "x" }] }, { drainMs: 20_000 });
    await agent.send({ id: "1" });
    await agent.until((shown) => shown.length > 0);
    const ended = agent.shutDown();
    await agent.clock.whenPending(1);
    await agent.clock.advance(19_999);
    expect(agent.ended).toEqual([]);
    await agent.clock.advance(1);
    await ended;
    await agent.end();
    expect(agent.ended).toMatchObject([{ inboundId: "1", status: "stopped" }]);
    expect(agent.undone()).toEqual(["1"]);
    expect(agent.finals()).toEqual([]);
  });

  test("takes nobody into a turn that has its last time", async () => {
    const first = held({ calls: [{ name: "look" }] });
    const look = defineTool({
      name: "look",
      description: "",
      parameters: v.strictObject({}),
      execute: async () => toolOk("seen"),
    });
    const agent = startAgent({ script: [first.scripted, "one"], tools: [look] }, { drainMs: 20_000 });
    await agent.send({ id: "1" });
    await first.reached;
    await agent.send({ id: "2" });
    const ended = agent.shutDown();
    first.release();
    await ended;
    await agent.end();
    expect(agent.finals()).toMatchObject([{ answers: ["1"] }]);
    expect(agent.undone()).toEqual(["2"]);
  });

  test("gives a command its time too", async () => {
    const first = held("one");
    const agent = startAgent({ script: [first.scripted] }, (fixture) => ({
      drainMs: 20_000,
      models: { ...fixture.deps.models, lastOf: () => undefined },
    }));
    await agent.send({ id: "1" });
    await first.reached;
    await agent.send({ id: "2", content: "/model" });
    const ended = agent.shutDown();
    first.release();
    await ended;
    await agent.end();
    expect(agent.finals().map(({ id }) => id as string)).toEqual(["1/final", "2/final"]);
    expect(agent.undone()).toEqual([]);
  });

  test("leaves a call open that waits for the owner, and those behind it", async () => {
    const asked = Promise.withResolvers<void>();
    const ran: string[] = [];
    const tool = (name: string, waits: boolean) =>
      defineTool({
        name,
        description: "",
        parameters: v.strictObject({}),
        permit: () => {
          if (!waits) return Promise.resolve({ decision: "allow" } as const);
          asked.resolve();
          return new Promise(() => {});
        },
        async execute() {
          ran.push(name);
          return toolOk("done");
        },
      });
    const agent = startAgent(
      {
        script: [{ calls: [{ name: "first" }, { name: "risky" }, { name: "last" }] }],
        tools: [tool("first", false), tool("risky", true), tool("last", false)],
      },
      { isWaiting: (id) => id.endsWith("_0_1") },
    );
    await agent.send({ id: "1" });
    await asked.promise;
    await agent.stop();
    expect(ran).toEqual(["first"]);
    expect((await agent.stored()).map(({ role, name }) => name ?? role)).toEqual([
      "user",
      "assistant",
      "first",
    ]);
    expect(agent.undone()).toEqual(["1"]);
  });
});
