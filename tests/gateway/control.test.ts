import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { UserError } from "../../src/core/errors.ts";
import type { HttpServer } from "../../src/core/http.ts";
import type { JsonObject, JsonValue } from "../../src/core/json.ts";
import { createGatewayApp } from "../../src/gateway/app.ts";
import { askGateway } from "../../src/gateway/ask-gateway.ts";
import { type ControlCommand, createControl } from "../../src/gateway/control.ts";
import { runtime } from "../../src/platform/bun.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createHttpServers } from "../../src/platform/http.ts";
import { createFakeLog } from "../fakes/log.ts";
import { tempFolder } from "../fakes/temp.ts";

const clock = systemClock;
const http = createHttpServers({ runtime, clock });
const never = new AbortController().signal;
const servers: HttpServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.stop(0))));

const standard: Readonly<Record<string, ControlCommand>> = {
  "outbox.list": async (args) => [args, "päper", null, 1.5],
  "outbox.drop": async () => {
    throw new UserError('There is no message "7"', { hint: "Run nanobot outbox list" });
  },
  "cron.run": async () => {
    throw new UserError("The job runs already", { exitCode: 1, isRefusal: true });
  },
  "cron.size": async ({ text }) => String(text).length,
  broken: () => Promise.reject(new Error("token 1234")),
};

async function setUp(commands = standard) {
  const log = createFakeLog();
  const socketFile = join(tempFolder(), "control.sock");
  const control = createControl({ http, socketFile, commands, clock, log });
  const server = await control.start();
  servers.push(server);
  const ask = (command: string, args: JsonObject = {}, signal = never) =>
    askGateway({ http, socketFile }, command, args, signal);
  const send = async (path: string, body: string) => {
    const answer = await http.request(socketFile, { path, body }, never);
    return { status: answer?.status, body: JSON.parse(answer?.body ?? "null") };
  };
  return { log, socketFile, server, ask, send };
}

async function failureOf(asking: Promise<unknown>): Promise<UserError> {
  const error = await asking.then(
    () => undefined,
    (why) => why,
  );
  expect(error).toBeInstanceOf(UserError);
  return error as UserError;
}

describe("askGateway()", () => {
  test("brings back what the command came to", async () => {
    const { ask } = await setUp();
    const args = { id: "ä\n", list: [1, { a: null }] };
    const value: JsonValue = [args, "päper", null, 1.5];
    expect(await ask("outbox.list", args)).toEqual({ running: true, value });
  });

  test("finds no gateway before one starts and after it ended", async () => {
    const { ask, server } = await setUp();
    await server.stop(0);
    expect(await ask("outbox.list")).toEqual({ running: false });
    const socketFile = join(tempFolder(), "missing", "control.sock");
    expect(await askGateway({ http, socketFile }, "x", {}, never)).toEqual({ running: false });
  });

  test("throws the command's own error, with its hint and its exit code", async () => {
    const { ask } = await setUp();
    const error = await failureOf(ask("outbox.drop"));
    expect([error.message, error.hint, error.exitCode, error.isRefusal]).toEqual([
      'There is no message "7"',
      "Run nanobot outbox list",
      2,
      false,
    ]);
    const other = await failureOf(ask("cron.run"));
    expect([other.hint, other.exitCode, other.isRefusal]).toEqual([undefined, 1, true]);
  });

  test("does not tell what a fault of the gateway says, which is in the log", async () => {
    const { ask, log } = await setUp();
    const error = await failureOf(ask("broken"));
    expect([error.message, error.hint, error.exitCode]).toEqual([
      'The gateway failed at "broken"',
      "Its log says why",
      1,
    ]);
    expect(log.lines).toEqual(["error A command of another process failed broken Error: token 1234"]);
  });

  for (const name of [
    "outbox.lst",
    "nothing.like.it",
    "toString",
    "__proto__",
    "constructor",
    "",
    "../broken",
  ]) {
    test(`says which commands there are instead of ${JSON.stringify(name)}`, async () => {
      const { ask } = await setUp();
      const error = await failureOf(ask(name));
      expect(error.message).toContain("The gateway that runs does not know");
      expect(error.hint).toContain("outbox.list");
    });
  }

  test("says so when the gateway is of another version", async () => {
    for (const [body, spoken] of [
      ['{"v":2,"ok":true,"value":1}', "version 2"],
      ['{"ok":true}', "no version"],
      ["<html>", "something else"],
      ["[]", "something else"],
      ["", "something else"],
    ] as const) {
      const request = async () => ({ status: 200, body });
      const error = await failureOf(askGateway({ http: { request }, socketFile: "/x" }, "a", {}, never));
      expect(error.message).toContain(`speaks ${spoken}, and not version 1`);
      expect(error.hint).toContain("Start the gateway again");
      expect(error.exitCode).toBe(1);
    }
  });

  test("takes no error for an answer that it cannot read", async () => {
    for (const body of [
      '{"v":1,"ok":false}',
      '{"v":1}',
      '{"v":1,"ok":"true","value":1}',
      '{"v":1,"error":{"message":5}}',
    ]) {
      const request = async () => ({ status: 200, body });
      const error = await failureOf(askGateway({ http: { request }, socketFile: "/x" }, "a", {}, never));
      expect(error.message).toBe("The gateway failed, and did not say at what");
    }
  });

  test("says so when the gateway ends meanwhile", async () => {
    const began = Promise.withResolvers<void>();
    const { ask, server } = await setUp({
      wait: () => {
        began.resolve();
        return new Promise(() => {});
      },
    });
    const asking = failureOf(ask("wait"));
    await began.promise;
    await server.stop(0);
    expect((await asking).message).toBe('The gateway ended before it answered "wait"');
  });

  test("stops waiting with the signal's reason, and the command hears of it", async () => {
    const began = Promise.withResolvers<void>();
    const heard = Promise.withResolvers<void>();
    const { ask } = await setUp({
      wait: (_, signal) => {
        signal.addEventListener("abort", () => heard.resolve());
        began.resolve();
        return new Promise(() => {});
      },
    });
    const controller = new AbortController();
    const asking = ask("wait", {}, controller.signal).catch((why) => why);
    await began.promise;
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await asking).toBe(reason);
    await heard.promise;
  });
});

