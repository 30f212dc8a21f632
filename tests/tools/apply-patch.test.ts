import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import * as v from "valibot";
import type { FileSystem } from "../../src/core/platform.ts";
import { applyPatch } from "../../src/tools/apply-patch.ts";
import { createTestToolbox } from "../fakes/toolbox.ts";
import { createFixture, system } from "./fixture.ts";

const { workspace, base, put, call, context } = createFixture();
const read = (path: string, root = workspace) => readFileSync(join(root, path), "utf8");

interface TestEdit {
  path: string;
  action: string;
  old_text?: string;
  new_text: string;
}

const patch = (edits: readonly TestEdit[], more: object = {}) => call(applyPatch, { edits, ...more });
const replace = (path: string, old_text: string, new_text: string) => ({
  path,
  action: "replace",
  old_text,
  new_text,
});
const add = (path: string, new_text: string) => ({ path, action: "add", new_text });

describe("applyPatch() edits", () => {
  test("applyPatch() changes several files and counts the lines of each", async () => {
    put("a.txt", "one\ntwo\nthree\n");
    put("b.txt", "x\n");
    const result = await patch([
      replace("a.txt", "one\ntwo", "one\n2\n2.5"),
      add("b.txt", "y\nz"),
      add("new/c.txt", "c"),
    ]);
    expect(result.ok).toBe(true);
    expect(result.text).toStartWith('Patched:\n"a.txt" +2/-1\n"b.txt" +2/-0\n"new/c.txt" +1/-0, a new file');
    expect([read("a.txt"), read("b.txt"), read("new/c.txt")]).toEqual([
      "one\n2\n2.5\nthree\n",
      "x\ny\nz\n",
      "c\n",
    ]);
  });

  test("applyPatch() counts the lines that a new file has in the end", async () => {
    const { text } = await patch([add("new/d.txt", "one\ntwo\n"), replace("new/d.txt", "two\n", "2\n3\n")]);
    expect(text).toStartWith('Patched:\n"new/d.txt" +3/-0, a new file');
  });

  test("applyPatch() shows each edit what the ones before it left", async () => {
    put("a.txt", "one\n");
    await patch([replace("a.txt", "one", "two"), replace("a.txt", "two", "three"), add("a.txt", "four")]);
    expect(read("a.txt")).toBe("three\nfour\n");
    await patch([add("fresh.txt", "a"), replace("fresh.txt", "a", "b")]);
    expect(read("fresh.txt")).toBe("b\n");
  });

  test("applyPatch() sees one file behind several names", async () => {
    put("a.txt", "one\n");
    symlinkSync("a.txt", join(workspace, "alias.txt"));
    const { text } = await patch([replace("./a.txt", "one", "two"), replace("alias.txt", "two", "three")]);
    expect(text).toStartWith('Patched:\n"a.txt" +2/-2\n');
    expect(read("a.txt")).toBe("three\n");
    expect(lstatSync(join(workspace, "alias.txt")).isSymbolicLink()).toBe(true);
  });

  test("applyPatch() ends what it changes with a newline, like the others of the file", async () => {
    put("a.txt", "one\r\ntwo");
    await patch([add("a.txt", "three\nfour")]);
    expect(read("a.txt")).toBe("one\r\ntwo\r\nthree\r\nfour\r\n");
    put("a.txt", "one\ntwo");
    await patch([replace("a.txt", "one", "1")]);
    expect(read("a.txt")).toBe("1\ntwo\n");
    put("a.txt", "all");
    await patch([replace("a.txt", "all", "")]);
    expect(read("a.txt")).toBe("");
  });

  test("applyPatch() keeps CRLF, the byte order mark and the mode", async () => {
    chmodSync(put("run.sh", "\ufeffa\r\nb\r\n"), 0o750);
    await patch([replace("run.sh", "a\nb", "a\nX\nY")]);
    expect(read("run.sh")).toBe("\ufeffa\r\nX\r\nY\r\n");
    expect(statSync(join(workspace, "run.sh")).mode & 0o777).toBe(0o750);
  });

  test("applyPatch() puts text in byte for byte", async () => {
    const cost = "cost $& $$ $1 $` $' end  ";
    put("a.txt", "a X b\n");
    await patch([replace("a.txt", "X", cost), add("a.txt", "\tx \n")]);
    expect(read("a.txt")).toBe(`a ${cost} b\n\tx \n`);
  });

  test("applyPatch() makes an empty file, and a lone surrogate well-formed", async () => {
    await patch([add("empty.txt", ""), add("emoji.txt", "a\ud83d 😀")]);
    expect([read("empty.txt"), read("emoji.txt")]).toEqual(["", "a\ufffd 😀\n"]);
  });

  test("applyPatch() writes nothing in a dry run, and says what would change", async () => {
    put("a.txt", "one\n");
    const result = await patch([replace("a.txt", "one", "two"), add("dry/b.txt", "b")], { dry_run: true });
    expect(result.ok).toBe(true);
    expect(result.text).toStartWith(
      'Nothing was written. The patch fits and would change:\n"a.txt" +1/-1\n"dry/b.txt" +1/-0, a new file',
    );
    expect(read("a.txt")).toBe("one\n");
    expect(existsSync(join(workspace, "dry"))).toBe(false);
  });
});

