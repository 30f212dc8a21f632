import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { FileSystem, ProcessResult } from "../../src/core/platform.ts";
import type { Ripgrep } from "../../src/core/tool.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createProcesses } from "../../src/platform/processes.ts";
import { createRipgrep } from "../../src/shell/ripgrep.ts";
import { decodePieces } from "../../src/tools/decoded-lines.ts";
import { grep } from "../../src/tools/grep.ts";
import { createTestToolbox, testRun } from "../fakes/toolbox.ts";
import { createFixture, system } from "./fixture.ts";

type Fixture = ReturnType<typeof createFixture>;

/** Files with these contents, the first one the newest. */
function fixtureWith(
  contents: Record<string, string | Uint8Array>,
  fixture: Fixture = createFixture(),
): Fixture {
  for (const [index, [path, content]] of Object.entries(contents).entries()) {
    utimesSync(fixture.put(path, content), 1e9 - index, 1e9 - index);
  }
  return fixture;
}

async function search(contents: Record<string, string | Uint8Array>, args: object): Promise<string> {
  return (await fixtureWith(contents).call(grep, args)).text;
}

const content = { output_mode: "content" };

test("grep() lists the files that match, the newest first", async () => {
  const files = { "b.txt": "foo\n", "sub/a.txt": "a foo", "c.txt": "bar" };
  expect(await search(files, { pattern: "foo" })).toBe("b.txt\nsub/a.txt");
});

test("grep() shows the lines that match", async () => {
  const files = { "b.txt": "one\ntwo foo\n", "a.txt": "foo\nbar\nfoo 2" };
  expect(await search(files, { pattern: "foo", ...content })).toBe(
    "a.txt:1\n> 1| foo\n\na.txt:3\n> 3| foo 2\n\nb.txt:2\n> 2| two foo",
  );
});

test("grep() shows the lines around each match", async () => {
  const args = { pattern: "^[37]$", ...content, context_before: 2, context_after: 1 };
  expect(await search({ "a.txt": "1\n2\n3\n4\n5\n6\n7" }, args)).toBe(
    "a.txt:3\n  1| 1\n  2| 2\n> 3| 3\n  4| 4\n\na.txt:7\n  5| 5\n  6| 6\n> 7| 7",
  );
});

test("grep() shows what follows a match although it matches too", async () => {
  const args = { pattern: "a", ...content, context_after: 1 };
  expect(await search({ x: "a\na\nb\n" }, args)).toBe("x:1\n> 1| a\n  2| a\n\nx:2\n> 2| a\n  3| b");
});

test("grep() counts matching lines", async () => {
  const files = { "a.txt": "x x\ny\nx", "b.txt": "x", "c.txt": "y" };
  expect(await search(files, { pattern: "x", output_mode: "count" })).toBe(
    "a.txt: 2\nb.txt: 1\n\n(3 matching lines in 2 files)",
  );
});

test("grep() takes CRLF as the end of a line and passes over a byte order mark", async () => {
  const files = { "a.txt": "\ufefffoo\r\nbar\r\nfoo\r" };
  expect(await search(files, { pattern: "^foo$", ...content })).toBe(
    "a.txt:1\n> 1| foo\n\na.txt:3\n> 3| foo",
  );
  expect(await search(files, { pattern: "^foo$", output_mode: "count" })).toStartWith("a.txt: 2");
});

test("grep() searches text that is no UTF-8 as far as it is", async () => {
  const bytes = new Uint8Array([0x66, 0x6f, 0x6f, 0xff, 0x0a, 0xe9, 0x0a]);
  expect(await search({ "a.txt": bytes }, { pattern: "foo", ...content })).toBe("a.txt:1\n> 1| foo\ufffd");
});

