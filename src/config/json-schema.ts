/** The configuration's schema for editors. */

import type { JsonSchema } from "@valibot/to-json-schema";
import { channels } from "../channels/registry.ts";
import { configSchema } from "./schema.ts";
import type { AnySchema } from "./shape.ts";

/** JSON Schema, draft 7, in camelCase. */
export async function configJsonSchema(): Promise<JsonSchema> {
  const { toJsonSchema } = await import("@valibot/to-json-schema");
  const convert = (schema: AnySchema) =>
    toJsonSchema(schema, {
      target: "draft-07",
      typeMode: "input",
      // Rules without a word in JSON Schema; loading checks them.
      ignoreActions: ["check", "finite", "safe_integer", "transform", "trim"],
    });
  const whole = convert(configSchema);
  const blocks = whole.properties?.["channels"];
  for (const [name, load] of Object.entries(channels)) {
    const block = typeof blocks === "object" ? blocks.properties?.[name] : undefined;
    // The terminal has none.
    if (typeof block !== "object") continue;
    const { properties, required = [] } = convert((await load()).channel.config);
    block.properties = { ...block.properties, ...properties };
    block.required = required;
  }
  return { title: "nanobot configuration", ...whole };
}
