import { expect, test } from "bun:test";
import * as v from "valibot";
import { configJsonSchema } from "../../src/config/json-schema.ts";
import { configSchema } from "../../src/config/schema.ts";
import { type AnySchema, shapeOf } from "../../src/config/shape.ts";
import { isObject } from "../../src/lib/is-object.ts";

/** Every object of the schema as `[path, description, schema]` for each of its keys. */
function* keysOf(schema: AnySchema, path: string): Generator<[path: string, about: string | undefined]> {
  const shape = shapeOf(schema);
  if (shape.kind === "object") {
    for (const [key, entry] of shape.entries) {
      const inner = "wrapped" in entry ? (entry.wrapped as AnySchema) : entry;
      yield [`${path}.${key}`, v.getDescription(inner as Parameters<typeof v.getDescription>[0])];
      yield* keysOf(entry, `${path}.${key}`);
    }
    if (shape.rest) yield* keysOf(shape.rest, `${path}.*`);
  }
  if (shape.kind === "record") yield* keysOf(shape.value, `${path}.*`);
  if (shape.kind === "list") yield* keysOf(shape.item, `${path}[]`);
  if (shape.kind === "union") for (const option of shape.options) yield* keysOf(option, path);
}

test("configSchema describes each of its keys", () => {
  const keys = [...keysOf(configSchema, "")];
  expect(keys.length).toBeGreaterThan(120);
  expect(keys.filter(([, about]) => !about)).toEqual([]);
});

test("configJsonSchema() says types, defaults and descriptions", async () => {
  const schema = await configJsonSchema();
  expect(schema.$schema).toContain("draft-07");
  const text = JSON.stringify(schema);
  expect(JSON.parse(text)).toEqual(schema);
  expect(schema).toMatchObject({
    type: "object",
    properties: {
      agents: {
        properties: {
          defaults: { properties: { maxToolIterations: { type: "integer", minimum: 1, default: 40 } } },
        },
      },
      channels: { additionalProperties: { properties: { allowFrom: { type: "array" } } } },
      tools: { properties: { restrictToWorkspace: { type: "boolean", default: true } } },
      logging: { properties: { level: { enum: ["debug", "info", "warn", "error"] } } },
    },
  });
});

test("configJsonSchema() knows the keys of each channel, its own and those that all share", async () => {
  const schema = await configJsonSchema();
  for (const [name, own] of [
    ["telegram", "apiRoot"],
    ["webhook", "hooks"],
    ["websocket", "allowedOrigins"],
  ] as const) {
    expect(schema).toHaveProperty(["properties", "channels", "properties", name, "properties", own]);
    expect(schema).toHaveProperty(["properties", "channels", "properties", name, "properties", "allowFrom"]);
  }
  expect(schema).not.toHaveProperty(["properties", "channels", "properties", "cli"]);
});

/** The places of a JSON Schema that say nothing about themselves. */
function* undescribed(schema: unknown, path: string): Generator<string> {
  if (!isObject(schema)) return;
  const { properties, additionalProperties, items, anyOf } = schema;
  for (const [key, part] of Object.entries(isObject(properties) ? properties : {})) {
    if (!isObject(part) || !part["description"]) yield `${path}.${key}`;
    yield* undescribed(part, `${path}.${key}`);
  }
  yield* undescribed(additionalProperties, `${path}.*`);
  yield* undescribed(items, `${path}[]`);
  for (const option of Array.isArray(anyOf) ? anyOf : []) yield* undescribed(option, path);
}

test("configJsonSchema() describes each key, those of channels too", async () => {
  expect([...undescribed(await configJsonSchema(), "")]).toEqual([]);
});

test("configJsonSchema() demands no key that has a default", async () => {
  const schema = await configJsonSchema();
  expect(schema.required).toEqual([]);
});
