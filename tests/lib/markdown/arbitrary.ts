/** Texts that look like Markdown, mostly broken: what a property is tried on. */

import * as fc from "fast-check";

const marks = [
  ..."*_~`[]()<>&\"'#-+>|\\!=:.\t \n\n\n",
  "**",
  "***",
  "__",
  "~~",
  "||",
  "```",
  "```js\n",
  "~~~~\n",
  "\n```\n",
  "\n\n",
  "\n- ",
  "\n  - ",
  "\n      - ",
  "\n1. ",
  "\n> ",
  "\n> > ",
  "\n> ```\n> ",
  "\n    ",
  "\n# ",
  "\n---\n",
  "\n|a|b|\n|-|-|\n|c|d|\n",
  "- [ ] ",
  "](http://x.y/?a=1&b=2)",
  "](javascript:x)",
  "![",
  "[^1]",
  "\n[r]: http://z\n",
  "[r]",
  "&amp;",
  "&copy;",
  "&#60;",
  "<b>",
  "</a>",
  "<http://q.r>",
  "\r\n",
  "\0",
  "\u001b[31m",
  "“",
  "”",
  "（",
  "。",
];
const words = [
  "word",
  "a",
  "Zürich",
  "引号",
  "ひらがな",
  "👨‍👩‍👧",
  "🇩🇪",
  "e\u0301",
  "ক্ষি",
  "x".repeat(90),
  "\ud800",
  "1",
  "42",
];

const piece = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...marks) },
  { weight: 5, arbitrary: fc.constantFrom(...words) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 8 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 4 }) },
);

export const markdownish: fc.Arbitrary<string> = fc
  .array(piece, { maxLength: 120 })
  .map((parts) => parts.join(""));
