/** What a gateway does in a day: one that has a little of everything, and any other. */

import fc from "fast-check";
import type { Step } from "./gateway.ts";

export const day: readonly Step[] = [
  { do: "receive", message: 1 },
  { do: "receive", message: 2 },
  { do: "show" },
  { do: "notify" },
  { do: "answer", channel: "cli" },
  { do: "receive", message: 1 },
  { do: "send" },
  { do: "receive", message: 3 },
  { do: "receive", message: 4 },
  { do: "join" },
  { do: "fail" },
  { do: "send" },
  { do: "retry" },
  { do: "receive", message: 5 },
  { do: "receive", message: 6 },
  { do: "answer", channel: "none" },
  { do: "answer", channel: "cli" },
  { do: "fail" },
  { do: "send" },
  { do: "drop" },
  { do: "receive", message: 7 },
  { do: "receive", message: 8 },
  { do: "answer", channel: "cli" },
  { do: "answer", channel: "cli" },
  { do: "send" },
  { do: "send" },
  { do: "receive", message: 9 },
  { do: "receive", message: 10 },
  { do: "note" },
  { do: "notify" },
  { do: "send" },
  { do: "note" },
  { do: "receive", message: 11 },
  { do: "receive", message: 12 },
  { do: "answer", channel: "cli" },
  { do: "send" },
  { do: "answer", channel: "cli" },
  { do: "send" },
  { do: "receive", message: 13 },
  { do: "receive", message: 14 },
  { do: "notify" },
  { do: "send" },
  { do: "receive", message: 2 },
];

const names = ["join", "note", "notify", "fail", "retry", "drop", "show"] as const;
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("receive" as const), message: fc.nat(40) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("answer" as const),
      channel: fc.constantFrom("cli", "none", "x"),
    }),
  },
  { weight: 5, arbitrary: fc.constant({ do: "send" as const }) },
  { weight: 6, arbitrary: fc.constantFrom(...names).map((name) => ({ do: name })) },
);
