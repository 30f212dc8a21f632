import { expect, test } from "bun:test";
import fc from "fast-check";
import { factsIn, keepsFacts } from "../../src/memory/kept-facts.ts";

const FACTS = `# Memory

<!-- Facts that outlast
a conversation -->

## About the user
- The user's name is Ada
- Lives in Graz, Austria
- Allergic to peanuts

## Projects
* Builds a boat called Nautilus
- Deploys on Fridays only
`;

test("factsIn() counts neither headings nor comments nor rules nor placeholders", () => {
  expect(factsIn(FACTS)).toHaveLength(5);
  expect(
    factsIn(`# Long-term Memory

This file stores what should persist.

## User Information

(Important facts about the user)

---

*This file is automatically updated when important information should be remembered.*
- [ ]
<!-- open`),
  ).toEqual(["This file stores what should persist."]);
});

test("keepsFacts() takes an addition, a new order, other words and facts put together", () => {
  for (const after of [
    FACTS,
    `${FACTS}- Has a cat\n`,
    FACTS.split("\n").reverse().join("\n"),
    FACTS.toUpperCase().replaceAll("- ", "+ "),
    "- Ada lives in Graz (Austria); allergic to peanuts.\n- Her boat: Nautilus. Deploys: Fridays.",
    "- Name: Ada\n- Home: Graz, Austria\n- Allergy: peanuts",
  ])
    expect(keepsFacts(FACTS, after)).toBe(true);
});

test("keepsFacts() refuses an empty text, headings alone, and one that drops most", () => {
  for (const after of [
    "",
    "  \n",
    "# Memory\n\n## About the user\n",
    "<!-- nothing -->",
    "- The user asked about the weather",
    "- The user's name is Ada\n- Allergic to peanuts\n",
    "[object Object]",
    "- a",
  ])
    expect(keepsFacts(FACTS, after)).toBe(false);
});

test("keepsFacts() is not deceived by what all facts have in common", () => {
  const likes = ["tea", "jazz", "chess", "rain", "opera", "figs"].map((thing) => `- The user likes ${thing}`);
  expect(keepsFacts(likes.join("\n"), "- The user likes many things")).toBe(false);
  expect(keepsFacts(likes.join("\n"), "- The user likes tea, jazz, chess and figs")).toBe(true);
});

test("keepsFacts() works where words are not set apart", () => {
  const facts = ["- 用户住在上海", "- 喜欢喝绿茶", "- 正在学习钢琴", "- 对花生过敏"].join("\n");
  expect(keepsFacts(facts, "- 住在上海,喜欢绿茶\n- 学习钢琴")).toBe(true);
  expect(keepsFacts(facts, "- 今天天气很好")).toBe(false);
});

test("keepsFacts() lets few facts be replaced, but not by nothing", () => {
  const few = "- Likes tea\n- Lives in Graz\n";
  expect(keepsFacts(few, "- Likes coffee\n- Moved to Linz\n")).toBe(true);
  expect(keepsFacts(few, "# Memory\n")).toBe(false);
  expect(keepsFacts("", "")).toBe(true);
  expect(keepsFacts("# Memory\n", "")).toBe(true);
});

test("keepsFacts() holds for any text that is only added to, and is quick for a long one", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (before, more) => {
      const after = `${before}\n- ${more}`;
      // An open comment hides what comes behind it.
      if (!before.includes("<!--")) expect(keepsFacts(before, after)).toBe(true);
    }),
  );
  const long = Array.from({ length: 2_000 }, (_, index) => `- Fact ${index} about ${index * 7} things`).join(
    "\n",
  );
  expect(keepsFacts(long, long)).toBe(true);
  expect(keepsFacts(long, long.slice(0, long.length / 4))).toBe(false);
});
