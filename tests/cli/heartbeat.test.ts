import { describe, expect, test } from "bun:test";
import { command } from "../../src/cli/heartbeat.ts";
import { help } from "../../src/cli/help.ts";
import type { GatewayAnswer } from "../../src/core/app.ts";
import { UserError } from "../../src/core/errors.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp } from "./fixture.ts";

function setUp(answer: GatewayAnswer) {
  const asked: string[] = [];
  const app = createTestApp({ home: tempFolder() });
  const run = () =>
    command.subcommands?.["now"]?.run?.({
      app: {
        ...app,
        mask: (text) => text.replaceAll("sk-hunter2", "[masked]"),
        async askGateway(name) {
          asked.push(name);
          return answer;
        },
      },
      positionals: [],
      options: {},
      signal: new AbortController().signal,
    }) ?? Promise.reject(new Error("there is no such command"));
  return { run, asked, terminal: app.terminal };
}

describe("nanobot heartbeat now", () => {
  test.each([
    [{ kind: "no tasks" }, "no task"],
    [{ kind: "skipped" }, "nothing is due"],
    [{ kind: "begun" }, "has begun"],
    [{ kind: "running already" }, "already"],
    [{ kind: "paused", leftMs: 7 * 60_000 }, "paused for 7 minutes more"],
  ])("asks the gateway, and says in a sentence that it came to %j", async (value, words) => {
    const { run, asked, terminal } = setUp({ running: true, value });
    expect(await run()).toBe(0);
    expect(asked).toEqual(["heartbeat.now"]);
    expect(terminal.stdout).toContain(words);
    expect(terminal.stdout).toMatch(/^[^\n]+\.\n$/);
  });

  test("fails, and says why, when the model did not decide", async () => {
    const problem = "401: the key sk-hunter2 was refused.";
    const { run, terminal } = setUp({ running: true, value: { kind: "undecided", problem } });
    expect(await run()).toBe(1);
    expect(terminal.stdout).toBe("");
    expect(terminal.stderr).toMatch(
      /^[^\n]+did not say whether one is due: 401: the key \[masked\] was refused\.\n$/,
    );
  });

  test("says in its help that a gateway must run", async () => {
    expect(await help(["heartbeat"], command)).toContain("in the gateway that runs");
  });

  test("says that no gateway runs", async () => {
    const { run, terminal } = setUp({ running: false });
    expect(await run().catch((error: unknown) => error)).toMatchObject({
      name: "UserError",
      message: "No gateway runs for this workspace",
      exitCode: 1,
    });
    expect(terminal.stdout).toBe("");
  });

  test.each([[null], ["skipped"], [{ kind: "toString" }], [{ kind: "paused" }], [7]])(
    "takes %p for no result",
    async (value) => {
      const problem = await setUp({ running: true, value })
        .run()
        .catch((error: unknown) => error);
      expect(problem).toBeInstanceOf(Error);
      expect(problem).not.toBeInstanceOf(UserError);
    },
  );

  test("is refused to commands of the agent", () => {
    expect(command.subcommands?.["now"]?.ownerOnly).toBe(true);
  });
});
