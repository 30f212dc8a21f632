import { describe, expect, test } from "bun:test";
import { readFileSync, symlinkSync, unlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { createBackgroundPause } from "../../src/schedule/background-pause.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";
import { connect, serve } from "../providers/fixture.ts";
import { createWorld, decides, MINUTE, readState, startIn, takeTurns, write } from "./heartbeat-fixture.ts";

const template = readFileSync(resolve(import.meta.dir, "../../workspace/HEARTBEAT.md"), "utf8");

describe("now()", () => {
  test("begins a turn of its own session, with the tasks and what is due", async () => {
    const world = createWorld("# Mine\n- Tell me when the build fails\n- Water the plants on Mondays\n");
    world.model.push(decides("run", "Look at the build"));
    const { begun } = takeTurns(world.bus);
    const { now } = startIn(world);
    expect(await now()).toBe("begun");
    await world.clock.giveWay();
    expect(begun).toEqual([
      {
        id: `heartbeat:${world.clock.now()}` as never,
        kind: "message",
        channel: "none",
        chatId: "",
        senderId: "heartbeat",
        sessionKey: "heartbeat",
        origin: "heartbeat",
        content: expect.stringContaining("- Water the plants on Mondays"),
        media: [],
        timestamp: "2023-11-14T22:13:20.000Z",
        metadata: {},
      },
    ]);
    expect(begun[0]?.content).toContain("Look at the build");
    expect(begun[0]?.content).toContain("reply with HEARTBEAT_OK");
  });

  test("asks with the tasks, the time and on the heartbeat's account", async () => {
    const world = createWorld("- Water the plants on Mondays\n");
    const callers: unknown[] = [];
    world.model.push(async (_, { caller }) => {
      callers.push(caller);
      return { ok: true, content: "", toolCalls: [], finishReason: "stop" };
    });
    await startIn(world, { timeZone: () => "Asia/Tokyo" }).now();
    const [request] = world.model.requests;
    expect(request).toMatchObject({
      model: "m",
      toolChoice: { name: "heartbeat" },
      tools: [{ name: "heartbeat", parameters: { required: ["action"] } }],
      maxTokens: 4_096,
      temperature: 0.7,
      reasoningEffort: "low",
    });
    expect(request?.messages[1]?.content).toContain("2023-11-15 07:13 (Wednesday, Asia/Tokyo)");
    expect(request?.messages[1]?.content).toContain("- Water the plants on Mondays");
    expect(callers).toEqual([
      { sessionKey: "heartbeat", origin: "heartbeat", turn: `heartbeat:${world.clock.now()}` },
    ]);
  });

  test.each([
    ["the unedited template", template],
    [
      "headings, comments, empty checkboxes and one edited sentence of the template",
      "# Heartbeat Tasks\n\nThis file is looked at now and then, I believe.\n\n<!-- a\n- b -->\n- [ ]\n\n## Active Tasks\n\n* [ ]\n<!-- none -->\n- [x] done\n",
    ],
    ["an empty file", ""],
  ])("calls no model for %s", async (_, text) => {
    const world = createWorld(text);
    const { now } = startIn(world, { template: async () => template });
    expect(await now()).toBe("no tasks");
    expect(world.model.requests).toEqual([]);
  });

  test("calls no model where there is no file", async () => {
    const world = createWorld();
    unlinkSync(join(world.workspace, "HEARTBEAT.md"));
    expect(await startIn(world).now()).toBe("no tasks");
    expect(world.model.requests).toEqual([]);
  });

  test("sees what was written into the file and taken out again", async () => {
    const world = createWorld("");
    const { now } = startIn(world);
    world.model.push(decides("skip"));
    expect(await now()).toBe("no tasks");
    write(world.workspace, "HEARTBEAT.md", "- check the mail\n");
    expect(await now()).toBe("skipped");
    write(world.workspace, "HEARTBEAT.md", "<!-- check the mail -->\n");
    expect(await now()).toBe("no tasks");
  });

  test("skips when the model decides so", async () => {
    const world = createWorld();
    const { begun } = takeTurns(world.bus);
    world.model.push(decides("skip"));
    expect(await startIn(world).beat()).toEqual({ kind: "skipped" });
    await world.clock.giveWay();
    expect(begun).toEqual([]);
  });

  test.each([
    ["the model says nothing by the tool", "HEARTBEAT_OK", "no call of heartbeat came"],
    [
      "the model calls another tool",
      { calls: [{ name: "run", arguments: {} }] },
      "no call of heartbeat came",
    ],
    [
      "the arguments do not fit",
      { calls: [{ name: "heartbeat", arguments: { action: "perhaps" } }] },
      "the arguments do not fit",
    ],
    ["the arguments are broken", { calls: [{ name: "heartbeat", arguments: '{"action": "ru' }] }, ""],
    ["the model fails", { error: { kind: "transient", message: "down" } }, "down"],
    ["the key is refused", { error: { kind: "auth", message: "401: no such key" } }, "401: no such key"],
  ] as const)("does nothing and says that nobody decided, and why, when %s", async (_, reply, problem) => {
    const world = createWorld();
    const { begun } = takeTurns(world.bus);
    world.model.push(reply);
    expect(await startIn(world).beat()).toEqual({
      kind: "undecided",
      problem: expect.stringContaining(problem),
    });
    await world.clock.giveWay();
    expect(begun).toEqual([]);
  });

  test("says in the log why nobody decided", async () => {
    const world = createWorld();
    world.model.push({ error: { kind: "auth", message: "the key was refused" } });
    const { now, log } = startIn(world);
    await now();
    expect(log.lines.join("\n")).toContain("the key was refused");
  });

  test("says that a turn runs already until it is done, whoever asks", async () => {
    const world = createWorld();
    world.model.push(decides("run"), decides("run"));
    const { finish } = takeTurns(world.bus);
    const first = startIn(world);
    expect(await first.now()).toBe("begun");
    await world.clock.advance(1);
    expect(await first.now()).toBe("running already");
    // Also in the next process.
    const next = startIn(world);
    expect(await next.now()).toBe("running already");
    expect(world.model.requests).toHaveLength(1);
    await finish();
    expect(await next.now()).toBe("begun");
  });

  test("says that a look is under way", async () => {
    const world = createWorld();
    const hold = Promise.withResolvers<void>();
    world.model.push(async () => {
      await hold.promise;
      return { ok: true, content: "", toolCalls: [], finishReason: "stop" };
    });
    const { now } = startIn(world);
    const first = now();
    expect(await now()).toBe("running already");
    hold.resolve();
    expect(await first).toBe("undecided");
    world.model.push(decides("skip"));
    expect(await now()).toBe("skipped");
  });

  test("never begins two turns of the same name", async () => {
    const world = createWorld();
    world.model.push(decides("run"), decides("run"));
    const { begun, finish } = takeTurns(world.bus);
    const { now } = startIn(world);
    expect(await now()).toBe("begun");
    await world.clock.giveWay();
    await finish();
    expect(await now()).toBe("running already");
    expect(begun).toHaveLength(1);
  });

  test("does nothing while the background is paused", async () => {
    const world = createWorld();
    const { clock } = world;
    const pause = createBackgroundPause({ clock, log: createFakeLog(), tellOwner: async () => {} });
    pause.observe({ origin: "cron", error: "quota" });
    const paused = startIn(world, { pause });
    expect(await paused.beat()).toEqual({ kind: "paused", leftMs: 5 * MINUTE });
    await clock.advance(2 * MINUTE);
    expect(await paused.beat()).toEqual({ kind: "paused", leftMs: 3 * MINUTE });
    expect(world.model.requests).toEqual([]);
    await clock.advance(3 * MINUTE);
    world.model.push(decides("skip"));
    expect(await paused.now()).toBe("skipped");
  });

  test("reads 64 KiB of the file, and says that there is more", async () => {
    const lines = Array.from({ length: 4_000 }, (_, index) => `- task number ${index}, 🙂🙂🙂`);
    const world = createWorld(lines.join("\n"));
    world.model.push(decides("run"));
    const { begun } = takeTurns(world.bus);
    const { now, log } = startIn(world);
    expect(await now()).toBe("begun");
    await world.clock.giveWay();
    const asked = world.model.requests[0]?.messages[1]?.content ?? "";
    for (const content of [asked, begun[0]?.content ?? ""]) {
      expect(content).toContain("- task number 0,");
      expect(content).toContain("🙂🙂🙂\n\n[HEARTBEAT.md is longer than 64 KiB");
      expect(content).not.toContain("task number 3999");
      expect(content).not.toContain("\ufffd");
      expect(content.length).toBeLessThan(25_000);
    }
    expect(log.lines.join("\n")).toContain("too long");
  });

  test("fits a model with a small window", async () => {
    const world = createWorld(
      Array.from({ length: 500 }, (_, index) => `- 任务${index}看一看邮件`).join("\n"),
    );
    world.model.push(decides("skip"));
    const { model } = world;
    await startIn(world, {
      model: async () => ({
        model,
        name: "m",
        maxTokens: 100,
        temperature: 0,
        reasoningEffort: undefined,
        promptTokens: 1_000,
      }),
    }).now();
    const [request] = world.model.requests;
    expect(request?.messages[1]?.content.length).toBeLessThan(1_200);
    expect(request?.maxTokens).toBe(100);
    expect(request).not.toHaveProperty("reasoningEffort");
  });

  test("clips what the model says is due", async () => {
    const world = createWorld();
    world.model.push(decides("run", "x".repeat(1_000_000)));
    const { begun } = takeTurns(world.bus);
    await startIn(world).now();
    await world.clock.giveWay();
    expect(begun[0]?.content.length).toBeLessThan(6_000);
  });

  test("takes no file that a link leads out of the workspace for", async () => {
    const world = createWorld();
    const elsewhere = tempFolder();
    write(elsewhere, "config.json", "- a secret\n");
    unlinkSync(join(world.workspace, "HEARTBEAT.md"));
    symlinkSync(join(elsewhere, "config.json"), join(world.workspace, "HEARTBEAT.md"));
    await expect(startIn(world).now()).rejects.toThrow("leads out of the workspace");
    write(world.workspace, ".nanobot/pairing.json", "- a secret\n");
    unlinkSync(join(world.workspace, "HEARTBEAT.md"));
    symlinkSync(join(world.workspace, ".nanobot/pairing.json"), join(world.workspace, "HEARTBEAT.md"));
    await expect(startIn(world).now()).rejects.toThrow("leads out of the workspace");
    expect(world.model.requests).toEqual([]);
  });

  test("follows a link within the workspace, and reads the file of any editor", async () => {
    const world = createWorld();
    unlinkSync(join(world.workspace, "HEARTBEAT.md"));
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("# H\r\n- check\r\n", "utf16le")]);
    write(world.workspace, "notes/beat.md", "");
    await Bun.write(join(world.workspace, "notes/beat.md"), utf16);
    symlinkSync("notes/beat.md", join(world.workspace, "HEARTBEAT.md"));
    world.model.push(decides("skip"));
    expect(await startIn(world).now()).toBe("skipped");
    expect(world.model.requests[0]?.messages[1]?.content).toContain("# H\n- check");
  });

  test("takes a folder in the place of the file for what the user can mend", async () => {
    const world = createWorld();
    unlinkSync(join(world.workspace, "HEARTBEAT.md"));
    write(world.workspace, "HEARTBEAT.md/x", "");
    await expect(startIn(world).now()).rejects.toMatchObject({ name: "UserError" });
  });

  test("works without its template, and says so", async () => {
    const world = createWorld();
    world.model.push(decides("skip"));
    const { now, log } = startIn(world, { template: () => Promise.reject(new Error("no assets")) });
    expect(await now()).toBe("skipped");
    expect(log.lines.join("\n")).toContain("no assets");
  });

  test("records the beat before it is paid for", async () => {
    const world = createWorld();
    let recorded: unknown;
    world.model.push(async () => {
      recorded = readState(world.workspace);
      return { ok: true, content: "", toolCalls: [], finishReason: "stop" };
    });
    await startIn(world).now();
    expect(recorded).toEqual({ v: 1, beatAt: "2023-11-14T22:13:20.000Z" });
  });

  test("decides over the wire, also with a model that cannot be forced", async () => {
    const server = await serve([
      { toolCalls: [{ name: "heartbeat", arguments: { action: "run", tasks: "all" } }] },
      {
        status: 400,
        body: { error: { message: "tool_choice: only auto is supported", type: "invalid_request_error" } },
      },
      { text: "Nothing is due." },
    ]);
    const world = createWorld();
    const { finish } = takeTurns(world.bus);
    const { model } = connect(server.url);
    const { now } = startIn(world, {
      model: async () => ({
        model,
        name: "m",
        maxTokens: 100,
        temperature: 0,
        reasoningEffort: undefined,
        promptTokens: 9_000,
      }),
    });
    expect(await now()).toBe("begun");
    await world.clock.giveWay();
    await finish();
    expect(await now()).toBe("undecided");
    expect(server.requests.map(({ body }) => body["tool_choice"])).toEqual([
      { type: "function", function: { name: "heartbeat" } },
      { type: "function", function: { name: "heartbeat" } },
      "auto",
    ]);
    expect(server.invalid).toEqual([]);
  });
});

describe("turnEnded()", () => {
  test("says in the log how a turn of it ended", () => {
    const { heartbeat, log } = startIn(createWorld());
    heartbeat.turnEnded({
      type: "turn.ended",
      inboundId: "heartbeat:1" as never,
      status: "failed",
      durationMs: 7,
    });
    expect(log.lines).toEqual(["info A turn of the heartbeat ended heartbeat:1 failed 7"]);
  });
});
