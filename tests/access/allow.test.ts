import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { allows, allowsGroup, identityOf, isOpenToNobody, isSamePerson } from "../../src/access/allow.ts";

const sender = "123456789|alice";

test("allows() takes any half of an entry, as a number too, with and without an @", () => {
  for (const entry of ["123456789", 123456789, "@alice", "alice", sender, "123456789|", "other|alice"])
    expect(allows([entry], sender)).toBe(true);
});

test("allows() lets nobody in without an entry that names somebody", () => {
  const empty = [[], undefined, null, [""], [" "], ["\t\n"], [null], [undefined], ["|"], ["@"], ["@| |"]];
  for (const list of empty) {
    for (const who of [sender, "", "|", " ", "@", "null", "undefined"]) expect(allows(list, who)).toBe(false);
    expect(isOpenToNobody(list)).toBe(true);
  }
});

test("allows() takes numbers only when they are ids", () => {
  expect(allows([Number.NaN], "NaN")).toBe(false);
  expect(allows([1.5], "1.5")).toBe(false);
  expect(allows([1e21], "1e+21")).toBe(false);
  expect(allows([-100123], "-100123")).toBe(true);
});

test("allows() lets everybody in by *, and only where it stands alone", () => {
  expect(allows(["*"], sender)).toBe(true);
  expect(allows(["nobody", "*"], "")).toBe(true);
  for (const entry of ["*|", "**", " *", "@*", "1|*", "*alice", "1*"])
    expect(allows([entry], sender)).toBe(false);
  expect(allows(["alice"], "*")).toBe(false);
});

test("allows() takes no part of a name and no other one", () => {
  const others = ["12345678", "1234567890", "23456789", "alic", "alice2", "al", "a", "123456789alice"];
  for (const entry of [...others, " alice", "alice ", "0123456789", "+123456789"])
    expect(allows([entry], sender)).toBe(false);
});

test("allows() compares user names in either case, and ids to the letter", () => {
  expect(allows(["ALICE"], sender)).toBe(true);
  expect(allows(["@Alice"], sender)).toBe(true);
  expect(allows(["@Alice"], "alice")).toBe(true);
  expect(allows(["1|ALICE"], "2|alice")).toBe(true);
  expect(allows(["u0AbC"], "U0ABC")).toBe(false);
  expect(allows(["U0ABC"], "U0ABC|alice")).toBe(true);
  expect(allows(["u0abc"], "U0ABC|alice")).toBe(false);
  // An id of Matrix, which begins like a user name.
  expect(allows(["@alice:example.org"], "@alice:example.org")).toBe(true);
  expect(allows(["@Alice:example.org"], "@alice:example.org")).toBe(false);
});

test("allows() takes no letter for another one that looks like it", () => {
  const alike = ["аlice", "alιce", "ａlice", "ali\u200bce", "alice\u0000", "ali\u0441e", "alıce"];
  for (const entry of alike) {
    expect(allows([entry], sender)).toBe(false);
    expect(allows(["alice"], `1|${entry}`)).toBe(false);
  }
  // The sign for kelvin, and a long s: each has an ASCII letter as its other case.
  expect(allows(["kate"], "1|\u212aate")).toBe(false);
  expect(allows(["sam"], "1|\u017fam")).toBe(false);
});

const name = fc
  .string({ unit: "binary", minLength: 1, maxLength: 12 })
  .filter((text) => text.trim() !== "" && !/[|@*]/.test(text));

/** By the words of the rule, another way. */
function sharesAHalf(entry: string, who: string): boolean {
  const lower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const halves = entry.split("|");
  return halves.some((half, place) =>
    who
      .split("|")
      .some((other, index) => half === other || (place + index > 0 && lower(half) === lower(other))),
  );
}

describe("allows() of any names", () => {
  test("says yes to the same name and to any half of it", () => {
    fc.assert(
      fc.property(name, name, (id, userName) => {
        for (const entry of [id, userName, `@${userName}`, `${id}|${userName}`])
          expect(allows([entry], `${id}|${userName}`)).toBe(true);
      }),
    );
  });

  test("says yes exactly when two halves are the same", () => {
    // Few letters, so that names that are alike come up.
    const short = fc.string({ unit: fc.constantFrom("a", "A", "b", "1"), minLength: 1, maxLength: 2 });
    const person = fc.array(short, { minLength: 1, maxLength: 3 }).map((halves) => halves.join("|"));
    fc.assert(
      fc.property(person, person, (entry, who) => {
        expect(allows([entry], who)).toBe(sharesAHalf(entry, who));
        expect(isSamePerson(entry, who)).toBe(isSamePerson(who, entry));
      }),
      { numRuns: 1_000 },
    );
  });

  test("says no to what only contains a name", () => {
    fc.assert(
      fc.property(name, name, (known, more) => {
        fc.pre(!/^\p{M}/u.test(more));
        expect(allows([known], known + more)).toBe(false);
        expect(allows([known + more], known)).toBe(false);
      }),
    );
  });

  test("never throws, whatever the list holds", () => {
    fc.assert(
      fc.property(fc.array(fc.anything()), fc.string({ unit: "binary" }), (list, who) => {
        const isIn = allows(list as never, who);
        if (!list.includes("*") && isOpenToNobody(list as never)) expect(isIn).toBe(false);
      }),
    );
  });
});

test("allowsGroup() takes whole ids", () => {
  expect(allowsGroup([-1001], "-1001")).toBe(true);
  expect(allowsGroup(["-1001"], "-1001")).toBe(true);
  expect(allowsGroup(["*"], "-1001")).toBe(true);
  for (const list of [[], undefined, null, ["-100"], [""], ["-10012"]])
    expect(allowsGroup(list, "-1001")).toBe(false);
  expect(allowsGroup([""], "")).toBe(false);
});

test("identityOf() is the first half", () => {
  expect(identityOf("1|alice")).toBe("1");
  expect(identityOf("|alice")).toBe("alice");
  expect(identityOf("@a:example.org")).toBe("@a:example.org");
  expect(identityOf(" | ")).toBeUndefined();
});
