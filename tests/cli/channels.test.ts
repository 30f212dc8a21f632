import { expect, test } from "bun:test";
import { command } from "../../src/cli/channels.ts";
import type { App, ChannelInfo } from "../../src/core/app.ts";
import { UserError } from "../../src/core/errors.ts";
import type { JsonValue } from "../../src/core/json.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp } from "./fixture.ts";

function setUp({
  channels = [],
  status,
  testChannel,
}: {
  channels?: readonly ChannelInfo[];
  status?: JsonValue;
  testChannel?: App["testChannel"];
}) {
  const app = createTestApp({ home: tempFolder() });
  const run = (name: "list" | "status" | "test", positionals: readonly string[] = [], options = {}) =>
    command.subcommands?.[name]?.run?.({
      app: {
        ...app,
        channels: async () => channels,
        askGateway: async () =>
          status === undefined ? { running: false } : { running: true, value: status },
        ...(testChannel === undefined ? {} : { testChannel }),
      },
      positionals,
      options,
      signal: new AbortController().signal,
    });
  return { run, terminal: app.terminal };
}

const telegram = {
  name: "telegram",
  state: "connected",
  detail: "@ourbot",
  heardAt: "2026-11-30T09:00:00.000Z",
  restarts: 0,
};

test("list shows which are enabled, and what is wrong with one", async () => {
  const { run, terminal } = setUp({
    channels: [
      { name: "telegram", enabled: true, exists: true, problem: undefined },
      { name: "webhook", enabled: false, exists: true, problem: undefined },
    ],
  });
  expect(await run("list")).toBe(0);
  expect(terminal.stdout).toBe("telegram     enabled\nwebhook      -\n");
  const broken = setUp({
    channels: [{ name: "telegram", enabled: true, exists: true, problem: "the token is missing" }],
  });
  expect(await broken.run("list")).toBe(1);
  expect(broken.terminal.stdout).toContain("✗ the token is missing");
});

test("status tells of each channel, and exits with 1 when one is out", async () => {
  const { run, terminal } = setUp({
    status: [
      telegram,
      { ...telegram, name: "webhook", state: "failed", detail: null, heardAt: null, restarts: 3 },
    ],
  });
  expect(await run("status")).toBe(1);
  expect(terminal.stdout).toBe(
    [
      "telegram     connected    last heard from 2026-11-30T09:00:00.000Z  @ourbot",
      "webhook      failed       never heard from, started again 3 times",
      "",
    ].join("\n"),
  );
});

test("status exits with 0 when all are connected, and prints JSON", async () => {
  const { run, terminal } = setUp({ status: [telegram] });
  expect(await run("status", [], { json: true })).toBe(0);
  expect(JSON.parse(terminal.stdout)).toEqual([telegram]);
});

test("status says so when no gateway runs", async () => {
  await expect(setUp({}).run("status")).rejects.toThrow("No gateway runs for this workspace");
});

test("test says whose credentials they are, and passes on where to send", async () => {
  const asked: unknown[] = [];
  const { run, terminal } = setUp({
    testChannel: async (name, options) => {
      asked.push(name, options);
      return "telegram: @ourbot (id 1)\u001b[31m";
    },
  });
  expect(await run("test", ["telegram"], { send: "7" })).toBe(0);
  expect(asked).toEqual(["telegram", { sendTo: "7" }]);
  expect(terminal.stdout).toContain("telegram: @ourbot (id 1)");
  expect(terminal.stdout).not.toContain("\u001b");
});

test("test passes on what is wrong", async () => {
  const { run } = setUp({ testChannel: () => Promise.reject(new UserError("telegram: the token is wrong")) });
  await expect(run("test", ["telegram"])).rejects.toThrow("the token is wrong");
});
