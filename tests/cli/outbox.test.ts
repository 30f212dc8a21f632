import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { command } from "../../src/cli/outbox.ts";
import type { App } from "../../src/core/app.ts";
import type { Outbox, OutboxEntry } from "../../src/core/bus.ts";
import type { OutboundId } from "../../src/core/messages.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestApp } from "./fixture.ts";

function entry(changes: Partial<OutboxEntry> & { readonly id: OutboundId }): OutboxEntry {
  return {
    channel: "telegram",
    chatId: "7",
    thread: undefined,
    state: "failed",
    reason: "the bot was blocked",
    createdAt: "2026-11-30T09:00:00.000Z",
    sent: 0,
    content: "hello\nthere",
    ...changes,
  };
}

/** An outbox that a running gateway has, or that lies in files. */
function setUp(entries: readonly OutboxEntry[], { running }: { running: boolean }) {
  const done: string[] = [];
  const known = (id: string) => entries.some((one) => one.id === id);
  const act = (action: string) => async (id: OutboundId) => {
    if (!known(id)) return false;
    done.push(`${action} ${id}`);
    return true;
  };
  const outbox: Outbox = { list: () => entries, retry: act("retry"), drop: act("drop") };
  const app = createTestApp({ home: tempFolder() });
  const asked: App["askGateway"] = async (name, args) => {
    if (!running) return { running: false };
    if (name === "outbox.list") {
      const value = entries.map(({ thread = null, reason = null, ...rest }) => ({ ...rest, thread, reason }));
      return { running: true, value };
    }
    const action = name === "outbox.retry" ? outbox.retry : outbox.drop;
    return { running: true, value: await action(String(args["id"]) as OutboundId) };
  };
  const run = (name: "list" | "retry" | "drop", positionals: readonly string[] = [], options = {}) =>
    command.subcommands?.[name]?.run?.({
      app: { ...app, askGateway: asked, withOutbox: (work) => work(outbox) },
      positionals,
      options,
      signal: new AbortController().signal,
    });
  return { run, done, terminal: app.terminal, home: app.platform.homeFolder };
}

const a = "telegram:update:1/final" as OutboundId;
const b = "telegram:update:2/final" as OutboundId;

describe.each([[true], [false]])("nanobot outbox, with a gateway that runs: %p", (running) => {
  test("list shows what is not delivered, and why", async () => {
    const { run, terminal } = setUp(
      [entry({ id: a }), entry({ id: b, state: "waiting", reason: undefined })],
      {
        running,
      },
    );
    expect(await run("list")).toBe(0);
    expect(terminal.stdout).toBe(
      [
        a,
        "  2026-11-30T09:00:00.000Z  telegram:7  failed: the bot was blocked",
        "  hello there",
        b,
        "  2026-11-30T09:00:00.000Z  telegram:7  waiting",
        "  hello there",
        "",
      ].join("\n"),
    );
  });

  test("list prints JSON", async () => {
    const { run, terminal } = setUp([entry({ id: a })], { running });
    await run("list", [], { json: true });
    expect(JSON.parse(terminal.stdout)).toMatchObject([{ id: a, state: "failed", thread: null }]);
  });

  test("list says when there is nothing", async () => {
    const { run, terminal } = setUp([], { running });
    expect(await run("list")).toBe(0);
    expect(terminal.stdout).toBe("Nothing waits to be delivered\n");
  });

  test("retry sends one again", async () => {
    const { run, done, terminal } = setUp([entry({ id: a }), entry({ id: b })], { running });
    expect(await run("retry", [a])).toBe(0);
    expect(done).toEqual([`retry ${a}`]);
    expect(terminal.stdout).toBe("1 message will be sent again\n");
  });

  test("drop --all drops those that failed, and no other", async () => {
    const { run, done } = setUp([entry({ id: a }), entry({ id: b, state: "waiting" })], { running });
    expect(await run("drop", [], { all: true })).toBe(0);
    expect(done).toEqual([`drop ${a}`]);
  });

  test("retry refuses an id that is unknown", async () => {
    const { run } = setUp([], { running });
    await expect(run("retry", ["nobody"])).rejects.toThrow('There is no failed message "nobody"');
  });

  test.each([
    [[], {}],
    [[a], { all: true }],
  ])("drop asks for one id or --all, and not for %j and %j", async (positionals, options) => {
    const { run, done } = setUp([entry({ id: a })], { running });
    await expect(run("drop", positionals, options)).rejects.toThrow("Name one message");
    expect(done).toEqual([]);
  });
});

test("list, without a gateway, makes a whole workspace where there was none, and not a folder without templates", async () => {
  const { run, home } = setUp([], { running: false });
  expect(await run("list")).toBe(0);
  expect(existsSync(join(home ?? "", "workspace", "SOUL.md"))).toBe(true);
});