test("grep() searches UTF-16 that says so with a mark", async () => {
  const little = Buffer.from("\ufeffone\r\n日本 two\r\n", "utf16le");
  const big = Buffer.from(little).swap16();
  const files = { "a.txt": little, "b.txt": big, "none.txt": Buffer.from("two\n", "utf16le") };
  expect(await search(files, { pattern: "^日本 two$", ...content })).toBe(
    "a.txt:2\n> 2| 日本 two\n\nb.txt:2\n> 2| 日本 two",
  );
  expect(await search({ "a.txt": Buffer.from("\ufeffa\0b", "utf16le") }, { pattern: "b" })).toContain(
    "(Binary files that match, not shown: a.txt)",
  );
});

test("decodePieces() gives the same text however the bytes are cut", async () => {
  const encoding = fc.constantFrom("utf8", "utf16le", "utf16be");
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: "binary" }),
      encoding,
      fc.integer({ min: 1, max: 5 }),
      async (...given) => {
        const [text, as, size] = given;
        const marked = Buffer.from(`\ufeff${text}x`, as === "utf8" ? "utf8" : "utf16le");
        const bytes = as === "utf16be" ? marked.swap16() : marked;
        async function* cut() {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        }
        let decoded = "";
        for await (const piece of decodePieces(cut())) decoded += piece.text;
        expect(decoded).toBe(`${text.toWellFormed()}x`);
      },
    ),
  );
});

test("grep() names what has a name that cannot be opened", async () => {
  const { call, workspace, put } = createFixture();
  put("a.txt", "x");
  writeFileSync(Buffer.concat([Buffer.from(`${workspace}/caf`), Buffer.of(0xe9)]), "x");
  expect((await call(grep, { pattern: "x" })).text).toBe("a.txt\n\n(Not readable: caf\ufffd)");
});

test("grep() finds text of any script", async () => {
  const files = { "日本.txt": "これは日本語です\n😀 smile", "b.txt": "ÜBER" };
  expect(await search(files, { pattern: "日本\\p{Han}", ...content })).toBe(
    "日本.txt:1\n> 1| これは日本語です",
  );
  expect(await search(files, { pattern: "^. smile", ...content })).toContain("> 2| 😀 smile");
  expect(await search(files, { pattern: "über", case_insensitive: true })).toBe("b.txt");
});

test("grep() takes the pattern as it is when told to", async () => {
  const files = { "a.txt": "f(x.*)", "b.txt": "f(x)" };
  expect(await search(files, { pattern: "(x.*)", fixed_strings: true })).toBe("a.txt");
  expect(await search(files, { pattern: "(X.*", fixed_strings: true, case_insensitive: true })).toBe("a.txt");
});

test("grep() searches only what glob and type say", async () => {
  const files = { "a.ts": "x", "a.py": "x", "src/b.ts": "x", "src/b.test.ts": "x" };
  expect(await search(files, { pattern: "x", glob: "src/*.ts" })).toBe("src/b.ts\nsrc/b.test.ts");
  expect(await search(files, { pattern: "x", glob: "!*.ts" })).toBe("a.py");
  expect(await search(files, { pattern: "x", type: "python" })).toBe("a.py");
  expect(await search(files, { pattern: "x", type: "klingon" })).toContain('type "klingon": it is not known');
});

test("grep() searches one file, or one folder", async () => {
  const files = { "a.txt": "x", "sub/b.txt": "x" };
  expect(await search(files, { pattern: "x", path: "a.txt" })).toBe("a.txt");
  expect(await search(files, { pattern: "x", path: "sub" })).toBe("sub/b.txt");
});

test("grep() goes on where the page before ended", async () => {
  const files = { "a.txt": "x1\nx2\n", "b.txt": "x3\nx4\nx5\n" };
  const args = { pattern: "x", ...content, head_limit: 2 };
  expect(await search(files, { ...args, offset: 1 })).toBe(
    "a.txt:2\n> 2| x2\n\nb.txt:1\n> 1| x3\n\n(2 more. Go on with offset=3)",
  );
  expect(await search(files, { ...args, head_limit: 1 })).toEndWith("(At least 1 more. Go on with offset=1)");
  expect(await search(files, { ...args, offset: 3 })).toBe("b.txt:2\n> 2| x4\n\nb.txt:3\n> 3| x5");
  expect(await search(files, { ...args, offset: 9 })).toBe("(There are only 5. Use an offset below that)");
  expect(await search(files, { pattern: "x", head_limit: 1 })).toBe("a.txt\n\n(1 more. Go on with offset=1)");
  expect(await search(files, { pattern: "x", max_results: 1 })).toStartWith("a.txt\n\n(1 more");
});

