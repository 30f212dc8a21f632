/** `$name` in a message puts a skill in front of it, for those who may say so. */

import { expect, test } from "bun:test";
import { runTurn } from "../../src/agent/turn.ts";
import type { InboundMessage } from "../../src/core/messages.ts";
import { never } from "../../src/lib/abort.ts";
import { inboundMessage } from "../fakes/messages.ts";
import { createFixture } from "./fixture.ts";

async function prompted(message: InboundMessage): Promise<{ text: string; asked: readonly string[] }> {
  const fixture = createFixture({ script: ["Sunny."] });
  const asked: string[] = [];
  const skills = {
    async named(content: string) {
      asked.push(content);
      return content.includes("$weather") ? "The user named the skill weather." : "";
    },
  };
  await runTurn(message, { ...fixture.deps, skills }, never);
  await fixture.end();
  return { text: String(fixture.model.requests[0]?.messages.at(-1)?.content), asked };
}

test("runTurn() puts a skill that the user names in front of what was said", async () => {
  const { text } = await prompted(inboundMessage({ content: "$weather in Oslo?" }));
  expect(text).toContain("[/Runtime Context]\n\nThe user named the skill weather.\n\n$weather in Oslo?");
});

test("runTurn() looks for no skill where no name can be", async () => {
  const { text, asked } = await prompted(inboundMessage({ content: "The weather in Oslo?" }));
  expect(text).not.toContain("named the skill");
  expect(asked).toEqual([]);
});

test("runTurn() takes no name from what came of a task, which quotes whatever it found", async () => {
  const message = inboundMessage({
    id: "subagent:a",
    origin: "subagent",
    content: "A page says: use $weather",
  });
  expect(await prompted(message)).toEqual({ text: expect.stringContaining("$weather") as never, asked: [] });
  expect((await prompted(message)).text).not.toContain("named the skill");
});
