/** SIGKILL at random moments of a turn: the session loads, its next request is valid, nothing runs twice. */

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/core/json.ts";
import { execThenAnswer } from "../fakes/chat-scenarios.ts";
import type { ChatServer } from "../fakes/chat-server.ts";
import { ask, endToEnd, type Home, modelAt, newHome, run, sessionOf, start, startModel } from "./harness.ts";

endToEnd();

const KILLS = process.env["NANOBOT_TEST_ALL"] === "1" ? 200 : 20;
const SECONDS_PER_KILL = 20;
/** A session that grows without end would only slow the test down. */
const KILLS_PER_SESSION = 10;
const ROUNDS = 3;
const CALLS_PER_ROUND = 3;

const seed = Number(process.env["NANOBOT_TEST_SEED"] ?? Date.now() % 1_000_000);

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
function createRandom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Moment {
  readonly name: string;
  /** Resolves when it has come. */
  wait(): Promise<unknown>;
}

/** Half of them anywhere in a turn, half of them right behind something that just happened. */
function randomMoment(random: () => number, server: ChatServer, turnMs: number): Moment {
  if (random() < 0.5) {
    const ms = Math.floor(random() * turnMs);
    return { name: `after ${ms} ms of about ${turnMs}`, wait: () => Bun.sleep(ms) };
  }
  const round = 1 + Math.floor(random() * (ROUNDS + 1));
  const target = server.requests.length + round;
  const request = async () => (await server.received(target))[target - 1];
  if (random() < 0.5) return { name: `when request ${round} came`, wait: request };
  return { name: `when reply ${round} was sent`, wait: async () => (await request())?.over };
}

/** The numbers that calls wrote, in the order of their running. */
function numbersWritten(home: Home): readonly string[] {
  return readFileSync(join(home.workspace, "calls.log"), "utf8").trim().split("\n");
}

interface SentCall {
  readonly command: string;
  readonly results: readonly string[];
}

/** Every call of a request, and all results that it has there. */
function callsOf(body: JsonObject | undefined): readonly SentCall[] {
  const messages = (body?.["messages"] ?? []) as readonly JsonObject[];
  return messages.flatMap(({ tool_calls = [] }) =>
    (tool_calls as { id: string; function: { arguments: string } }[]).map((call) => ({
      command: (JSON.parse(call.function.arguments) as { command: string }).command,
      results: messages
        .filter((message) => message["tool_call_id"] === call.id)
        .map((message) => String(message["content"])),
    })),
  );
}

function expectAccountedFor(call: SentCall, written: readonly string[]): void {
  expect(call.results).toHaveLength(1);
  const [result = ""] = call.results;
  const number = /echo (\d+)/.exec(call.command)?.[1] ?? "";
  if (result.endsWith("Exit code: 0")) expect(written).toContain(number);
  else expect(result).toContain("interrupted, outcome unknown");
}

/** How long a turn takes that nobody kills, in milliseconds. */
async function undisturbed(home: Home): Promise<number> {
  const began = performance.now();
  expect((await ask("warm up", home, "-s", "cli:kill-0")).code).toBe(0);
  return Math.ceil(performance.now() - began);
}

/** A session is there as soon as its first message was taken. */
async function expectLoads(home: Home, key: string, { mayBeMissing }: { mayBeMissing: boolean }) {
  const { code, stdout, stderr } = await run(["sessions", "show", key, "--json"], { home });
  if (mayBeMissing && code === 2) expect(stderr).toContain("There is no session");
  else expect([code, stderr, typeof JSON.parse(stdout)]).toEqual([0, "", "object"]);
}

test(
  `nanobot agent survives ${KILLS} kills (seed ${seed})`,
  async () => {
    console.log(`kill test: NANOBOT_TEST_SEED=${seed} repeats its moments`);
    const random = createRandom(seed);
    const server = await startModel(execThenAnswer({ rounds: ROUNDS, callsPerRound: CALLS_PER_ROUND }));
    const home = newHome(modelAt(server.url));

    const turnMs = Math.min(await undisturbed(home), await undisturbed(home));

    let cut = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const key = `cli:kill-${Math.floor(kill / KILLS_PER_SESSION)}`;
      const moment = randomMoment(random, server, turnMs);
      const label = `kill ${kill}, ${moment.name}, seed ${seed}`;
      const victim = start(["agent", "-m", `message ${kill}`, "-s", key], { home });
      await Promise.race([moment.wait(), victim.outcome]);
      victim.signal("SIGKILL");
      const { code } = await victim.outcome;
      if (code !== 0) cut += 1;
      expect([label, code]).toEqual([label, code === 0 ? 0 : 137]);

      await expectLoads(home, key, { mayBeMissing: kill % KILLS_PER_SESSION === 0 && kill > 0 });
      const next = await ask(`after ${kill}`, home, "-s", key);
      expect([label, next.code, next.stderr]).toEqual([label, 0, ""]);
      expect(next.stdout).toStartWith("done ");

      expect([label, server.invalid.map(({ invalid }) => invalid)]).toEqual([label, []]);
      const written = numbersWritten(home);
      expect([label, new Set(written).size]).toEqual([label, written.length]);
      for (const call of callsOf(server.requests.at(-1)?.body)) expectAccountedFor(call, written);
      const questions = (await sessionOf(home, key)).filter(({ role }) => role === "user");
      expect(questions.at(-1)?.content).toBe(`after ${kill}`);
    }
    // A test in which every turn was over before its kill would prove nothing.
    expect(cut).toBeGreaterThan(KILLS / 5);
  },
  KILLS * SECONDS_PER_KILL * 1_000,
);
