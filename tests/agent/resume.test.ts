import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import type { InboundId } from "../../src/core/messages.ts";
import type { ChatMessage, ChatRequest, Model } from "../../src/core/model.ts";
import type { StoredMessage } from "../../src/core/session.ts";
import { defineTool, toolOk } from "../../src/core/tool.ts";
import { never } from "../../src/lib/abort.ts";
import { INTERRUPTED } from "../../src/lib/tool-failure.ts";
import { createFakeModel, type Scripted, textReply } from "../fakes/model.ts";
import { createFixture } from "./fixture.ts";
import { createWorld } from "./killable.ts";
import { checkTranscript } from "./transcript-rules.ts";

type Step = (name: string) => Promise<void>;

const called = (names: readonly string[]) => ({
  ok: true as const,
  content: "",
  toolCalls: names.map((name, index) => ({
    id: `theirs_${index}`,
    name: name.startsWith("look") ? "look" : "change",
    arguments: JSON.stringify({ what: name }),
  })),
  finishReason: "tool_calls" as const,
});

const rounds = [
  ["look a", "look b", "change c", "look d", "change e"],
  ["change f", "look g", "change h"],
];

const isWork = ({ role, content }: ChatMessage) => role === "user" && content.includes("work");

/** Does two rounds of calls for each message that asks for work, judged by the transcript alone. */
function worker(problems: string[]): (step: Step) => Model {
  return (step) => ({
    provider: "test",
    async chat({ messages }: ChatRequest) {
      await step("model");
      const problem = checkTranscript(messages);
      if (problem !== undefined) problems.push(problem);
      const start = messages.findLastIndex(isWork);
      const done = messages.slice(start).filter(({ role }) => role === "assistant").length;
      const names = start < 0 ? undefined : rounds[done];
      const last = messages[messages.length - 1];
      return names === undefined ? textReply(`done after ${last?.role}`) : called(names);
    },
  });
}

/** Counts what runs. A writing call must never begin twice, and no call may begin again once its result is stored. */
function counters() {
  const begun: string[] = [];
  const parameters = v.strictObject({ what: v.string() });
  const tools = (step: Step) => [
    defineTool({
      name: "look",
      description: "",
      parameters,
      readOnly: true,
      async execute({ what }, { call }) {
        await step(`before ${what}`);
        begun.push(call);
        await step(`after ${what}`);
        return toolOk(`saw ${what}`);
      },
    }),
    defineTool({
      name: "change",
      description: "",
      parameters,
      async execute({ what }, { call }) {
        await step(`before ${what}`);
        begun.push(`! ${call}`);
        await step(`after ${what}`);
        return toolOk(`changed ${what}`);
      },
    }),
    defineTool({
      name: "tell",
      description: "",
      parameters,
      repeatable: true,
      async execute(_, { call }) {
        begun.push(call);
        return toolOk("told");
      },
    }),
  ];
  return { begun, tools };
}

function twice(items: readonly string[]): string[] {
  return items.filter((item, index) => items.indexOf(item) !== index);
}

function ids(lines: readonly StoredMessage[]) {
  return {
    calls: lines.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)),
    results: lines.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id])),
    users: lines.flatMap(({ role, inbound }) => (role === "user" ? [inbound] : [])),
  };
}

