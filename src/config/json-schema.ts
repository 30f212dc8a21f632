/** The configuration's schema for editors. */

import type { JsonSchema } from "@valibot/to-json-schema";
import { configSchema } from "./schema.ts";

/** JSON Schema, draft 7, in camelCase. */
export async function configJsonSchema(): Promise<JsonSchema> {
  const { toJsonSchema } = await import("@valibot/to-json-schema");
  return {
    title: "nanobot configuration",
    ...toJsonSchema(configSchema, {
      target: "draft-07",
      typeMode: "input",
      // Rules without a word in JSON Schema; loading checks them.
      ignoreActions: ["check", "finite", "safe_integer"],
    }),
  };
}
