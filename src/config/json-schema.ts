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
  if (typeof blocks === "object" && typeof blocks.additionalProperties === "object") {
    const shared = blocks.additionalProperties;
    for (const [name, load] of Object.entries(channels)) {
      // The terminal is set up by flags.
      if (name === "cli") continue;
      const { properties, required = [] } = convert((await load()).channel.config);
      blocks.properties = {
        ...blocks.properties,
        [name]: { ...shared, properties: { ...shared.properties, ...properties }, required },
      };
    }
  }
  return { title: "nanobot configuration", ...whole };
}