test("grep() shows every match once over all pages", async () => {
  const lines = Array.from({ length: 3_000 }, (_, index) => `match ${index}`);
  const fixture = fixtureWith({
    "a.txt": lines.slice(0, 1_000).join("\n"),
    "b.txt": lines.slice(1_000).join("\n"),
  });
  const seen: string[] = [];
  for (let offset = 0; offset < lines.length; offset += 250) {
    const { text } = await fixture.call(grep, { pattern: "match", ...content, offset });
    seen.push(...[...text.matchAll(/^> \d+\| (.*)$/gm)].map((match) => match[1] ?? ""));
  }
  expect(seen).toEqual(lines);
});

test("grep() ends a result before it is too long, and says where to go on", async () => {
  const line = `match ${"y".repeat(900)}\n`;
  const text = await search({ "a.txt": line.repeat(1_000) }, { pattern: "match", ...content, head_limit: 0 });
  expect(text.length).toBeLessThan(130_000);
  expect(text.length).toBeGreaterThan(120_000);
  const shown = text.match(/^> /gm)?.length;
  expect(text).toEndWith(`(${1_000 - (shown ?? 0)} more. Go on with offset=${shown})`);
});

test("grep() shows of a long line its beginning and the place of the match", async () => {
  const line = `${"a".repeat(300_000)}needle${"😀".repeat(50_000)}`;
  const text = await search({ "a.txt": `${line}\nshort needle` }, { pattern: "needle", ...content });
  expect(text.length).toBeLessThan(2_000);
  expect(text).toContain("aaneedle😀");
  expect(text).toContain("(line of 400006 characters)");
  expect(text).toEndWith("> 2| short needle");
  expect(text.isWellFormed()).toBe(true);
});

test("grep() says what was binary, too large, or left out", async () => {
  const big = "x".repeat(2 * 1024 * 1024 + 1);
  const files = { "bin.dat": "a\0x", "other.dat": "a\0b", "big.txt": big, "node_modules/m.js": "x" };
  expect(await search(files, { pattern: "x" })).toBe(
    "(Binary files that match, not shown: bin.dat)\n" +
      "(Larger than 2 MB, not searched; name one of up to 100 MB with path: big.txt)\n(Left out: node_modules)",
  );
  expect(await search(files, { pattern: "x", path: "big.txt" })).toBe("big.txt");
});

test("grep() says of one binary file that it matches, and nothing else", async () => {
  for (const args of [{}, content, { output_mode: "count" }, { offset: 5 }]) {
    expect(await search({ "a.dat": "a\0x" }, { pattern: "x", path: "a.dat", ...args })).toBe(
      "(Binary files that match, not shown: a.dat)",
    );
  }
});

test("grep() finds zero bytes behind the first pieces of a large file", async () => {
  const file = `x\n${"y\n".repeat(800_000)}\0`;
  expect(await search({ "a.dat": file }, { pattern: "x", output_mode: "count" })).toContain(
    "Binary files that match",
  );
});

test.each(["files_with_matches", "content", "count"])(
  "grep() says in mode %p that nothing matches",
  async (output_mode) => {
    expect(await search({ "a.txt": "a" }, { pattern: "x", output_mode })).toBe(
      '(No match for "x" in "."; searched 1 file)',
    );
  },
);

