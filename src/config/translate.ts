/** From the keys as somebody wrote them to the schema's: both spellings, old names, and what is unknown. */

import { isObject } from "../lib/is-object.ts";
import { nearest } from "../lib/nearest.ts";
import { isForbidden, shown, showPath, toCamel } from "./keys.ts";
import { type AnySchema, isOptional, optionFor, type Path, type Shape, shapeOf } from "./shape.ts";

/** Keys that moved, by where they were. A value under the new key wins. */
const moves: ReadonlyMap<string, Path> = new Map([
  ["agents.defaults.sessionTtlMinutes", ["agents", "defaults", "idleCompactAfterMinutes"]],
  ["agents.defaults.dream.model", ["agents", "defaults", "dream", "modelOverride"]],
  ["tools.exec.restrictToWorkspace", ["tools", "restrictToWorkspace"]],
  ["tools.myEnabled", ["tools", "my", "enable"]],
  ["tools.mySet", ["tools", "my", "allowSet"]],
  ["tools.allowLocalPreviewAccess", ["tools", "webuiAllowLocalServiceAccess"]],
]);

/** Keys of earlier days that mean nothing any more, and are not worth a word. */
const dropped = [
  /^agents\.defaults\.(memoryWindow|maxMessages)$/,
  /^modelPresets\..*\.label$/,
  // Editors put it there, to find the schema.
  /^\$schema$/,
];

export interface Translation {
  /** With the schema's keys, known ones only, and free parts as they were. */
  readonly value: unknown;
  readonly warnings: readonly string[];
  /** Whether the text says anything about `path`. */
  has(path: Path): boolean;
  /** The keys that lead to `path` in the text; where they end before it, the schema's. */
  source(path: Path): Path;
  /** A key that is there in two spellings. The later one's path, as written. */
  readonly twice: Path | undefined;
}

/** `at` is where `raw` lies in the whole configuration. */
export function translate(schema: AnySchema, raw: unknown, at: Path = []): Translation {
  const walk = new Walk(at);
  const value = walk.any(schema, raw, at, at);
  walk.applyMoves(value);
  return {
    value,
    warnings: walk.warnings,
    has: (path) => walk.sources.has(JSON.stringify(path)),
    source: (path) => walk.source(path),
    twice: walk.twice,
  };
}

type Writable = Record<string, unknown>;

class Walk {
  readonly warnings: string[] = [];
  readonly sources = new Map<string, Path>();
  twice: Path | undefined;
  readonly #at: Path;
  readonly #moved: { readonly to: Path; readonly from: Path; readonly value: unknown }[] = [];

  constructor(at: Path) {
    this.#at = at;
  }

  source(path: Path): Path {
    const known = this.sources.get(JSON.stringify(path));
    const last = path.at(-1);
    return known ?? (last === undefined ? path : [...this.source(path.slice(0, -1)), last]);
  }

  /** `path` has the schema's names, `source` those of the text. */
  any(schema: AnySchema, raw: unknown, path: Path, source: Path): unknown {
    this.sources.set(JSON.stringify(path), source);
    const shape = shapeOf(schema);
    if (shape.kind === "union") {
      const option = optionFor(shape.options, raw);
      return option ? this.any(option, raw, path, source) : raw;
    }
    if (shape.kind === "list" && Array.isArray(raw)) {
      return raw.map((item, index) => this.any(shape.item, item, [...path, index], [...source, index]));
    }
    if (shape.kind === "record" && isObject(raw)) return this.#record(shape.value, raw, path, source);
    if (shape.kind === "object" && isObject(raw)) return this.#object(shape, raw, path, source);
    return raw;
  }

  /** Names in a record are the user's own; only what they stand for is translated. */
  #record(valueSchema: AnySchema, raw: Readonly<Writable>, path: Path, source: Path): Writable {
    const result: Writable = {};
    const isSection = shapeOf(valueSchema).kind === "object";
    for (const [name, value] of Object.entries(raw)) {
      if (isForbidden(name)) this.#warnUnknown([...source, name], []);
      else if (value === null && isSection) continue;
      else result[name] = this.any(valueSchema, value, [...path, name], [...source, name]);
    }
    return result;
  }

  #object(shape: Shape & { kind: "object" }, raw: Readonly<Writable>, path: Path, source: Path): Writable {
    const result: Writable = {};
    for (const [key, value] of Object.entries(raw)) {
      const camel = toCamel(key);
      const entry = shape.entries.get(camel);
      const keySource = [...source, key];
      if (entry) {
        if (Object.hasOwn(result, camel)) this.twice ??= keySource;
        if (value === null && isOptional(entry)) continue;
        result[camel] = this.any(entry, value, [...path, camel], keySource);
      } else if (isForbidden(key)) {
        this.#warnUnknown(keySource, []);
      } else if (shape.rest) {
        if (value !== null) result[key] = this.any(shape.rest, value, [...path, key], keySource);
      } else if (shape.loose) {
        result[key] = value;
      } else {
        this.#unknown([...path, camel], keySource, value, shape.entries.keys());
      }
    }
    return result;
  }

  #unknown(path: Path, source: Path, value: unknown, known: Iterable<string>): void {
    const name = path.join(".");
    const to = moves.get(name);
    // A part of the configuration cannot put anything beside itself.
    const isWithin = to !== undefined && this.#at.every((key, index) => to[index] === key);
    if (isWithin) this.#moved.push({ to, from: source, value });
    else if (!dropped.some((pattern) => pattern.test(name))) this.#warnUnknown(source, known);
  }

  #warnUnknown(source: Path, known: Iterable<string>): void {
    const key = String(source.at(-1));
    const meant = shown(key) === key ? nearest(toCamel(key), known) : undefined;
    const question = meant === undefined ? "" : `; did you mean "${meant}"?`;
    this.warnings.push(`Unknown key ${showPath(source)} is ignored${question}`);
  }

  applyMoves(root: unknown): void {
    for (const { to, from, value } of this.#moved) {
      const parent = folderFor(root, to.slice(this.#at.length, -1));
      const key = String(to.at(-1));
      if (value === null || parent === undefined || Object.hasOwn(parent, key)) continue;
      parent[key] = value;
      this.sources.set(JSON.stringify(to), from);
    }
  }
}

/** The object at `path`, made where it is missing; `undefined` where something else is in its place. */
function folderFor(root: unknown, path: Path): Writable | undefined {
  let folder = root;
  for (const key of path) {
    if (!isWritable(folder)) return undefined;
    if (!Object.hasOwn(folder, key)) folder[key] = {};
    folder = folder[key];
  }
  return isWritable(folder) ? folder : undefined;
}

function isWritable(value: unknown): value is Writable {
  return isObject(value);
}
