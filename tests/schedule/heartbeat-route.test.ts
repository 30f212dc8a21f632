import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { never } from "../../src/lib/abort.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { unreadableFiles } from "../access/fixture.ts";
import {
  createWorld,
  HOUR,
  heartbeatMessage,
  judges,
  MINUTE,
  OWNER,
  readState,
  settable,
  startIn,
  write,
} from "./heartbeat-fixture.ts";

describe("route()", () => {
  test("is the owner when the judge says so, and records that", async () => {
    const world = createWorld();
    world.model.push(judges(true));
    expect(await startIn(world).route(heartbeatMessage())).toEqual(OWNER);
    expect(readState(world.workspace)).toEqual({
      v: 1,
      alert: {
        turn: "heartbeat:1700000000000",
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        at: "2023-11-14T22:13:20.000Z",
        ...OWNER,
      },
    });
  });

  test("asks the judge coldly, with the task and the reply", async () => {
    const world = createWorld();
    const callers: unknown[] = [];
    world.model.push(async (_, { caller }) => {
      callers.push(caller);
      return { ok: true, content: "", toolCalls: [], finishReason: "stop" };
    });
    await startIn(world).route(heartbeatMessage("heartbeat:5", "Look at the build"));
    const [request] = world.model.requests;
    expect(request).toMatchObject({
      temperature: 0,
      maxTokens: 4_096,
      toolChoice: { name: "evaluate_notification" },
      tools: [{ name: "evaluate_notification", parameters: { required: ["should_notify"] } }],
    });
    expect(request?.messages[0]?.content).toContain("worth interrupting");
    expect(request?.messages[1]?.content).toContain("Look at the build");
    expect(request?.messages[1]?.content).toContain("The build failed.");
    expect(callers).toEqual([{ sessionKey: "heartbeat", origin: "heartbeat", turn: "heartbeat:5" }]);
  });

  test.each([
    ["says no", judges(false)],
    ["says nothing by the tool", "Yes, notify!"],
    ["calls another tool", { calls: [{ name: "notify", arguments: { should_notify: true } }] }],
    [
      "gives no answer that fits",
      { calls: [{ name: "evaluate_notification", arguments: { reason: "why" } }] },
    ],
    [
      "gives broken arguments",
      { calls: [{ name: "evaluate_notification", arguments: '{"should_notify": tr' }] },
    ],
    ["fails", { error: { kind: "quota", message: "empty" } }],
    ["is aborted", { error: { kind: "aborted", message: "aborted" } }],
  ] as const)("is nobody when the judge %s", async (_, reply) => {
    const world = createWorld();
    world.model.push(reply);
    expect(await startIn(world).route(heartbeatMessage())).toBeUndefined();
    expect(world.model.requests).toHaveLength(1);
  });

  test.each([
    ["there is no model", { model: () => Promise.reject(new Error("no model")) }],
    ["the owner cannot be found", { findOwner: () => Promise.reject(new Error("no file")) }],
  ])("is nobody, and says so in the log, when %s", async (_, options) => {
    const { route, log } = startIn(createWorld(), options);
    expect(await route(heartbeatMessage())).toBeUndefined();
    expect(log.lines.join("\n")).toContain("Nobody hears");
  });

  test("takes an answer of the judge in the types that models give", async () => {
    const world = createWorld();
    world.model.push({
      calls: [{ name: "evaluate_notification", arguments: { should_notify: "true", reason: null } }],
    });
    expect(await startIn(world).route(heartbeatMessage())).toEqual(OWNER);
  });

  test.each(["HEARTBEAT_OK", "**Heartbeat ok.**", "All is well.\n\n`HEARTBEAT_OK`", "", " \n"])(
    "is nobody for %j, before any judge is asked",
    async (content) => {
      const world = createWorld();
      expect(await startIn(world).route(heartbeatMessage(), { content })).toBeUndefined();
      expect(world.model.requests).toEqual([]);
    },
  );

  test("is nobody for a turn that failed, which only the log tells", async () => {
    const world = createWorld();
    const { route, log } = startIn(world);
    expect(await route(heartbeatMessage(), { outcome: "error", content: "out of money" })).toBeUndefined();
    expect(world.model.requests).toEqual([]);
    expect(log.lines.join("\n")).toContain("out of money");
  });

  test("is nobody where there is no owner, which it warns of once and asks no judge for", async () => {
    const world = createWorld();
    let owner: typeof OWNER | undefined;
    const { route, log } = startIn(world, { findOwner: async () => owner });
    const warnings = () => log.lines.filter((line) => line.includes("nobody to tell")).length;
    expect(await route(heartbeatMessage("heartbeat:1"))).toBeUndefined();
    expect(await route(heartbeatMessage("heartbeat:2"))).toBeUndefined();
    expect(warnings()).toBe(1);
    expect(world.model.requests).toEqual([]);
    owner = OWNER;
    world.model.push(judges(true));
    expect(await route(heartbeatMessage("heartbeat:3"))).toEqual(OWNER);
    owner = undefined;
    expect(await route(heartbeatMessage("heartbeat:4"), { content: "More." })).toBeUndefined();
    expect(warnings()).toBe(2);
  });

  test("does not tell the same news again for 24 hours, however it is written, and then does", async () => {
    const world = createWorld();
    world.model.push(judges(true), judges(true));
    const { route } = startIn(world);
    expect(await route(heartbeatMessage("heartbeat:1"), { content: "The build failed." })).toEqual(OWNER);
    const written = [
      "The build failed.",
      "**the  BUILD**\nfailed.",
      "> - The build `failed`.",
      "The build\u200b ｆailed.\n",
    ];
    for (const [index, content] of written.entries()) {
      await world.clock.advance(5 * HOUR);
      // Also in another process.
      const { route: again } = startIn(world);
      expect(await again(heartbeatMessage(`heartbeat:2${index}`), { content })).toBeUndefined();
    }
    expect(world.model.requests).toHaveLength(1);
    await world.clock.advance(4 * HOUR);
    expect(await route(heartbeatMessage("heartbeat:3"), { content: "The build failed." })).toEqual(OWNER);
  });

  test("tells other news, and then the first again", async () => {
    const world = createWorld();
    world.model.push(judges(true), judges(true), judges(true), judges(true));
    const { route } = startIn(world);
    for (const [index, content] of [
      "It is -5 degrees",
      "It is 5 degrees",
      "up",
      "It is -5 degrees",
    ].entries()) {
      expect(await route(heartbeatMessage(`heartbeat:${index}`), { content })).toEqual(OWNER);
    }
  });

  test("news that nobody was told does not hold back the same", async () => {
    const world = createWorld();
    world.model.push(judges(false), judges(true));
    const { route } = startIn(world);
    expect(await route(heartbeatMessage("heartbeat:1"))).toBeUndefined();
    expect(await route(heartbeatMessage("heartbeat:2"))).toEqual(OWNER);
  });

  test("decides the same again when the process ended before the answer was safe", async () => {
    const world = createWorld();
    world.model.push(judges(true));
    expect(await startIn(world).route(heartbeatMessage())).toEqual(OWNER);
    await world.clock.advance(MINUTE);
    const next = startIn(world, { findOwner: async () => ({ channel: "slack", chatId: "another" }) });
    expect(await next.route(heartbeatMessage())).toEqual(OWNER);
    expect(await next.route(heartbeatMessage())).toEqual(OWNER);
    expect(world.model.requests).toHaveLength(1);
    // And not for another turn.
    expect(await next.route(heartbeatMessage("heartbeat:2"))).toBeUndefined();
  });

  test("takes news of a time that is yet to come for old when it is a day or more away", async () => {
    const world = createWorld();
    const clock = settable(world.clock);
    world.model.push(judges(true), judges(true));
    const { route } = startIn(world, { clock });
    await route(heartbeatMessage("heartbeat:1"));
    clock.set(-2 * HOUR);
    expect(await route(heartbeatMessage("heartbeat:2"))).toBeUndefined();
    clock.set(-24 * HOUR);
    expect(await route(heartbeatMessage("heartbeat:3"))).toEqual(OWNER);
  });

  test("asks by the owner's own instructions, where there are some", async () => {
    const world = createWorld();
    const { route } = startIn(world);
    const asked = async (id: string) => {
      world.model.push(judges(false));
      await route(heartbeatMessage(id));
      return world.model.requests.at(-1)?.messages[0]?.content ?? "";
    };
    write(world.workspace, "prompts/evaluator.md", "Only fires count.\n");
    expect(await asked("heartbeat:1")).toBe("Only fires count.\n");
    write(world.workspace, "prompts/evaluator.md", " \n");
    expect(await asked("heartbeat:2")).toContain("worth interrupting");
    write(world.workspace, "prompts/evaluator.md", "fire ".repeat(100_000));
    const long = await asked("heartbeat:3");
    expect(long).toStartWith("fire fire");
    expect(long.length).toBeGreaterThan(25_000);
    expect(long.length).toBeLessThanOrEqual(32_000);
  });

  test("asks by its own instructions when those of the owner cannot be read, and says so", async () => {
    const world = createWorld();
    mkdirSync(join(world.workspace, "prompts/evaluator.md"), { recursive: true });
    world.model.push(judges(true));
    const { route, log } = startIn(world);
    expect(await route(heartbeatMessage())).toEqual(OWNER);
    expect(world.model.requests[0]?.messages[0]?.content).toContain("worth interrupting");
    expect(log.lines.join("\n")).toContain("evaluator.md");
  });

  test("shows the judge both ends of a long reply", async () => {
    const world = createWorld();
    world.model.push(judges(true));
    const content = `The beginning ${"x".repeat(900_000)} the end.`;
    expect(await startIn(world).route(heartbeatMessage(), { content })).toEqual(OWNER);
    const asked = world.model.requests[0]?.messages[1]?.content ?? "";
    expect(asked).toContain("The beginning");
    expect(asked).toContain("the end.");
    expect(asked.length).toBeLessThan(25_000);
  });

  test("is nobody once its signal has aborted", async () => {
    const world = createWorld();
    world.model.push({ hang: true });
    const stop = new AbortController();
    const { heartbeat, log } = startIn(world);
    const routed = heartbeat.route(heartbeatMessage(), { outcome: "answer", content: "News" }, stop.signal);
    stop.abort();
    expect(await routed).toBeUndefined();
    expect(log.lines.filter((line) => line.startsWith("warn"))).toEqual([]);
  });

  test("tells though nothing can be recorded", async () => {
    const world = createWorld();
    world.model.push(judges(true));
    const files = { ...createFileSystem(), replace: () => Promise.reject(new Error("ENOSPC")) };
    const { route, log } = startIn(world, { files });
    expect(await route(heartbeatMessage("heartbeat:1"))).toEqual(OWNER);
    expect(log.lines.join("\n")).toContain("Could not record");
    // This process knows it still.
    expect(await route(heartbeatMessage("heartbeat:2"))).toBeUndefined();
  });

  test.each([
    ["no JSON", "{", "corrupt"],
    ["a list", "[]", "corrupt"],
    ["of a newer version", '{"v":2,"beatAt":"2026-11-30T09:00:00.000Z"}', "newer"],
    ["of odd types", '{"v":1,"beatAt":7,"turn":[],"alert":{"turn":"a","digest":1}}', undefined],
    ["of names without end", JSON.stringify({ v: 1, turn: "x".repeat(5_000) }), undefined],
  ])("works with a record that is %s", async (_, text, what) => {
    const world = createWorld();
    write(world.workspace, ".nanobot/heartbeat.json", text);
    world.model.push(judges(true));
    const { heartbeat, log } = startIn(world);
    expect(await heartbeat.route(heartbeatMessage(), { outcome: "answer", content: "News" }, never)).toEqual(
      OWNER,
    );
    const state = JSON.stringify(readState(world.workspace));
    if (what === "newer") expect(state).toBe(text);
    else expect(state).toContain('"digest"');
    expect(state.length).toBeLessThan(1_000);
    if (what !== undefined) expect(log.lines.join("\n")).toContain(what);
    else expect(log.lines.filter((line) => !line.startsWith("info"))).toEqual([]);
  });

  test("works with a record that cannot be read", async () => {
    const world = createWorld();
    world.model.push(judges(true));
    const { route, log } = startIn(world, { files: unreadableFiles() });
    expect(await route(heartbeatMessage())).toEqual(OWNER);
    expect(log.lines.join("\n")).toContain("Could not read what the heartbeat did before");
  });
});