describe("what is closed", () => {
  test("grep() never follows a link", async () => {
    const { call, workspace, base } = fixtureWith({ "a.txt": "secret" });
    writeFileSync(join(base, "outside.txt"), "secret");
    mkdirSync(join(base, "folder"));
    writeFileSync(join(base, "folder", "f.txt"), "secret");
    symlinkSync(join(base, "outside.txt"), join(workspace, "link.txt"));
    symlinkSync(join(base, "folder"), join(workspace, "dir"));
    symlinkSync(".", join(workspace, "loop"));
    expect((await call(grep, { pattern: "secret" })).text).toBe("a.txt");
    expect((await call(grep, { pattern: "secret", path: "link.txt" })).text).toContain(
      "outside the workspace",
    );
    expect((await call(grep, { pattern: "secret", path: "dir" })).text).toContain("outside the workspace");
    expect((await call(grep, { pattern: "secret", path: ".." })).ok).toBe(false);
  });

  test.each(["files_with_matches", "content", "count"])(
    "grep() tells nothing of closed files in mode %p",
    async (output_mode) => {
      const fixture = fixtureWith(
        {
          ".nanobot/x.jsonl": "secret",
          "deep/.nanobot/x": "secret",
          "private/x": "secret",
          "config.json": "secret",
          "config.json.bak-1": "secret\0",
        },
        createFixture({ files: { hidden: [".nanobot", "private", "config.json"] } }),
      );
      expect((await fixture.call(grep, { pattern: "secret", output_mode })).text).toStartWith(
        '(No match for "secret"',
      );
      expect((await fixture.call(grep, { pattern: "secret", path: "config.json", output_mode })).ok).toBe(
        false,
      );
    },
  );

  test("grep() passes over what a folder became since it was listed", async () => {
    const { base, workspace, put, context } = createFixture();
    writeFileSync(join(base, "f.txt"), "secret");
    put("sub/f.txt", "secret");
    const swapping: FileSystem = {
      ...system,
      realPath: async (path) => (path === join(workspace, "sub") ? base : system.realPath(path)),
    };
    const { call } = createFixture({ files: { system: swapping, workspace } });
    expect((await call(grep, { pattern: "secret" })).text).toStartWith("(No match");
    expect(context.workspace).toBe(workspace);
  });

  test("grep() refuses pipes and devices, and passes over those in folders", async () => {
    const { call, workspace } = fixtureWith({ "a.txt": "x" });
    Bun.spawnSync(["mkfifo", join(workspace, "pipe")]);
    expect((await call(grep, { pattern: "x" })).text).toBe("a.txt");
    expect((await call(grep, { pattern: "x", path: "pipe" })).text).toContain("not a regular file");
    expect((await call(grep, { pattern: "x", path: "/dev/zero" })).ok).toBe(false);
    const free = createFixture({ files: { restrict: false } });
    expect((await free.call(grep, { pattern: "x", path: "/dev/zero" })).text).toContain("not a regular file");
  });

  test("grep() does not read a file of 3 GB", async () => {
    const { call, workspace } = fixtureWith({ "a.txt": "x" });
    const sparse = openSync(join(workspace, "big.bin"), "w");
    ftruncateSync(sparse, 3 * 1024 ** 3);
    closeSync(sparse);
    expect((await call(grep, { pattern: "x" })).text).toBe(
      "a.txt\n\n(Larger than 2 MB, not searched; name one of up to 100 MB with path: big.bin)",
    );
    const named = await call(grep, { pattern: "x", path: "big.bin" });
    expect(named).toMatchObject({
      ok: false,
      text: expect.stringContaining("at most 104857600 are searched"),
    });
  });
});

const isRoot = process.getuid?.() === 0;

test.skipIf(isRoot)(
  "grep() says which files it cannot read (skipped as root, who can read all)",
  async () => {
    const { call, workspace } = fixtureWith({ "a.txt": "x", "b.txt": "x" });
    chmodSync(join(workspace, "b.txt"), 0);
    expect((await call(grep, { pattern: "x" })).text).toBe("a.txt\n\n(Not readable: b.txt)");
  },
);