describe("createDispatch(), killed and started again", () => {
  /** Kills at each of `kills` in turn, then lets it come to its end. */
  async function runThrough(kills: readonly number[], midTurn: "steer" | "queue" = "steer") {
    const problems: string[] = [];
    const { begun, tools } = counters();
    const world = createWorld({ tools, model: worker(problems), deps: { midTurn } });
    const storedBefore: Set<string> = new Set();
    let wasKilled = false;
    for (const [index, killAt] of [...kills, Number.POSITIVE_INFINITY].entries()) {
      const before = begun.length;
      const life = world.start(killAt);
      if (index === 0) {
        life.send({ id: "1", content: "work" });
        life.send({ id: "2", content: "and be quick" });
        life.send({ id: "3", content: "hi", senderId: "else" });
      }
      await life.settled();
      wasKilled ||= life.steps.length >= killAt;
      for (const call of begun.slice(before))
        if (storedBefore.has(call.replace("! ", ""))) problems.push(`${call} again`);
      for (const id of ids(await world.stored()).results) storedBefore.add(id);
      if (life.steps.length < killAt) await life.end();
    }
    return { world, problems, begun, wasKilled };
  }

  function check(
    label: string,
    { world, problems, begun }: Awaited<ReturnType<typeof runThrough>>,
    stored: readonly StoredMessage[],
  ): void {
    const { calls, results, users } = ids(stored);
    expect({
      label,
      problems,
      answers: world.answers(),
      undone: world.undone(),
      begunTwice: twice(begun.filter((call) => call.startsWith("!"))),
      callsTwice: twice(calls),
      resultsTwice: twice(results),
      open: calls.filter((id) => !results.includes(id)),
      users: [...users].sort(),
      rounds: stored.filter(({ tool_calls }) => tool_calls !== undefined).length,
    }).toEqual({
      label,
      problems: [],
      answers: { "1": 1, "2": 1, "3": 1 },
      undone: [],
      begunTwice: [],
      callsTwice: [],
      resultsTwice: [],
      open: [],
      users: ["1", "2", "3"] as StoredMessage["inbound"][],
      rounds: 2,
    });
  }

  test.each(["steer", "queue"] as const)(
    "at every step of a turn, answers each message once and runs no call twice (%s)",
    async (midTurn) => {
      let killAt = 1;
      for (; ; killAt++) {
        const result = await runThrough([killAt], midTurn);
        check(`killed at ${killAt}`, result, await result.world.stored());
        await result.world.remove();
        if (result.wasKilled) continue;
        const answered = result.world.finals().map(({ answers }) => answers.join());
        expect(answered.sort()).toEqual(midTurn === "steer" ? ["1,2", "3"] : ["1", "2", "3"]);
        break;
      }
      expect(killAt).toBeGreaterThan(60);
    },
    60_000,
  );

  test("again and again, does so too", async () => {
    for (let first = 3; first < 60; first += 4) {
      for (const second of [2, 5, 9, 14]) {
        const result = await runThrough([first, second, 7]);
        check(`killed at ${first}, ${second} and 7`, result, await result.world.stored());
        await result.world.remove();
      }
    }
  }, 60_000);
});

