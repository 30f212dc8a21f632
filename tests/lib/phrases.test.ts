import { expect, test } from "bun:test";
import { UserError } from "../../src/core/errors.ts";
import { notApproved, problemOf } from "../../src/lib/phrases.ts";

test("problemOf() says what went wrong and what to do, in whatever was thrown", () => {
  for (const [thrown, said] of [
    [new UserError("Cannot open it", { hint: "Close it first" }), "Cannot open it. Close it first"],
    [new Error("no"), "no"],
    [Object.assign(new AggregateError([]), { code: "ECONNREFUSED" }), "ECONNREFUSED"],
    [new RangeError(), "RangeError"],
    ["text", "text"],
  ] as const)
    expect(problemOf(thrown)).toBe(said);
});

test("notApproved() says why, that nobody could be asked, and what would allow it", () => {
  const text = notApproved({ granted: false, why: "nobody" }, "`rm -r x` deletes a folder.");
  expect(text).toStartWith("not allowed: `rm -r x` deletes a folder. The owner must be asked");
  expect(text).toContain("nobody can be asked here");
  expect(text).toContain('"tools.exec.allowPatterns"');
  expect(text).toContain('"nanobot agent" on a terminal');
});

test("notApproved() tells a no from a silence", () => {
  expect(notApproved({ granted: false, why: "denied", by: "me" }, "it deletes")).toContain("said no");
  expect(notApproved({ granted: false, why: "expired" }, "it deletes")).toContain("did not answer in time");
});