test("grep() goes on past a file that is gone", async () => {
  const { call, workspace } = fixtureWith({ "a.txt": "x", "b.txt": "x" });
  const losing: FileSystem = {
    ...system,
    async read(path, range) {
      if (path.endsWith("b.txt")) throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
      return system.read(path, range);
    },
  };
  const other = createFixture({ files: { system: losing, workspace } });
  expect((await other.call(grep, { pattern: "x" })).text).toBe("a.txt\n\n(Not readable: b.txt)");
  expect((await call(grep, { pattern: "x" })).text).toBe("a.txt\nb.txt");
});

test.each([
  ["(", "is not closed"],
  ["a(?=b)", "look-around"],
  ["", "it is empty"],
  ["a\nb", "one at a time"],
])("grep() says what is wrong with the pattern %p", async (pattern, why) => {
  expect(await search({ a: "a" }, { pattern })).toContain(why);
});

test("grep() stops when the turn is stopped", async () => {
  const stop = new AbortController();
  const fixture = fixtureWith({ "a.txt": "x" }, createFixture({ signal: stop.signal }));
  stop.abort(new Error("stopped"));
  await expect(fixture.call(grep, { pattern: "x" })).rejects.toThrow("stopped");
});

describe("beside ripgrep, and skipped where that is not installed", () => {
  const processes = createProcesses(systemClock);
  const ripgrep = createRipgrep({ files: system, processes });
  const hasRipgrep = ["/usr/bin/rg", "/usr/local/bin/rg", "/bin/rg"].some((path) => existsSync(path));

  /** More files than it takes to make starting ripgrep worth its while. */
  function forest(fixture: Fixture): void {
    for (let index = 0; index < 1_100; index++) {
      const text = index % 50 === 0 ? `it's a "Needle" ${index}\r\nnext\n` : `nothing ${index}\n`;
      const name = index % 100 === 0 ? `-d ${index}/ü '${index}.txt` : `d${index % 7}/f${index}.txt`;
      utimesSync(fixture.put(name, text), index, index);
    }
    fixture.put("bin", 'a\0it\'s a "Needle"');
    fixture.put("build/x", 'it\'s a "Needle"');
    fixture.put(".gitignore", "d1\n");
    fixture.put("large", `${"y\n".repeat(600_000)}it's a "Needle"`);
    fixture.put(".rgignore", "*");
    fixture.put("wide", Buffer.from('\ufeffit\'s a "Needle" 1000', "utf16le"));
  }

  test.skipIf(!hasRipgrep).each([
    { pattern: 'it\'s a "Needle"', fixed_strings: true },
    { pattern: "Needle\\W \\d+0$", ...content, context_after: 1 },
    { pattern: "needle", case_insensitive: true, output_mode: "count" },
    { pattern: "--version", fixed_strings: true },
    { pattern: "$(touch gotcha)", fixed_strings: true },
    { pattern: "nothing", head_limit: 0 },
  ])("grep() says the same without it about %p", async (args) => {
    const runs: ProcessResult[] = [];
    const counting: Ripgrep = async (...given) => {
      const result = await ripgrep(...given);
      if (result !== undefined) runs.push(result);
      return result;
    };
    const fixture = createFixture({ ports: { ripgrep: counting } });
    forest(fixture);
    const withIt = await fixture.call(grep, args);
    const own = createFixture({ files: { workspace: fixture.workspace } });
    expect(withIt).toEqual(await own.call(grep, args));
    expect(runs.map(({ ended }) => ended)).toEqual([undefined]);
    expect(await system.stat(join(fixture.workspace, "gotcha"))).toBeUndefined();
  });

  const silent = { head: "", tail: "", omittedBytes: 0 };
  const done = { exitCode: 0, signal: null, ended: undefined, stdout: silent, stderr: silent };

  test.each<[string, Ripgrep | undefined]>([
    ["may not run", undefined],
    ["is not there", async () => undefined],
    ["fails", async () => ({ ...done, exitCode: 2 })],
    ["takes too long", async () => ({ ...done, exitCode: null, ended: "timeout" })],
    ["finds more than is kept", async () => ({ ...done, stdout: { ...silent, omittedBytes: 1 } })],
    ["cannot be started", async () => Promise.reject(Object.assign(new Error("EACCES"), { code: "EACCES" }))],
  ])("grep() reads every file itself when ripgrep %s", async (_, port) => {
    const fixture = createFixture({ ports: { ripgrep: port } });
    forest(fixture);
    expect((await fixture.call(grep, { pattern: "Needle", output_mode: "count" })).text).toContain(
      "(24 matching lines in 24 files)",
    );
  });

  test("grep() gives ripgrep nothing of the pattern but the text to look for", async () => {
    const seen: (readonly string[])[] = [];
    const ripgrep: Ripgrep = async (args) => {
      seen.push(args);
      return undefined;
    };
    const fixture = createFixture({ ports: { ripgrep } });
    forest(fixture);
    await fixture.call(grep, { pattern: "--pre=sh", fixed_strings: true });
    await fixture.call(grep, { pattern: "$(touch x)", fixed_strings: true });
    const [one = [], other = []] = seen;
    expect(one.filter((arg) => !other.includes(arg))).toEqual(["--regexp=--pre=sh"]);
  });
});

