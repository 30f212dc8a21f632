import { expect, test } from "bun:test";
import { toJsonSchema } from "@valibot/to-json-schema";
import * as registry from "../../src/tools/registry.ts";

const tools = Object.values(registry);

test("each name is there once", () => {
  const names = tools.map((tool) => tool.name);
  expect(new Set(names).size).toBe(names.length);
});

test.each(tools.map((tool) => [tool.name, tool] as const))(
  "%s declares a strict schema that models can read",
  (_, tool) => {
    const schema = toJsonSchema(tool.parameters, { errorMode: "throw" });
    expect(schema).toMatchObject({ type: "object", additionalProperties: false });
    for (const property of Object.values(schema.properties ?? {})) {
      expect(property).toMatchObject({ type: expect.any(String), description: expect.any(String) });
    }
    expect(tool.description.length).toBeGreaterThan(20);
  },
);

/** Chats are switched off where they are set up, with their channels. */
const withoutSection = ["cron", "memory_search", "message", "spawn"];

test("each tool belongs to a section that can be switched off", () => {
  const others = tools.filter(({ name }) => !withoutSection.includes(name));
  for (const { name, section } of others) expect([name, section]).toEqual([name, expect.any(String)]);
});
