/** A configured model: what it is sent, turn by turn and process by process, and what comes back. */

import { describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json.ts";
import type { LoggedRequest, Reply } from "../fakes/chat-server.ts";
import { ask, endToEnd, inTerminal, modelAt, newHome, run, sessionOf, start, startModel } from "./harness.ts";

endToEnd();

/** From within the sandbox nobody can reach the program. */
const unsafe = { tools: { exec: { sandbox: "none" } } };

function exec(...commands: readonly string[]): Reply {
  return { toolCalls: commands.map((command) => ({ name: "exec", arguments: { command } })) };
}

function messagesOf(request: LoggedRequest | undefined): readonly JsonObject[] {
  return (request?.body["messages"] ?? []) as readonly JsonObject[];
}

/** The list of messages as it was sent, without its closing bracket. */
function sentPrefix(request: LoggedRequest): string {
  const text = JSON.stringify(messagesOf(request)).slice(0, -1);
  // What was parsed and written again is what was sent, so comparing it compares the bytes.
  expect(request.text).toContain(text);
  return text;
}

/** Each request begins with all that the one before it said. */
function expectOnePrefix(requests: readonly LoggedRequest[]): void {
  for (const [index, request] of requests.entries()) {
    const previous = requests[index - 1];
    if (previous === undefined) continue;
    const before = messagesOf(previous);
    const now = messagesOf(request);
    expect(now.length).toBeGreaterThan(before.length);
    for (const [at, message] of before.entries()) expect(now[at]).toEqual(message);
    expect(sentPrefix(request)).toStartWith(sentPrefix(previous));
    expect(JSON.stringify(request.body["tools"])).toBe(JSON.stringify(previous.body["tools"]));
  }
}

describe("nanobot agent with a model", () => {
  test("runs the calls of the model on real files and answers", async () => {
    const server = await startModel([
      {
        text: "I will write it.",
        toolCalls: [
          { name: "write_file", arguments: { path: "notes/plan.md", content: "milk\nbread\n" } },
          { name: "exec", arguments: { command: "wc -l < notes/plan.md" } },
        ],
      },
      { toolCalls: [{ name: "read_file", arguments: { path: "notes/plan.md" } }] },
      { text: "It is written." },
    ]);
    const home = newHome(modelAt(server.url));
    const { code, stdout, stderr } = await ask("write my plan", home);
    expect(stderr).toBe("");
    expect(stdout).toEndWith("It is written.\n");
    expect(code).toBe(0);
    expect(readFileSync(join(home.workspace, "notes/plan.md"), "utf8")).toBe("milk\nbread\n");

    expect(server.invalid).toEqual([]);
    const results = messagesOf(server.requests.at(-1)).filter(({ role }) => role === "tool");
    expect(results.map(({ content }) => String(content))).toEqual([
      expect.stringContaining("notes/plan.md"),
      "2\n\nExit code: 0",
      expect.stringContaining("bread"),
    ]);
  });

  test("begins the next process with the conversation of the one before", async () => {
    const server = await startModel([
      exec("echo 42"),
      { text: "It says 42." },
      { text: "You asked for it." },
    ]);
    const home = newHome(modelAt(server.url));
    await ask("run it", home);
    expect((await ask("why?", home)).stdout).toBe("You asked for it.\n");
    const sent = messagesOf(server.requests.at(-1));
    expect(sent.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
    expect(sent[1]?.["content"]).toEndWith("\n\nrun it");
    expect(sent[3]?.["content"]).toBe("42\n\nExit code: 0");
    expect(sent[4]?.["content"]).toBe("It says 42.");
    expect(sent[5]?.["content"]).toEndWith("\n\nwhy?");
  });

  test("keeps sessions apart", async () => {
    const server = await startModel([{ text: "one" }, { text: "two" }]);
    const home = newHome(modelAt(server.url));
    await ask("a word to one", home, "-s", "cli:a");
    await ask("a word to the other", home, "-s", "cli:b");
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain("a word to one");
    expect((await sessionOf(home, "cli:a")).map(({ content }) => content)).toEqual(["a word to one", "one"]);
  });

  test("keeps sessions and their folder from other users", async () => {
    const server = await startModel([{ text: "hello" }]);
    const home = newHome(modelAt(server.url));
    await ask("hello", home);
    const { stdout } = await run(["sessions", "path", "cli:direct"], { home });
    expect(statSync(stdout.trim()).mode & 0o777).toBe(0o600);
    expect(statSync(join(home.workspace, "sessions")).mode & 0o777).toBe(0o700);
  });

  test("extends each request by bytes only at its end, over rounds, turns and processes", async () => {
    const server = await startModel([
      // Texts that a careless trip through a file changes: spaces, escapes, marks, an emoji of several parts.
      {
        ...exec("printf ' \\n\\ttab and space \\n\\n'", "printf 'é\\u0301 👩‍👩‍👧 \\0 \\x1b[31m'"),
        text: " two calls ",
      },
      { toolCalls: [{ name: "list_dir", arguments: ' { "path" : "." } ' }, { name: "nothing" }] },
      { text: ["first\u2028answer ", "with \u0000 and \ud83d\ude00 \n"] },
      { ...exec("exit 3"), reasoning: "because" },
      { text: "second answer" },
      { text: "third answer" },
      exec("echo 1"),
      { text: "fourth answer" },
      { text: "fifth answer" },
    ]);
    const home = newHome(modelAt(server.url));
    await ask("  first \r\n question 🐈 \u200d ", home);
    await ask("second question", home);

    const chat = inTerminal(["agent"], home);
    await chat.until("/help");
    chat.type("third question\r");
    await chat.until("third answer");
    await chat.until("› ");
    chat.type("/status\r");
    await chat.until("Session: cli:direct");
    await chat.until("› ");
    chat.type("fourth question\r");
    await chat.until("fourth answer");
    await chat.until("› ");
    chat.type("\x04");
    expect(await chat.exited).toBe(0);

    await ask("fifth question", home);
    expect(server.requests).toHaveLength(9);
    expect(server.invalid).toEqual([]);
    expectOnePrefix(server.requests);
  });

  test("extends the request of a turn that was killed", async () => {
    const server = await startModel([exec("echo before"), exec("kill -9 $PPID"), { text: "still here" }]);
    const home = newHome({ ...modelAt(server.url), ...unsafe });
    const killed = await ask("kill yourself", home);
    expect(killed).toEqual({ code: 137, stdout: "", stderr: "" });
    expect((await ask("are you there?", home)).stdout).toBe("still here\n");
    expect(server.invalid).toEqual([]);
    expectOnePrefix(server.requests);
    const [result] = messagesOf(server.requests.at(-1))
      .filter(({ role }) => role === "tool")
      .slice(-1);
    expect(result?.["content"]).toContain("interrupted, outcome unknown");
  });

  test("prints one JSON object with --json", async () => {
    const server = await startModel([
      exec("echo 42"),
      { text: "It says 42.", usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
    ]);
    const home = newHome(modelAt(server.url));
    const { code, stdout, stderr } = await ask("run it", home, "--json", "-s", "cli:json");
    expect(stderr).toBe("");
    expect(stdout).toEndWith("}\n");
    expect(stdout.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(stdout)).toEqual({
      session: "cli:json",
      outcome: "answer",
      content: "It says 42.",
      tools: [{ name: "exec", arguments: '{"command":"echo 42"}' }],
      usage: { input: expect.any(Number), output: expect.any(Number), cached: 0, reasoning: 0 },
      model: "fake/fake-model",
    });
    expect(code).toBe(0);
  });

  test("says in JSON that it failed", async () => {
    const server = await startModel([{ status: 400, body: { error: { message: "too long for me" } } }]);
    const { code, stdout } = await ask("hello", newHome(modelAt(server.url)), "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: "error",
      content: expect.stringContaining("too long"),
    });
    expect(code).toBe(1);
  });

  test("shows an answer in a terminal while it comes", async () => {
    const rest = Promise.withResolvers<void>();
    const text = ["# First\n\nbegins **here**\n\n", "and ends there\n"];
    const server = await startModel([{ text, holdAfter: { writes: 2, until: rest.promise } }]);
    const terminal = inTerminal(["agent", "-m", "tell me"], newHome(modelAt(server.url)));
    await terminal.until("here");
    expect(terminal.shown).not.toContain("ends");
    rest.resolve();
    await terminal.until("and ends there");
    expect(await terminal.exited).toBe(0);
    expect(terminal.shown).not.toContain("**");
  });

  test("sends its key as a bearer token, and the model's own name", async () => {
    const server = await startModel([{ text: "hello" }], { apiKey: "key-of-the-fake" });
    const home = newHome(modelAt(server.url));
    expect((await ask("hello", home, "--model", "fake/other-model")).code).toBe(0);
    expect(server.requests[0]?.body["model"]).toBe("other-model");
  });
});

describe("nanobot agent on one session from two processes", () => {
  test("waits its turn and says so, and both conversations stay whole", async () => {
    const release = Promise.withResolvers<void>();
    const server = await startModel([
      { ...exec("echo first"), hold: release.promise },
      { text: "answer one" },
      { text: "answer two" },
    ]);
    const home = newHome(modelAt(server.url));
    const first = start(["agent", "-m", "question one"], { home });
    await server.received(1);
    const second = inTerminal(["agent", "-m", "question two"], home);
    await second.until("waiting for another nanobot");
    release.resolve();
    expect((await first.outcome).stdout).toBe("answer one\n");
    await second.until("answer two");
    expect(await second.exited).toBe(0);

    const contents = (await sessionOf(home)).map(({ content }) => content);
    expect(contents).toEqual([
      "question one",
      "",
      "first\n\nExit code: 0",
      "answer one",
      "question two",
      "answer two",
    ]);
    expect(server.invalid).toEqual([]);
    expectOnePrefix(server.requests);
  });

  test("does not interleave turns that start together", async () => {
    const server = await startModel((body) => {
      const last = (body["messages"] as JsonObject[]).at(-1);
      return last?.["role"] === "user" ? exec("echo a", "echo b") : { text: "done" };
    });
    const home = newHome(modelAt(server.url));
    await ask("zero", home);
    const questions = ["one", "two", "three", "four"];
    const outcomes = await Promise.all(questions.map((question) => ask(question, home)));
    expect(outcomes.map(({ code, stdout }) => [code, stdout])).toEqual(questions.map(() => [0, "done\n"]));
    const lines = await sessionOf(home);
    const turns = lines.map(({ turn }) => turn).filter((turn, index, all) => turn !== all[index - 1]);
    expect(turns).toHaveLength(1 + questions.length);
    const asked = lines.filter(({ role }) => role === "user").map(({ content }) => content);
    expect(asked.toSorted()).toEqual(["zero", ...questions].toSorted());
    expect(server.invalid).toEqual([]);
    expectOnePrefix(server.requests);
  });

  test("closes a call of a killed process and does not run it again", async () => {
    const server = await startModel([exec("echo ran >> ran.log; kill -9 $PPID"), { text: "I see" }]);
    const home = newHome({ ...modelAt(server.url), ...unsafe });
    expect((await ask("go", home)).code).toBe(137);
    expect((await ask("what happened?", home)).stdout).toBe("I see\n");
    expect(readFileSync(join(home.workspace, "ran.log"), "utf8")).toBe("ran\n");
    const lines = await sessionOf(home);
    expect(lines.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user", "assistant"]);
    expect(lines[2]?.content).toStartWith("Error: interrupted, outcome unknown");
    expect(lines[2]?.tool_call_id).toBe(lines[1]?.tool_calls?.[0]?.id as string);
    expect(server.invalid).toEqual([]);
  });
});
