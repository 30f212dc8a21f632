import { expect, test } from "bun:test";
import { createThoughtHabits } from "../../../src/providers/wire/thought-habits.ts";

/** Whether a model's replies are held to begin inside a block after these, each with a stray closer or not. */
function startsInsideAfter(replies: readonly boolean[]): boolean {
  const habit = createThoughtHabits().of("a");
  for (const sawStrayCloser of replies) habit.note(sawStrayCloser);
  return habit.startsInside;
}

test.each([
  [[], false],
  [[true], false],
  [[true, true], true],
  [[true, true, true], true],
  [[true, false, true], false],
  [[true, true, false], false],
  [[true, true, false, true], false],
  [[true, true, false, true, true], true],
])("createThoughtHabits() after %j: %p", (replies, startsInside) => {
  expect(startsInsideAfter(replies)).toBe(startsInside);
});

test("createThoughtHabits() tells models apart and knows each again", () => {
  const habits = createThoughtHabits();
  for (let time = 0; time < 2; time++) habits.of("a").note(true);
  expect(habits.of("a").startsInside).toBe(true);
  expect(habits.of("b").startsInside).toBe(false);
});
