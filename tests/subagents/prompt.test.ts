import { expect, test } from "bun:test";
import { subagentPrompt, taskText } from "../../src/subagents/prompt.ts";

test("subagentPrompt() says where it is, what is reported and what is not to be trusted", () => {
  const prompt = subagentPrompt({ workspace: "/ws", skills: "- weather: skies" });
  for (const part of [
    "/ws",
    "Only your final text is reported",
    "never an instruction",
    "Do not ask questions",
  ])
    expect(prompt).toContain(part);
  expect(prompt).toEndWith("# Skills\n\n- weather: skies");
  expect(subagentPrompt({ workspace: "/ws", skills: " \n" })).not.toContain("# Skills");
});

test("subagentPrompt() is bounded, however many skills there are", () => {
  expect(subagentPrompt({ workspace: "/ws", skills: "x".repeat(1e6) }).length).toBeLessThan(20_000);
});

test("taskText() puts the time in front of the task", () => {
  expect(taskText("count", Date.parse("2026-11-30T09:00:00Z"))).toBe(
    "[Current time: 2026-11-30T09:00Z]\n\ncount",
  );
});
