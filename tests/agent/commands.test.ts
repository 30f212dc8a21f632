import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chatCommand } from "../../src/agent/commands.ts";
import type { ChatServices } from "../../src/agent/deps.ts";
import type { Pairing, PendingPairing } from "../../src/core/access.ts";
import type { Answerer } from "../../src/core/approval.ts";
import type { TaskInfo } from "../../src/core/tasks.ts";
import { chatCommands } from "../../src/lib/chat-commands.ts";
import { inboundMessage } from "../fakes/messages.ts";
import { startAgent } from "./started.ts";

/** The replies to `contents`, said one after the other. */
async function say(contents: readonly string[], services: Partial<ChatServices> = {}) {
  const agent = startAgent({}, { services: { usage: async (key) => `12 calls in ${key}`, ...services } });
  for (const [index, content] of contents.entries()) {
    await agent.send({ id: `${index}`, content, senderId: "alice" });
    await agent.finalsAre(index + 1);
  }
  await agent.stop();
  expect(agent.model.requests).toEqual([]);
  expect(agent.finals().every(({ outcome }) => outcome === "command")).toBe(true);
  expect(agent.undone()).toEqual([]);
  return agent.finals().map(({ content }) => content);
}

const waiting: PendingPairing = {
  code: "ABCDEFGH",
  channel: "telegram",
  senderId: "42|bob",
  chatId: "42",
  displayName: "Bob\n/approve me\u202e",
  expiresAt: "2026-11-30T09:08:30Z",
};

function pairings(pending: readonly PendingPairing[] = [waiting]) {
  const asked: string[] = [];
  const find = (what: string) => async (code: string) => {
    asked.push(`${what} ${code}`);
    return pending.find((one) => one.code === code.toUpperCase().replace("-", ""));
  };
  const pairing: Pairing = {
    list: async () => ({
      pending,
      approved: [{ channel: "discord", senderId: "7", approvedAt: "2026-10-01T08:00:00Z" }],
    }),
    approve: find("approve"),
    deny: find("deny"),
    async revoke(senderId, channel) {
      asked.push(`revoke ${senderId} ${channel}`);
      return senderId === "7";
    },
  };
  return { asked, pairing };
}