describe("createControl()", () => {
  test("tells an older asker that the versions differ", async () => {
    const { send } = await setUp();
    for (const [body, spoken] of [
      ['{"v":0,"args":{}}', "version 0"],
      ['{"v":2,"args":{}}', "version 2"],
      ['{"args":{}}', "no version"],
      ['{"v":"1","args":{}}', "no version"],
    ] as const) {
      const answer = await send("/outbox.list", body);
      expect(answer.status).toBe(422);
      expect(answer.body.error.message).toContain(`was asked in ${spoken}`);
    }
  });

  test("takes nothing but a JSON object with arguments", async () => {
    const { send } = await setUp();
    for (const body of [
      "",
      "null",
      "[]",
      "{",
      '"x"',
      '{"v":1}',
      '{"v":1,"args":[]}',
      '{"v":1,"args":null}',
    ]) {
      const answer = await send("/outbox.list", body);
      expect(answer.status).toBe(422);
      expect(answer.body.ok).toBe(false);
    }
  });

  test("answers 404 to an unknown command", async () => {
    const { send } = await setUp();
    expect((await send("/nothing", '{"v":1,"args":{}}')).status).toBe(404);
  });

  test("takes 1 MiB and no more", async () => {
    const { ask } = await setUp();
    const bytes = 1024 * 1024 - JSON.stringify({ v: 1, args: { text: "" } }).length;
    const text = "x".repeat(bytes);
    expect(await ask("cron.size", { text })).toEqual({ running: true, value: bytes });
    const error = await failureOf(ask("cron.size", { text: `${text}x` }));
    expect(error.message).toContain("there is more to say than 1048576 bytes");
  });

  test("does nothing by GET", async () => {
    const { socketFile } = await setUp();
    const response = await fetch("http://localhost/outbox.list", { unix: socketFile });
    expect(response.status).toBe(405);
  });

  test("does not start where another gateway listens", async () => {
    const { socketFile } = await setUp();
    const log = createFakeLog();
    const again = createControl({ http, socketFile, commands: {}, clock, log });
    expect((await failureOf(again.start())).message).toContain("another process listens there");
  });

  test("is no part of the public side", async () => {
    await setUp();
    const app = await createGatewayApp({
      channels: [],
      ready: async () => [],
      trustedProxies: ["127.0.0.1"],
      maxBodyBytes: 1000,
      clock,
      log: createFakeLog(),
    });
    for (const path of [
      "/outbox.list",
      "/control/outbox.list",
      "/control",
      "/webhook/outbox.list",
      "/cron.run",
    ]) {
      const request = new Request(`http://127.0.0.1${path}`, { method: "POST", body: '{"v":1,"args":{}}' });
      const response = await app(request, {
        peer: "127.0.0.1",
        client: "127.0.0.1",
        upgrade: () => undefined,
      });
      expect(response.status).toBe(404);
    }
  });
});