describe("applyPatch() refuses", () => {
  /** Behind an edit that fits, which must not be made. */
  async function refused(edit: TestEdit): Promise<string> {
    put("first.txt", "one\n");
    const result = await patch([replace("first.txt", "one", "two"), edit]);
    expect(result.ok).toBe(false);
    expect(read("first.txt")).toBe("one\n");
    expect(result.text).toStartWith("Nothing was changed, because edit 2 does not fit. Cannot edit ");
    return result.text;
  }

  test("applyPatch() refuses a passage that is not there once, exactly as written", async () => {
    put("a.txt", "x\n  a\n  b\nx\n");
    expect(await refused(replace("a.txt", "x", "y"))).toContain(
      "2 times, at lines 1, 4; add lines around it until it is unique",
    );
    expect(await refused(replace("a.txt", "a\nb", "y"))).toContain("differs in white space only");
    expect(await refused(replace("a.txt", "nothing like it", "y"))).toContain("old_text is not in it");
    expect(await refused(replace("a.txt", "x", "x"))).toContain("are the same");
  });

  test("applyPatch() refuses what its action does not allow", async () => {
    put("a.txt", "x\n");
    expect(await refused({ path: "a.txt", action: "replace", new_text: "y" })).toContain(
      "replace needs old_text",
    );
    expect(await refused({ ...replace("a.txt", "x", "y"), action: "add" })).toContain(
      "add takes no old_text",
    );
    expect(await refused(add("a.txt", ""))).toContain("nothing to add");
    expect(await refused(replace("frist.txt", "x", "y"))).toContain('did you mean "first.txt"');
  });

  test("applyPatch() refuses to make a file and a folder of one name", async () => {
    const [file, below] = [add("either", "a"), add("either/below/b.txt", "b")];
    for (const edits of [
      [file, below],
      [below, file],
    ]) {
      const { ok, text } = await patch(edits);
      expect(ok).toBe(false);
      expect(text).toContain('would make "either" a file, and a folder for "either/below/b.txt"');
      expect(existsSync(join(workspace, "either"))).toBe(false);
    }
  });

  test("applyPatch() says what it takes in the place of other forms of a patch", () => {
    const problems = (edits: unknown) =>
      (v.safeParse(applyPatch.parameters, { edits }).issues ?? []).map(({ message }) => message).join();
    expect(problems("*** Begin Patch\n*** End Patch")).toContain("Give a list of edits, such as");
    expect(problems([{ path: "a.txt", action: "delete", new_text: "" }])).toContain("use exec with mv or rm");
  });

  test("applyPatch() refuses files that are closed, lead outside, or are no text", async () => {
    put("sessions/x.jsonl", "a");
    put("binary", new Uint8Array([0x61, 0xff]));
    writeFileSync(join(base, "outside.txt"), "a");
    symlinkSync(join(base, "outside.txt"), join(workspace, "way-out"));
    expect(await refused(replace("sessions/x.jsonl", "a", "b"))).toContain(
      "only nanobot itself writes there",
    );
    expect(await refused(add(".nanobot/x", "b"))).toContain("closed to tools");
    expect(await refused(replace("way-out", "a", "b"))).toContain("leads outside the workspace");
    expect(await refused(add("binary", "b"))).toContain("not UTF-8");
    expect(read("outside.txt", base)).toBe("a");
  });

  test("applyPatch() refuses files that are too large together", async () => {
    for (const name of ["l1", "l2", "l3"]) put(name, "x".repeat(15 * 1024 * 1024));
    expect((await patch([add("l1", "a"), add("l2", "a"), add("l3", "a")])).text).toContain("32 MiB together");
  });

  test.each([[[]], [Array.from({ length: 21 }, () => add("many.txt", "a"))]])(
    "applyPatch() refuses none and more than 20 edits, as the model calls it",
    async (edits) => {
      const toolbox = createTestToolbox({
        tools: [applyPatch],
        workspace,
        ports: () => context.ports,
        maxResultChars: 16_000,
        spill: () => Promise.reject(new Error("Nothing is that long")),
      });
      const run = (args: object) =>
        toolbox.run({ id: "c", name: "apply_patch", arguments: JSON.stringify(args) }, context);
      expect((await run({ edits })).text).toStartWith("Error: the arguments do not fit");
      expect(existsSync(join(workspace, "many.txt"))).toBe(false);
      // Many models give a list as text.
      expect((await run({ edits: JSON.stringify([add("as-text.txt", "a")]), dry_run: "true" })).ok).toBe(
        true,
      );
    },
  );
});