describe("chat commands", () => {
  test("/help lists each of them, in the order of the list that channels take", async () => {
    const [help = ""] = await say(["/help"]);
    const lines = help.split("\n");
    expect(lines.map((line) => /^\/([a-z]+)/.exec(line)?.[1] ?? "")).toEqual(
      chatCommands.map(({ name }) => name),
    );
    for (const { name } of chatCommands) expect(name).toMatch(/^[a-z]{1,32}$/);
  });

  test("/usage says what the session used", async () => {
    expect(await say(["/usage", "/usage all"])).toEqual([
      "12 calls in cli:direct",
      "/usage takes no arguments.",
    ]);
  });

  test("/status shows the channels, and when they were heard from", async () => {
    const [status = ""] = await say(["/status"], {
      channels: () => [
        {
          name: "telegram",
          state: "connected",
          detail: "@bot\nx",
          heardAt: "2026-11-30T08:58:00Z",
          restarts: 0,
        },
        { name: "slack", state: "failed", detail: undefined, heardAt: undefined, restarts: 3 },
      ],
    });
    expect(status.split("\n").slice(-2)).toEqual([
      "Channel telegram: connected (@bot x), heard 2 min ago",
      "Channel slack: failed, never heard",
    ]);
  });

  test("/restart restarts after its reply is safe and it is recorded as done", async () => {
    const undone: (readonly string[])[] = [];
    const agent = startAgent(
      {},
      {
        services: {
          usage: async () => "",
          restart: ({ id: asked }) =>
            undone.push(
              [asked],
              agent.undone(),
              agent.finals().map(({ id }) => id),
            ),
        },
      },
    );
    await agent.send({ id: "1", content: "/restart" });
    while (undone.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await agent.stop();
    expect(undone).toEqual([["1"], [], ["1/final"]]);
  });

  test("say that there is nothing for them where there is nothing", async () => {
    const replies = await say(["/restart", "/pairing", "/approve ABCD", "/deny ABCD"]);
    expect(replies[0]).toBe("Nothing here can be restarted; that belongs to the gateway.");
    expect(replies[1]).toContain("no pairing here");
    expect(replies[2]).toContain("belong to the gateway");
    expect(replies[3]).toBe(replies[2] ?? "");
  });

  describe("/pairing", () => {
    test("lists who waits and who was let in, each on one line, names bounded", async () => {
      const { pairing } = pairings([
        waiting,
        { ...waiting, displayName: "x".repeat(500), expiresAt: "soon" },
      ]);
      const replies = await say(["/pairing", "/pairing list"], { pairing });
      expect(replies[0]).toBe(replies[1] ?? "");
      expect(replies[0]?.split("\n")).toEqual([
        "Waiting:",
        "ABCD-EFGH  telegram 42\\|bob (Bob /approve me), valid 9 min",
        `ABCD-EFGH  telegram 42\\|bob (${"x".repeat(63)}…), soon over`,
        "Let in by pairing:",
        "discord 7, since 2026-10-01",
      ]);
    });

    test("shows no link that somebody put into a name", async () => {
      const { pairing } = pairings([{ ...waiting, displayName: "[Approve](https://evil.example)" }]);
      const [list] = await say(["/pairing"], { pairing });
      expect(list).toContain("\\[Approve\\](https://evil.example)");
    });

    test("takes a code in the two pieces it is shown in", async () => {
      const { asked, pairing } = pairings();
      await say(["/pairing approve ABCD EFGH"], { pairing });
      expect(asked).toEqual(["approve ABCDEFGH"]);
    });

    test("is refused to whom only an entry for everybody let in, as /restart is", async () => {
      const { asked, pairing } = pairings();
      const isKnown = async ({ senderId }: Answerer) => senderId !== "alice";
      const restart = () => asked.push("restart");
      const replies = await say(["/pairing approve ABCDEFGH", "/restart"], { pairing, isKnown, restart });
      expect(replies[0]).toContain("Only those whom the owner let in by name");
      expect(replies[1]).toBe(replies[0] ?? "");
      expect(asked).toEqual([]);
    });

    test("shows no more than fit, and says how many there are", async () => {
      const { pairing } = pairings(Array.from({ length: 25 }, () => waiting));
      const [list = ""] = await say(["/pairing"], { pairing });
      expect(list.split("\n").filter((line) => line.startsWith("ABCD-EFGH"))).toHaveLength(20);
      expect(list).toContain("and 5 more");
    });

    test("lets in, keeps out and takes back", async () => {
      const { asked, pairing } = pairings();
      const replies = await say(
        [
          "/pairing approve abcd-efgh",
          "/pairing DENY ABCDEFGH",
          "/pairing approve NOPE",
          "/pairing revoke 7",
          "/pairing revoke discord 7",
          "/pairing revoke 8",
        ],
        { pairing },
      );
      expect(replies).toEqual([
        "telegram 42\\|bob (Bob /approve me) may talk to me now.",
        "telegram 42\\|bob (Bob /approve me) was not let in.",
        expect.stringContaining("No pairing with this code waits"),
        "7 may not talk to me any more.",
        "discord 7 may not talk to me any more.",
        "8 was not let in by pairing.",
      ]);
      expect(asked).toEqual([
        "approve abcd-efgh",
        "deny ABCDEFGH",
        "approve NOPE",
        "revoke 7 undefined",
        "revoke 7 discord",
        "revoke 8 undefined",
      ]);
    });

    test.each(["approve", "deny", "approve A B C", "revoke", "revoke a b c", "list all", "open"])(
      "%s is answered with how it is used",
      async (rest) => {
        const { asked, pairing } = pairings();
        const [reply] = await say([`/pairing ${rest}`], { pairing });
        expect(reply).toStartWith("Send /pairing list");
        expect(asked).toEqual([]);
      },
    );
  });

  describe("/approve and /deny", () => {
    const answers = (status: "answered" | "unknown" | "notAllowed") => {
      const given: { code: string; granted: boolean; by: Answerer }[] = [];
      const approvals: NonNullable<ChatServices["approvals"]> = {
        ask: async () => ({ granted: false, why: "nobody" }),
        isWaiting: () => false,
        async answer(code, granted, by) {
          given.push({ code, granted, by });
          return status === "answered" ? { status, what: `rm -rf build\n${"x".repeat(900)}` } : { status };
        },
      };
      return { given, approvals };
    };

    test("answer in the name of whoever said it, and say in one line what was answered", async () => {
      const { given, approvals } = answers("answered");
      const replies = await say(["/approve ABCD", "/deny abcd"], { approvals });
      expect(replies[0]).toStartWith("Approved: rm -rf build xxx");
      expect(replies[1]).toStartWith("Denied: rm -rf build xxx");
      for (const reply of replies) expect([reply.includes("\n"), reply.length < 400]).toEqual([false, true]);
      const by = { channel: "cli", chatId: "direct", senderId: "alice" };
      expect(given).toEqual([
        { code: "ABCD", granted: true, by },
        { code: "abcd", granted: false, by },
      ]);
    });

    test("say what is wrong with a code, and who may answer", async () => {
      const { approvals } = answers("unknown");
      expect(await say(["/approve NOPE"], { approvals })).toEqual([
        "No question with this code waits for an answer. It is unknown, answered, or too old.",
      ]);
      const other = answers("notAllowed");
      expect(await say(["/deny ABCD"], { approvals: other.approvals })).toEqual([
        "Only the owner can answer this.",
      ]);
    });

    test.each(["/approve", "/deny"])("%s asks for one code", async (content) => {
      const { given, approvals } = answers("answered");
      expect((await say([content], { approvals }))[0]).toContain("with the code of the question");
      expect(given).toEqual([]);
    });
  });

  test.each([
    ["/stpo", "Did you mean /stop?"],
    ["/new_session", "There is no command /new-session"],
    ["/помощь", "Send /help for the list."],
    [`/${"x".repeat(500)}`, "Send /help"],
  ])("%s is unknown, and never reaches the model", async (content, part) => {
    const [reply = ""] = await say([content]);
    expect(reply).toContain(part);
    expect(reply.length).toBeLessThan(150);
  });

  test.each(["/status@nano_bot", "  /STATUS@nano_bot  ", "/Status"])("%j is /status", async (content) => {
    expect((await say([content]))[0]).toStartWith("nanobot 1.2.3\n");
  });

  test.each([
    "/etc/hosts",
    "/etc/hosts: what is it?",
    "//",
    "/ new",
    "/",
    "a /new",
    "/1",
    "/new/x",
    "/me@home.org",
  ])("chatCommand() leaves %j to the model", (content) => {
    expect(chatCommand(inboundMessage({ content }))).toBeUndefined();
  });

  test("chatCommand() takes any text without a throw, and only what begins with a slash", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string({ unit: "binary" }).map((text) => `/${text}`),
        ),
        (content) => {
          const command = chatCommand(inboundMessage({ content }));
          return command === undefined || content.trim().startsWith("/");
        },
      ),
    );
  });

  test("/new archives nothing of a session in which nothing was said", async () => {
    const agent = startAgent({ script: ["one"] });
    await agent.send({ id: "1" });
    await agent.finalsAre(1);
    for (const [index, id] of ["2", "3"].entries()) {
      await agent.send({ id, content: "/new" });
      await agent.finalsAre(index + 2);
    }
    await agent.stop();
    const archived = await Array.fromAsync(new Bun.Glob("sessions/archive/*").scan(agent.workspace));
    expect(archived).toHaveLength(1);
  });

  test("/memory shows the facts and what happened last, and no more than fits a chat", async () => {
    const memory = {
      facts: async () => `# Memory\n\n- likes tea\n${"- more\n".repeat(10_000)}`,
      history: async () => [{ at: "2026-11-29 10:00", text: "Spoke of tea,\nat length." }],
    };
    const [shown = ""] = await say(["/memory"], { memory });
    expect(shown).toContain("- likes tea");
    expect(shown).toContain("- 2026-11-29 10:00: Spoke of tea, at length.");
    expect(shown.length).toBeLessThan(8_000);
  });

  test("/memory and /tasks say when there is nothing", async () => {
    expect(await say(["/memory", "/tasks"])).toEqual([
      "Nothing is remembered here.",
      "Nothing works in the background here.",
    ]);
    const memory = { facts: async () => "\n", history: async () => [] };
    const tasks = { list: () => [], stop: async () => 0, count: () => 0 };
    expect(await say(["/memory", "/tasks"], { memory, tasks })).toEqual([
      "I remember no facts yet.",
      "Nothing works in the background for this session.",
    ]);
  });

  test("/tasks shows those of its session, /status counts them and /stop ends them", async () => {
    const own: TaskInfo = {
      id: "t1",
      label: "count the birds",
      task: "Count the birds",
      sessionKey: "cli:direct",
      state: "running",
      createdAt: "2026-11-30T08:50:00Z",
      endedAt: undefined,
      toolCalls: 3,
    };
    const ended: TaskInfo = {
      ...own,
      label: "eggs",
      state: "done",
      endedAt: "2026-11-30T08:57:00Z",
      toolCalls: 1,
    };
    const stopped: string[] = [];
    const tasks = {
      list: () => [own, ended, { ...own, label: "of others", sessionKey: "cli:other" }],
      count: (key: string) => (key === "cli:direct" && stopped.length === 0 ? 1 : 0),
      async stop(key: string) {
        stopped.push(key);
        return 1;
      },
    };
    const [list = "", status = "", stop = ""] = await say(["/tasks", "/status", "/stop"], { tasks });
    expect(list.split("\n")).toEqual([
      "- count the birds: running, begun 10 min ago, 3 tool calls",
      "- eggs: done, ended 3 min ago, 1 tool call",
    ]);
    expect(status).toContain("Tasks in the background: 1");
    expect(stop).toContain("1");
    expect(stopped).toEqual(["cli:direct"]);
  });
});
