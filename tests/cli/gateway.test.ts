import { expect, test } from "bun:test";
import { command } from "../../src/cli/gateway.ts";
import { runCli } from "../../src/cli/run.ts";
import type { App, GatewayOptions, ModelChoice } from "../../src/core/app.ts";
import { Stopped } from "../../src/core/errors.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp } from "./fixture.ts";

const model = { name: "test-model", offline: false } as ModelChoice;
const offline = { name: "offline", offline: true } as ModelChoice;

function setUp({ chosen = model, outcome = "ended" as "ended" | "restart" } = {}) {
  const started: GatewayOptions[] = [];
  const wanted: unknown[] = [];
  const app = createTestApp({
    home: tempFolder(),
    chooseModel: async (choice) => {
      wanted.push(choice);
      return chosen;
    },
  });
  const whole: App = {
    ...app,
    async gateway(options) {
      const { name } = await options.prepare();
      started.push(options);
      options.onReady({ address: "http://127.0.0.1:18790", channels: ["telegram"], model: name });
      return outcome;
    },
    startAgain: async () => 75,
  };
  const run = (options = {}) =>
    command.run?.({ app: whole, positionals: [], options, signal: new AbortController().signal });
  return { run, started, wanted, app: whole, terminal: app.terminal };
}

test("gateway says where it listens, and what answers where", async () => {
  const { run, terminal } = setUp();
  expect(await run()).toBe(0);
  expect(terminal.stderr).toBe(
    "nanobot 0.0.0 listens on http://127.0.0.1:18790, test-model answers on telegram\n",
  );
});

test("gateway passes host, port and model on", async () => {
  const { run, started, wanted } = setUp();
  await run({ host: "0.0.0.0", port: "0", model: "other" });
  expect(started[0]).toMatchObject({ host: "0.0.0.0", port: 0, isModelWanted: true });
  expect(wanted).toEqual([{ model: "other", offline: false }]);
});

test.each(["-1", "65536", "http", "1e3", ""])("gateway refuses --port %j", async (port) => {
  await expect(setUp().run({ port })).rejects.toThrow("Read --port");
});

test("gateway refuses to start without a model, unless the stand-in is asked for", async () => {
  const { run, started } = setUp({ chosen: offline });
  await expect(run()).rejects.toThrow("no model is configured");
  expect(started).toEqual([]);
  expect(await run({ offline: true })).toBe(0);
});

test("gateway leaves with what starting again comes to", async () => {
  expect(await setUp({ outcome: "restart" }).run()).toBe(75);
});

test("gateway that was ended by a signal was not interrupted", async () => {
  const { app } = setUp();
  const ended = new AbortController();
  ended.abort(new Stopped("shutdown"));
  const code = await runCli({
    argv: ["gateway"],
    terminal: app.platform.terminal,
    signal: ended.signal,
    createApp: async () => app,
    flush: async () => {},
    mask: (text) => text,
  });
  expect(code).toBe(0);
});