describe("createDispatch(), when a message comes again after a crash", () => {
  const turn = "1";
  async function leave(
    { workspace }: ReturnType<typeof createWorld>,
    lines: readonly StoredMessage[],
    by: string = turn,
  ): Promise<void> {
    const session = await createFixture({ workspace }).sessions.open("cli:direct", { signal: never });
    await session.append(
      lines.map((line) => ({ ...line, turn: by as InboundId })),
      { sync: false },
    );
    await session.close();
  }
  const user: StoredMessage = { role: "user", content: "work", inbound: turn as InboundId };

  /** A life that dies before it does anything, with message 1 in its bus. */
  function begin(script: readonly Scripted[] = [], deps = {}) {
    const model = createFakeModel(...script);
    const { begun, tools } = counters();
    const world = createWorld({ tools, model: () => model, deps });
    const first = world.start(1);
    first.send({ id: turn, content: "work" });
    return { world, model, begun, dead: first.dead };
  }

  test("publishes a final that the session has, without asking the model", async () => {
    const { world, model, dead } = begin();
    await dead;
    await leave(world, [
      user,
      { role: "user", content: "and", inbound: "2" as InboundId },
      { role: "assistant", content: "the answer", model: "m" },
    ]);
    const life = world.start();
    await life.settled();
    await life.end();
    expect(model.requests).toHaveLength(0);
    expect(world.finals()).toMatchObject([
      { content: "the answer", outcome: "answer", answers: ["1", "2"], metadata: { model: "m" } },
    ]);
    expect(await world.stored()).toHaveLength(3);
  });

  const call = (round: number, index: number, name: string): NonNullable<StoredMessage["tool_calls"]>[0] => ({
    id: `call_6b86b273ff34fce1_${round}_${index}`,
    type: "function",
    function: { name, arguments: '{"what":"x"}' },
  });

  test("gives the call that may have begun a result that says so, and runs those behind it", async () => {
    const { world, model, begun, dead } = begin(["done"]);
    await dead;
    const calls = [call(4, 0, "change"), call(4, 1, "change"), call(4, 2, "look")];
    await leave(world, [user, { role: "assistant", content: "", tool_calls: calls }]);
    const life = world.start();
    await life.settled();
    await life.end();
    expect(begun).toEqual([`! ${calls[1]?.id}`, `${calls[2]?.id}`]);
    const sent = model.requests[0]?.messages.filter(({ role }) => role === "tool");
    expect(sent?.map(({ content }) => content)).toEqual([INTERRUPTED, "changed x", "saw x"]);
  });

  test("runs a call that may have begun where running it again changes nothing more", async () => {
    const { world, model, begun, dead } = begin(["done"]);
    await dead;
    const calls = [call(0, 0, "tell"), call(0, 1, "change")];
    await leave(world, [user, { role: "assistant", content: "", tool_calls: calls }]);
    const life = world.start();
    await life.settled();
    await life.end();
    expect(begun).toEqual([`${calls[0]?.id}`, `! ${calls[1]?.id}`]);
    const sent = model.requests[0]?.messages.filter(({ role }) => role === "tool");
    expect(sent?.map(({ content }) => content)).toEqual(["told", "changed x"]);
  });

  test("runs a call that waited for the owner, since it has surely not begun", async () => {
    const calls = [call(0, 0, "change"), call(0, 1, "change")];
    const { world, begun, dead } = begin(["done"], { isWaiting: (id: string) => id === calls[0]?.id });
    await dead;
    await leave(world, [user, { role: "assistant", content: "", tool_calls: calls }]);
    const life = world.start();
    await life.settled();
    await life.end();
    expect(begun).toEqual(calls.map(({ id }) => `! ${id}`));
  });

  test("counts the rounds on, so that ids are never used twice and the limit holds for the whole turn", async () => {
    const script = [{ calls: [{ name: "look", arguments: { what: "y" } }] }, "summary"] as const;
    const { world, model, dead } = begin(script, { maxToolIterations: 3 });
    await dead;
    const lines = [0, 1].flatMap((round): StoredMessage[] => {
      const one = call(round, 0, "look");
      return [
        { role: "assistant", content: "", tool_calls: [one] },
        { role: "tool", tool_call_id: one.id, name: "look", content: "saw" },
      ];
    });
    await leave(world, [user, ...lines]);
    const life = world.start();
    await life.settled();
    await life.end();
    const { calls } = ids(await world.stored());
    expect(calls).toEqual([0, 1, 2].map((round) => call(round, 0, "look").id));
    expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(["auto", "none"]);
    expect(world.finals()[0]?.content).toBe("summary");
  });

  test("ends a turn that added nothing in five starts, and answers the others", async () => {
    const quick = createFakeModel("hello");
    let starts = 0;
    let reached = Promise.withResolvers<void>();
    const world = createWorld({
      model: () => ({
        provider: "test",
        chat(request, options) {
          const isPoison = request.messages.some(({ content }) => content.includes("poison"));
          if (!isPoison) return quick.chat(request, options);
          starts++;
          reached.resolve();
          return new Promise(() => {});
        },
      }),
    });
    for (let lives = 0; lives < 8; lives++) {
      reached = Promise.withResolvers();
      const life = world.start();
      life.send({ id: "1", content: "poison" });
      if (lives === 0) life.send({ id: "2", content: "hi", chatId: "b", sessionKey: "cli:b" });
      await Promise.race([reached.promise, life.settled()]);
      life.kill();
    }
    // Once as it came, and four times more; the fifth start in a row with as many lines ends it.
    expect(starts).toBe(5);
    expect(world.answers()).toEqual({ "1": 1, "2": 1 });
    expect(world.finals().find(({ id }) => id === "1/final")).toMatchObject({
      outcome: "error",
      content: expect.stringContaining("not begun again"),
    });
  });

  test("says what was asked again when somebody else has used the session since", async () => {
    const { world, model, dead } = begin(["late"]);
    await dead;
    await leave(world, [user]);
    const other = [
      { role: "user", content: "other", inbound: "x" as InboundId },
      { role: "assistant", content: "other answer" },
    ] as const;
    await leave(world, other, "x");
    const life = world.start();
    await life.settled();
    await life.end();
    const sent = model.requests[0]?.messages ?? [];
    expect(checkTranscript(sent)).toBeUndefined();
    expect(sent.at(-1)?.content).toEndWith("work");
  });

  test("still closes what another turn left open, and never runs it", async () => {
    const { world, begun, dead } = begin(["done"]);
    await dead;
    const before = [
      { role: "user", content: "before", inbound: "0" as InboundId },
      { role: "assistant", content: "", tool_calls: [call(0, 0, "change")] },
    ] as const;
    await leave(world, before, "0");
    const life = world.start();
    await life.settled();
    await life.end();
    expect(begun).toEqual([]);
    expect((await world.stored()).map(({ content }) => content)).toEqual([
      "before",
      "",
      INTERRUPTED,
      "work",
      "done",
    ]);
  });
});