/** Fails the writing number `failing`, before or after it took place, and those after it if `forGood`. */
function brokenSystem(failing: number, { after = false, forGood = false } = {}): FileSystem {
  let writes = 0;
  return {
    ...system,
    async replace(...args) {
      const number = ++writes;
      const fails = number === failing || (forGood && number > failing);
      if (!fails || after) await system.replace(...args);
      if (fails) throw Object.assign(new Error("ENOSPC: no space"), { code: "ENOSPC" });
    },
  };
}

describe("applyPatch() puts back", () => {
  const edits = [replace("a.txt", "a", "A"), add("deep/new/b.txt", "b"), replace("c.txt", "c", "C")];

  function fixtureWith(files: FileSystem) {
    const fixture = createFixture({ files: { system: files } });
    chmodSync(fixture.put("a.txt", "\ufeffa\r\n"), 0o640);
    fixture.put("c.txt", "c");
    return fixture;
  }

  test.each([1, 2, 3].flatMap((failing) => [false, true].map((after) => ({ failing, after }))))(
    "applyPatch() leaves every file as it was when a writing fails: %j",
    async ({ failing, after }) => {
      const fixture = fixtureWith(brokenSystem(failing, { after }));
      const result = await fixture.call(applyPatch, { edits });
      expect(result.ok).toBe(false);
      expect(result.text).toEndWith("the disk is full; no file was changed");
      expect(read("a.txt", fixture.workspace)).toBe("\ufeffa\r\n");
      expect(statSync(join(fixture.workspace, "a.txt")).mode & 0o777).toBe(0o640);
      expect(read("c.txt", fixture.workspace)).toBe("c");
      expect(existsSync(join(fixture.workspace, "deep"))).toBe(false);
    },
  );

  test("applyPatch() names the files that could not be put back", async () => {
    const fixture = fixtureWith(brokenSystem(3, { forGood: true }));
    const { ok, text } = await fixture.call(applyPatch, { edits });
    expect(ok).toBe(false);
    expect(text).toEndWith('these could not be put back and must be looked at: "a.txt"');
    expect(existsSync(join(fixture.workspace, "deep"))).toBe(false);
  });

  test("applyPatch() keeps a new folder into which somebody else put something", async () => {
    let folder = "";
    const files = brokenSystem(3);
    const fixture = fixtureWith({
      ...files,
      async makeFolder(path, options) {
        await files.makeFolder(path, options);
        folder = path;
        writeFileSync(join(path, "theirs.txt"), "theirs");
      },
    });
    await fixture.call(applyPatch, { edits });
    expect(readFileSync(join(folder, "theirs.txt"), "utf8")).toBe("theirs");
    expect(existsSync(join(folder, "b.txt"))).toBe(false);
  });

  test("applyPatch() does not write over what changed after it was checked", async () => {
    const fixture = fixtureWith({
      ...system,
      async replace(...args) {
        await system.replace(...args);
        writeFileSync(join(fixture.workspace, "c.txt"), "from somebody else");
      },
    });
    const { text } = await fixture.call(applyPatch, { edits });
    expect(text).toContain('Cannot edit "c.txt": it was changed meanwhile; try again; no file was changed');
    expect(read("c.txt", fixture.workspace)).toBe("from somebody else");
    expect(read("a.txt", fixture.workspace)).toBe("\ufeffa\r\n");
  });
});

test("applyPatch() changes all or nothing, whatever the edits", async () => {
  const name = fc.constantFrom("p.txt", "q.txt");
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "😀"), maxLength: 4 });
  const one = fc.oneof(
    fc.record({ path: name, action: fc.constant("add"), new_text: text }),
    fc.record({ path: name, action: fc.constant("replace"), old_text: text, new_text: text }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 4 }), async (edits) => {
      const before = { "p.txt": "ab\n", "q.txt": "b" };
      for (const [path, content] of Object.entries(before)) put(path, content);
      const { ok } = await patch(edits);
      const untouched = Object.entries(before).filter(([path, content]) => read(path) === content);
      if (!ok) expect(untouched).toHaveLength(2);
      for (const { path } of edits) if (ok) expect(read(path)).toMatch(/^$|\n$/);
    }),
    { numRuns: 100 },
  );
});
