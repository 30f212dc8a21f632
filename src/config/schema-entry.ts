/** The vocabulary the configuration schema is written in. */

import * as v from "valibot";

/** A key with a default. `about` is what an editor shows. */
export function setting<Schema extends v.GenericSchema>(
  about: string,
  schema: Schema,
  fallback: v.InferInput<Schema>,
): v.OptionalSchema<Schema, v.InferInput<Schema>> {
  // A description changes no type, which valibot's generics cannot say.
  return v.optional(described(about, schema), fallback as never);
}

/** A key that may be absent and has no default. */
export function option<Schema extends v.GenericSchema>(
  about: string,
  schema: Schema,
): v.OptionalSchema<Schema, undefined> {
  return v.optional(described(about, schema));
}

/** A key that must be there. */
export function described<Schema extends v.GenericSchema>(about: string, schema: Schema): Schema {
  // The same: the pipe's type is the schema's own.
  return v.pipe(schema, v.description(about)) as v.GenericSchema as Schema;
}

export const text = v.string();
export const flag = v.boolean();
export const texts = v.array(v.string());
export const textByName = v.record(v.string(), v.string());
export const anythingByName = v.record(v.string(), v.unknown());
export const amount = v.pipe(v.number(), v.finite(), v.minValue(0));
export const port = whole(0, 65_535);

export function whole(min: number, max = Number.MAX_SAFE_INTEGER) {
  return v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
}

export function fraction(min: number, max: number) {
  return v.pipe(v.number(), v.minValue(min), v.maxValue(max));
}

/** A pattern for a value that may also be a `${VAR}`, which is only known later. */
export function shaped(wanted: string, isRight: (value: string) => boolean) {
  return v.pipe(
    v.string(),
    v.check((value) => value.includes("${") || isRight(value), wanted),
  );
}
