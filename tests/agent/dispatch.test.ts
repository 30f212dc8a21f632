import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import type { LeftRunning } from "../../src/agent/dispatch.ts";
import { defineTool, type toolOk } from "../../src/core/tool.ts";
import { createResilient } from "../../src/providers/resilient/resilient.ts";
import { createStanding } from "../../src/providers/resilient/standing.ts";
import { createFakeModel, type Scripted, textReply } from "../fakes/model.ts";
import { tempFolder } from "../fakes/temp.ts";
import { chat, startAgent } from "./started.ts";

const start = (options: Parameters<typeof startAgent>[0] = {}, leftRunning?: LeftRunning) =>
  startAgent(options, leftRunning && { leftRunning });

describe("createDispatch()", () => {
  test("answers messages of one session in the order they came", async () => {
    const agent = start({ script: ["one", "two", "three"] });
    for (const id of ["1", "2", "3"]) await agent.send({ id, content: `ask ${id}` });
    await agent.finalsAre(3);
    expect(agent.finals().map(({ content }) => content)).toEqual(["one", "two", "three"]);
    await agent.stop();
    expect(agent.ended.map(({ status }) => status)).toEqual(["answered", "answered", "answered"]);
  });

  test("does not let one session wait for another", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const agent = start({
      script: [
        async (_, { onDelta }) => {
          onDelta({ kind: "text", text: "slow" });
          await held;
          return textReply("slow");
        },
        "quick",
      ],
    });
    await agent.send({ id: "1", ...chat("a") });
    await agent.until((shown) => shown.length > 0);
    await agent.send({ id: "2", ...chat("b") });
    await agent.finalsAre(1);
    expect(agent.finals()[0]?.content).toBe("quick");
    release();
    await agent.finalsAre(2);
    await agent.stop();
  });

  test("/stop ends what runs and what waits, and answers for both", async () => {
    const agent = start({ script: [{ hang: true, text: "thinking" }] });
    await agent.send({ id: "1" });
    await agent.until((shown) => shown.some(({ kind }) => kind === "delta"));
    await agent.send({ id: "2" });
    await agent.send({ id: "3", content: "/stop" });
    await agent.finalsAre(1);
    expect(agent.finals()).toMatchObject([
      { outcome: "command", content: "Stopped 2 tasks.", answers: ["3", "1", "2"] },
    ]);
    expect(agent.model.requests).toHaveLength(1);
    await agent.stop();
  });

  test("/stop leaves other sessions alone and says when there is nothing to stop", async () => {
    const agent = start({ script: [{ hang: true, text: "x" }] });
    await agent.send({ id: "1", ...chat("a") });
    await agent.until((shown) => shown.length > 0);
    await agent.send({ id: "2", content: "/stop", ...chat("b") });
    await agent.finalsAre(1);
    expect(agent.finals()[0]?.content).toBe("No active task to stop.");
    await agent.stop();
  });

  test.each(["/stop", "/new"])("%s ends what turns left running, after the turns", async (command) => {
    const stops: { key: string; ended: number }[] = [];
    const leftRunning: LeftRunning = {
      count: async () => 2,
      async end(key) {
        stops.push({ key, ended: agent.ended.length });
        return 2;
      },
    };
    const agent = start({ script: [{ hang: true, text: "x" }] }, leftRunning);
    await agent.send({ id: "1", ...chat("a") });
    await agent.until((shown) => shown.length > 0);
    await agent.send({ id: "2", content: command, ...chat("a") });
    await agent.finalsAre(1);
    expect(stops).toEqual([{ key: "cli:a", ended: 1 }]);
    if (command === "/stop") expect(agent.finals()[0]?.content).toBe("Stopped 3 tasks.");
    await agent.stop();
  });

  test("/status counts what turns of the session left running", async () => {
    const count = async (key: string) => (key === "cli:a" ? 2 : 0);
    const agent = start({ script: [] }, { count, end: async () => 0 });
    await agent.send({ id: "1", content: "/status", ...chat("a") });
    await agent.send({ id: "2", content: "/status", ...chat("b") });
    await agent.finalsAre(2);
    const [ofA, ofB] = agent.finals().map(({ content }) => content);
    expect(ofA).toContain("\nCommands that go on: 2\n");
    expect(ofB).not.toContain("Commands");
    await agent.stop();
  });

  test("/stop in the middle of a tool leaves a session whose calls are closed", async () => {
    const tool = defineTool({
      name: "wait",
      description: "",
      parameters: v.strictObject({}),
      execute: () => new Promise<ReturnType<typeof toolOk>>(() => {}),
    });
    const agent = start({ script: [{ calls: [{ name: "wait" }] }, "next"], tools: [tool] });
    await agent.send({ id: "1" });
    await agent.until((shown) => shown.some(({ kind }) => kind === "toolHint"));
    await agent.send({ id: "2", content: "/stop" });
    await agent.finalsAre(1);
    await agent.send({ id: "3", content: "go on" });
    await agent.finalsAre(2);
    expect(agent.model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "user",
    ]);
    await agent.stop();
  });

  test("/new archives the session after stopping it", async () => {
    const agent = start({ script: ["one", { hang: true, text: "x" }, "fresh"] });
    await agent.send({ id: "1", content: "old" });
    await agent.finalsAre(1);
    await agent.send({ id: "2" });
    await agent.until((shown) => shown.at(-1)?.kind === "delta");
    await agent.send({ id: "3", content: "/new" });
    await agent.finalsAre(2);
    expect(agent.finals()[1]).toMatchObject({ content: "New session started.", answers: ["3", "2"] });
    await agent.send({ id: "4", content: "hi" });
    await agent.finalsAre(3);
    expect(agent.model.requests.at(-1)?.messages).toHaveLength(2);
    await agent.stop();
  });

  test("/new that fails still answers for what it stopped", async () => {
    const agent = start({ script: [{ hang: true, text: "x" }] });
    await agent.send({ id: "1" });
    await agent.until((shown) => shown.length > 0);
    agent.failArchive();
    await agent.send({ id: "2", content: "/new" });
    await agent.finalsAre(1);
    expect(agent.finals()).toMatchObject([{ outcome: "error", content: "EACCES: no", answers: ["2", "1"] }]);
    await agent.stop();
  });

  test("/new comes before a message that arrives while it stops what runs", async () => {
    const agent = start({ script: ["one", { hang: true, text: "x" }, "fresh"] });
    await agent.send({ id: "1", content: "old" });
    await agent.finalsAre(1);
    await agent.send({ id: "2" });
    await agent.until((shown) => shown.at(-1)?.kind === "delta");
    await Promise.all([agent.send({ id: "3", content: "/new" }), agent.send({ id: "4", content: "hi" })]);
    await agent.finalsAre(3);
    expect(agent.model.requests.at(-1)?.messages).toHaveLength(2);
    expect((await agent.stored()).map(({ content }) => content)).toEqual(["hi", "fresh"]);
    await agent.stop();
  });

  test("answers /help and /status while a turn runs, and unknown commands with a suggestion, without the model", async () => {
    const agent = start({ script: [{ hang: true, text: "x" }] });
    await agent.send({ id: "1" });
    await agent.until((shown) => shown.length > 0);
    for (const [id, content] of [
      ["2", "/help"],
      ["3", "/STATUS@nanobot"],
      ["4", "/stpo"],
      ["5", "/new now"],
    ] as const) {
      await agent.send({ id, content });
    }
    await agent.finalsAre(4);
    const contents = agent.finals().map(({ content }) => content);
    expect(contents[0]).toContain("/stop - ");
    expect(contents[1]).toMatch(/nanobot 1\.2\.3\nModel: test-model.*\n.*\nRunning: 1/);
    expect(contents[2]).toContain("Did you mean /stop?");
    expect(contents[3]).toBe("/new takes no arguments.");
    expect(agent.model.requests).toHaveLength(1);
    await agent.stop();
  });

  test("gives a path that begins with a slash to the model", async () => {
    const agent = start({ script: ["a file"] });
    await agent.send({ id: "1", content: "/etc/hosts: what is it?" });
    await agent.finalsAre(1);
    expect(agent.finals()[0]?.content).toBe("a file");
    await agent.stop();
  });

  test("takes /stop as text when it does not come from a chat", async () => {
    const agent = start({ script: ["fine"] });
    await agent.send({ id: "1", content: "/stop", origin: "cron" });
    await agent.finalsAre(1);
    expect(agent.finals()[0]?.outcome).toBe("answer");
    await agent.stop();
  });

  test("run() saves what runs when it is told to end, and leaves it without an answer", async () => {
    const agent = start({ script: [{ hang: true, text: "x" }] });
    await agent.send({ id: "1" });
    await agent.until((shown) => shown.length > 0);
    await agent.stop();
    expect(agent.finals()).toEqual([]);
    expect(agent.ended.map(({ status }) => status)).toEqual(["stopped"]);
    expect((await agent.stored()).map(({ role }) => role)).toEqual(["user"]);
  });

  test("/stop ends at once what waits for a model that is busy", async () => {
    const busy = { error: { kind: "transient", message: "busy", retryAfterMs: 20_000 } } as const;
    const agent = start({
      script: [busy, "never asked"],
      wrap: (model, clock) =>
        createResilient({
          candidates: [
            { provider: "p", name: "m", open: async () => model, standing: createStanding(clock) },
          ],
          retryMode: "standard",
          deadlineMs: 900_000,
          clock,
          random: () => 0.5,
          onCall: () => {},
        }),
    });
    await agent.send({ id: "1" });
    await agent.until((shown) => shown.some(({ kind }) => kind === "progress"));
    await agent.send({ id: "2", content: "/stop" });
    await agent.finalsAre(1);
    expect(agent.finals()).toMatchObject([{ content: "Stopped 1 task.", answers: ["2", "1"] }]);
    expect(agent.clock.elapsed()).toBe(0);
    await agent.stop();
  });

  describe("/model", () => {
    const big = () => createFakeModel(...Array<string>(9).fill("from big"));
    const say = async (agent: ReturnType<typeof start>, ...contents: string[]) => {
      const before = agent.finals().length;
      for (const [index, content] of contents.entries()) {
        await agent.send({ id: `${before + index}`, content });
        await agent.finalsAre(before + index + 1);
      }
      return agent
        .finals()
        .slice(before)
        .map(({ content }) => content);
    };

    test("says which model answers and which could, and changes nothing", async () => {
      const agent = start({ others: { big: big() } });
      const [reply] = await say(agent, "/model");
      expect(reply).toStartWith("This session uses test-model (the test says so).\nPresets: big\n");
      expect(agent.model.requests).toHaveLength(0);
      await agent.stop();
    });

    test("with a name lets another model answer from then on, in that session only", async () => {
      const agent = start({ script: ["one", "other session"], others: { big: big() } });
      const replies = await say(agent, "hi", "/model big", "hi", "/model", "/status");
      expect(replies.slice(0, 4)).toEqual([
        "one",
        "This session uses big from now on (it was chosen).",
        "from big",
        expect.stringMatching(/^This session uses big /),
      ]);
      expect(replies[4]).toContain("Model: big (it was chosen)");
      await agent.send({ id: "b", content: "hi", ...chat("b") });
      await agent.finalsAre(6);
      expect(agent.finals()[5]?.content).toBe("other session");
      await agent.stop();
    });

    test("default takes the configured model again", async () => {
      const agent = start({ script: ["one"], others: { big: big() } });
      const replies = await say(agent, "/model big", "/model default", "hi");
      expect(replies.slice(1)).toEqual([
        "This session uses test-model from now on (the test says so).",
        "one",
      ]);
      await agent.stop();
    });

    test("with an unknown name says why and what there is, and changes nothing", async () => {
      const agent = start({ script: ["one"], others: { big: big() } });
      const [refusal, answer] = await say(agent, "/model nope", "hi");
      expect(refusal).toBe('"nope" cannot be used: There is no model "nope". Presets: big.');
      expect(agent.finals()[0]?.outcome).toBe("error");
      expect(answer).toBe("one");
      await agent.stop();
    });

    test("holds over /new", async () => {
      const agent = start({ others: { big: big() } });
      const replies = await say(agent, "/model big", "hi", "/new", "hi", "/model");
      expect(replies.slice(3)).toEqual(["from big", expect.stringMatching(/^This session uses big /)]);
      await agent.stop();
    });

    test("refuses what cannot be a name, and keeps none of it", async () => {
      const agent = start({ script: ["one"], others: { big: big() } });
      const replies = await say(agent, "/model please use the best one", `/model ${"x".repeat(300)}`, "hi");
      expect(replies[0]).toBe(
        '"please use the best one" cannot be used: a model\'s name has no spaces. Presets: big.',
      );
      expect(replies[1]?.length).toBeLessThan(250);
      expect(replies[2]).toBe("one");
      await agent.stop();
    });

    test("holds for the next process, which knows it before anybody has asked a model", async () => {
      const workspace = tempFolder();
      const first = start({ workspace, others: { big: big() } });
      await say(first, "/model big", "hi");
      await first.stop();
      const second = start({ workspace, others: { big: big() } });
      const replies = await say(second, "/model", "hi");
      expect(replies).toEqual([expect.stringMatching(/^This session uses big /), "from big"]);
      await second.stop();
    });

    test("lets the configured model answer when the chosen one has gone, and says so in the log", async () => {
      const workspace = tempFolder();
      const first = start({ workspace, others: { big: big() } });
      await say(first, "/model big");
      await first.stop();
      const second = start({ workspace, script: ["one"] });
      expect(await say(second, "hi")).toEqual(["one"]);
      expect(second.log.lines.join()).toContain("The model chosen with /model cannot be used");
      await second.stop();
    });

    test("waits for the turn that runs, which ends with the model it began with", async () => {
      let release = () => {};
      const held = new Promise<void>((resolve) => (release = resolve));
      const slow: Scripted = async (_, { onDelta }) => {
        onDelta({ kind: "text", text: "slow" });
        await held;
        return textReply("slow");
      };
      const agent = start({ script: [slow], others: { big: big() } });
      await agent.send({ id: "1" });
      await agent.until((shown) => shown.length > 0);
      await agent.send({ id: "2", content: "/model big" });
      await agent.send({ id: "3", content: "hi" });
      release();
      await agent.finalsAre(3);
      expect(agent.finals().map(({ content }) => content)).toEqual([
        "slow",
        "This session uses big from now on (it was chosen).",
        "from big",
      ]);
      await agent.stop();
    });
  });
});
