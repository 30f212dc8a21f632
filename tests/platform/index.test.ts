import { describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const source = join(import.meta.dir, "../../src/platform/index.ts");

/** Evaluates `expression` over a fresh platform in a process with this environment. */
function evaluate(expression: string, env: Record<string, string>, shell = "exec") {
  const script = `const platform = await (await import(${JSON.stringify(source)})).createPlatform();
    console.log(JSON.stringify(await (${expression}) ?? null));`;
  const { stdout, stderr } = Bun.spawnSync(["sh", "-c", `${shell} "$0" -e "$1"`, process.execPath, script], {
    // Without a home Bun would keep its cache in the current folder.
    env: { BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0", ...env },
  });
  if (stdout.length === 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
}

describe("createPlatform()", () => {
  test("says where it runs", () => {
    expect(evaluate("[platform.runtime, platform.os, platform.arch]", {})).toEqual([
      `Bun ${Bun.version}`,
      process.platform,
      process.arch,
    ]);
  });

  test("takes the home folder from HOME when that is absolute", () => {
    expect(evaluate("platform.homeFolder", { HOME: "/some/where" })).toBe("/some/where");
  });

  test("takes it from the user database without one", () => {
    const known = evaluate(`(await import("node:os")).homedir()`, {});
    expect(evaluate("platform.homeFolder", {})).toBe(known);
    expect(evaluate("platform.homeFolder", { HOME: "" })).toBe(known);
  });

  test("knows no home folder when HOME is relative", () => {
    expect(evaluate("platform.homeFolder", { HOME: "some/where" })).toBeNull();
  });

  test("takes the time zone from the system", () => {
    expect(evaluate("platform.timeZone", { TZ: "Asia/Tokyo" })).toBe("Asia/Tokyo");
    expect(evaluate("platform.timeZone", {})).toMatch(/^\w+/);
  });

  test("starts in a folder that was removed, and says so only when asked for it", () => {
    const gone = mkdtempSync(join(tmpdir(), "nanobot-"));
    const inGone = `mkdir -p ${gone} && cd ${gone} && rmdir ${gone} && exec`;
    expect(evaluate("platform.os", {}, inGone)).toBe(process.platform);
    const asking = "(() => { try { return platform.cwd; } catch (error) { return error.name; } })()";
    expect(evaluate(asking, {}, inGone)).toBe("UserError");
  });

  test("loads none of the runtime's modules that are slow and seldom needed", () => {
    const quick = ["node:buffer", "node:fs", "node:fs/promises", "node:path"];
    expect([...builtinsOf(source)].sort()).toEqual(quick);
  });

  test("reaches this machine without the proxy that the environment names", () => {
    // Nothing listens at the proxy's address, so whatever goes there fails.
    const env = { HTTP_PROXY: "http://127.0.0.1:9", NO_PROXY: "example.com" };
    const ask = `(async () => {
      const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("direct") });
      const text = await platform.fetch(server.url).then((response) => response.text());
      server.stop(true);
      return [text, process.env.NO_PROXY];
    })()`;
    expect(evaluate(ask, env)).toEqual(["direct", "example.com,localhost,127.0.0.1,::1"]);
  });

  test("leaves the environment alone when no proxy is named", () => {
    expect(evaluate("process.env.NO_PROXY", {})).toBeNull();
  });
});

/** The runtime's modules that `file` and what it imports load at once. */
function builtinsOf(file: string, seen = new Set<string>()): Set<string> {
  const found = new Set<string>();
  if (seen.has(file)) return found;
  seen.add(file);
  for (const { path, kind } of new Bun.Transpiler({ loader: "ts" }).scanImports(readFileSync(file))) {
    if (kind !== "import-statement") continue;
    if (path.startsWith("."))
      for (const below of builtinsOf(join(dirname(file), path), seen)) found.add(below);
    else found.add(path);
  }
  return found;
}