test("grep() counts what splitting into lines and searching each would count", async () => {
  const unit = fc.constantFrom("a", "b", "\n", "\r\n", "é", "😀", " ");
  const fixture = createFixture();
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit, minLength: 1, maxLength: 40 }),
      fc.constantFrom("a", "ab", "a$", "^b", "^$", "a b", "é.", "\\ba"),
      fc.integer({ min: 1, max: 9 }),
      async (text, pattern, size) => {
        fixture.put("a.txt", text);
        // Pieces of any size, which end inside characters and lines.
        const slow: FileSystem = {
          ...system,
          stat: async (path) => {
            const found = await system.stat(path);
            return found?.kind === "file" ? { ...found, bytes: 2_000_000 } : found;
          },
          async *stream(path) {
            const bytes = await system.read(path);
            for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
          },
        };
        const lines = text.split(/\r?\n/);
        if (lines.at(-1) === "") lines.pop();
        const native = new RegExp(pattern === "\\ba" ? "(?<![\\p{L}])a" : pattern, "u");
        const expected = lines.flatMap((line, index) => (native.test(line) ? [index + 1] : []));
        for (const files of [
          { workspace: fixture.workspace },
          { workspace: fixture.workspace, system: slow },
        ]) {
          const { call } = createFixture({ files });
          const args = { pattern, path: "a.txt" };
          const counted = (await call(grep, { ...args, output_mode: "count" })).text;
          expect(Number(/a\.txt: (\d+)/.exec(counted)?.[1] ?? 0)).toBe(expected.length);
          const shown = (await call(grep, { ...args, ...content })).text;
          expect([...shown.matchAll(/^> (\d+)\|/gm)].map((match) => Number(match[1]))).toEqual(expected);
        }
      },
    ),
    { numRuns: 150 },
  );
}, 60_000);

test("grep() works behind the wrapper, with arguments as models write them", async () => {
  const { context, put, workspace } = createFixture();
  put("a.txt", "Foo 1\n");
  const toolbox = createTestToolbox({
    tools: [grep],
    workspace,
    ports: () => context.ports,
    maxResultChars: 16_000,
  });
  const run = (args: string) =>
    toolbox.run({ id: "1", name: "grep", arguments: args }, testRun({ signal: context.signal }));
  expect(await run('{"pattern": 1, "context_before": "2", "output_mode": "content", "glob": null}')).toEqual({
    ok: true,
    text: "a.txt:1\n> 1| Foo 1",
  });
  expect((await run('{"pattern": "foo", "case_insensitive": "true"}')).text).toBe("a.txt");
  expect((await run('{"pattern": "("}')).text).toStartWith('Error: Cannot use the pattern "("');
  expect((await run('{"pattern": "x", "output_mode": "lines"}')).ok).toBe(false);
});
