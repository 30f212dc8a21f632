import { expect, test } from "bun:test";
import { createOrder } from "../../src/audit/order.ts";

const place = { file: "log", line: 1 };

test("createOrder() keeps a thousand ranges of each kind and counts the others", () => {
  const order = createOrder();
  for (let at = 0; at < 3_000; at++) {
    order.vacate({ from: 10 * at + 1, to: 10 * at + 2 }, place);
    order.stray(10 * at + 5, place, false);
  }
  const { problems, more } = order.finish({ from: 1, to: 0 });
  expect(problems.filter(({ kind }) => kind === "missing")).toHaveLength(1_000);
  expect(problems.filter(({ kind }) => kind === "reordered")).toHaveLength(1_000);
  expect(more).toBe(4_000);
});

test("createOrder() has no more to count where all is told", () => {
  const order = createOrder();
  order.vacate({ from: 1, to: 2 }, place);
  expect(order.finish({ from: 1, to: 0 })).toMatchObject({ problems: [{ kind: "missing" }], more: 0 });
});
