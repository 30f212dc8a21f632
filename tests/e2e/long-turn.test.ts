/** A turn far longer than the model's window, over the wire. */

import { expect, test } from "bun:test";
import type { Reply } from "../fakes/chat-server.ts";
import { ask, endToEnd, modelAt, newHome, sessionOf, startModel } from "./harness.ts";

endToEnd();

const WINDOW = 32_000;
const STEPS = 200;

/** Each step prints far more than a result may have. */
function stepOrAnswer(index: number): Reply {
  if (index >= STEPS) return { text: "All of it is done." };
  const command = `echo step ${index}; seq 1 6000`;
  return { toolCalls: [{ name: "exec", arguments: { command } }] };
}

test("nanobot agent finishes a turn of 200 steps in a window of 32,000 tokens, and the turn after it", async () => {
  // It refuses what is longer, as well as any history that is out of order.
  const server = await startModel((_, index) => (index <= STEPS ? stepOrAnswer(index) : { text: "Yes." }), {
    contextWindow: WINDOW,
  });
  const home = newHome(modelAt(server.url, { contextWindowTokens: WINDOW, maxToolIterations: STEPS + 10 }));
  const { code, stdout } = await ask("Do all the steps", home);
  expect([code, stdout]).toEqual([0, "All of it is done.\n"]);
  expect(server.requests).toHaveLength(STEPS + 1);
  expect(await ask("Are they done?", home)).toMatchObject({ code: 0, stdout: "Yes.\n" });
  expect(server.invalid).toEqual([]);
  const results = (await sessionOf(home)).filter(({ role }) => role === "tool");
  expect(results).toHaveLength(STEPS);
  // What was left out of a request is all in the session.
  expect(results.every(({ content }) => content.includes("step "))).toBe(true);
}, 120_000);
