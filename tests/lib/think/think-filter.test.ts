import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createThinkFilter } from "../../../src/lib/think/think-filter.ts";

type Options = Parameters<typeof createThinkFilter>[0];

interface Outcome {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly string[];
  readonly orphan: boolean;
}

/** What the filter makes of a reply that arrives in these pieces. */
function filter(pieces: readonly string[], options?: Options): Outcome {
  const filter = createThinkFilter(options);
  const segments = [...pieces.flatMap((piece) => filter.push(piece)), ...filter.end()];
  const joined = (kind: string) =>
    segments
      .filter((segment) => segment.kind === kind)
      .map(({ text }) => text)
      .join("");
  return {
    text: joined("text"),
    reasoning: joined("reasoning"),
    calls: segments.filter(({ kind }) => kind === "toolCall").map(({ text }) => text),
    orphan: filter.sawOrphanClose,
  };
}

/** The outcome, once it is the same for every cut in two and for single characters. */
function filterAnyhow(reply: string, options?: Options): Outcome {
  const whole = filter([reply], options);
  for (let cut = 0; cut <= reply.length; cut++) {
    expect({ cut, ...filter([reply.slice(0, cut), reply.slice(cut)], options) }).toEqual({ cut, ...whole });
  }
  expect(filter(reply.split(""), options)).toEqual(whole);
  return whole;
}

const long = "word ".repeat(20_000);

describe("createThinkFilter() leaves as text", () => {
  test.each([
    "",
    " \n ",
    "no tag at all",
    "if a < b and b <c then <thing> or <thinker> or </thinking-cap> <th",
    "a <",
    "a <think",
    "The <think> tag is useful.",
    "The <think> tag is useful, but <thinking>, is not.",
    "It begins with <think>",
    'Say "<think>" and stop.',
    "Use <think> and </think> around it.",
    "Use <think>and</think> around it.",
    "Write <think>…</think> or <think>...</think>, also <think>/</think>.",
    'Between "<think>" and the closing "</think>" it thinks.',
    "- <think> to </think>: the block",
    "a stray </think> in the middle of prose",
    "a <think/> in the middle of prose",
    "`<think>` opens and `</think>` closes",
    "Write `<think>x</think>` so",
    "Write ``a ` <think>x</think>`` so",
    "```\n<think>x</think>\n```\nis how",
    "~~~xml\n<think>\nx\n</think>\n~~~\nis how",
    "   ````\n```\n<think>x</think>\n````\nis how",
    "The <think> tag:\n```\n<think>x</think>\n```\nis how",
    "The <think> tag, `<think>x</think>`, is how",
    "<thought of the day>: rest",
    "Placeholders like <thought of the day>.",
    "in the middle <|end|> of it",
    "in the middle <|channel|>analysis<|message|>of it",
    "the <|endless|> and <|",
    "<tool_call>{}</tool_call>",
    "she said ```<think>x</think>``` once",
  ])("%j", (reply) => {
    expect(filterAnyhow(reply)).toEqual({ text: reply, reasoning: "", calls: [], orphan: false });
  });
});

describe("createThinkFilter() tells text and reasoning apart in", () => {
  test.each([
    // Blocks anywhere.
    ["Hi <think>plan</think> there", "Hi  there", "plan"],
    ["Hi <THINK>plan</Think > there", "Hi  there", "plan"],
    ["Hi <thought>a < b</thought> there", "Hi  there", "a < b"],
    ['Hi < thinking type="deep" n=1 >plan</thinking> there', "Hi  there", "plan"],
    [
      "Hi <think> plan with more words than a connector </think> there",
      "Hi  there",
      " plan with more words than a connector ",
    ],
    ["Hi <think></think> there", "Hi  there", ""],
    ["Hi\n<think>a</think>\nthere\n<think>b</think>!", "Hi\n\nthere\n!", "ab"],
    ["Hi <think>a</thinking>b</think>!", "Hi !", "a</thinking>b"],
    // At the start.
    ["<think>plan</think>\n\nHi", "Hi", "plan"],
    ["\n<think>plan</think> <think>more</think>\tHi", "\nHi", "planmore"],
    ["<think>\n\n</think>\n\nHi", "Hi", "\n\n"],
    ["<think/>Hi", "Hi", ""],
    ["<think></think> Hi", "Hi", ""],
    ["<think>plan", "", "plan"],
    ["<think>plan </thi", "", "plan </thi"],
    ["<think", "<think", ""],
    [
      "<think>the <think> tag ends with `</think>`, ok</think>Hi",
      "Hi",
      "the <think> tag ends with `</think>`, ok",
    ],
    ["<think>```\n<think>x</think>\n```\nok</think>Hi", "Hi", "```\n<think>x</think>\n```\nok"],
    ["<think>```\nnever closed</think>Hi", "Hi", "```\nnever closed"],
    ["<think>`</think>`", "", "`</think>`"],
    ["<think>a`</think>b", "b", "a`"],
    ["<think好，我想想</think>你好", "你好", "好，我想想"],
    ["<thinking\nI should\n</thinking>\nHi", "Hi", "\nI should\n"],
    ["<think\nI should", "", "\nI should"],
    // Left open.
    ["Hi\n<think>plan", "Hi\n", "plan"],
    ["Hi\n  <think> plan. And more", "Hi\n  ", " plan. And more"],
    ["Hi <think>\nplan", "Hi ", "\nplan"],
    ["Hi <think>\r\nplan", "Hi ", "\r\nplan"],
    ["Hi <think>plan", "Hi ", "plan"],
    ["Hi <think>plan, which goes on and on and on", "Hi ", "plan, which goes on and on and on"],
    ["Hi <think>plan, which `</think>` goes on and on", "Hi ", "plan, which `</think>` goes on and on"],
    // Code that is none.
    ["don`t <think>plan</think> there", "don`t  there", "plan"],
    ["don`t <think>plan\nmore", "don`t ", "plan\nmore"],
    ["don`t <think> plan</think>\n`code`", "don`t \n`code`", " plan"],
    ["```\ncode\n```\n<think>plan</think>Hi", "```\ncode\n```\nHi", "plan"],
    ["```\ncode\n``` \n<think>plan</think>Hi", "```\ncode\n``` \nHi", "plan"],
    ["~~~\n```\n~~~\n<think>plan</think>Hi", "~~~\n```\n~~~\nHi", "plan"],
    ["    ```\n<think>plan</think>Hi", "    ```\nHi", "plan"],
    ["```a```\n<think>plan</think>Hi", "```a```\nHi", "plan"],
    ["Hi <think>plan\n```\n</think>\n<think>b</think>", "Hi \n", "plan\n```\nb"],
    ["Hi <think> plan\n```\n</think>\nthere", "Hi \nthere", " plan\n```\n"],
    // A mention and a block.
    ["The <think> tag.\n<think>plan</think>Hi", "The <think> tag.\nHi", "plan"],
    ["The <think> tag, <thought> too.\n<think>plan", "The <think> tag, <thought> too.\n", "plan"],
    // Markers of gpt-oss.
    [
      "<|channel|>analysis<|message|>plan<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>",
      "Hi",
      "plan",
    ],
    ["<|start|>assistant<|channel|>analysis<|message|>plan<|channel|>final<|message|>Hi", "Hi", "plan"],
    ["<|channel|>final<|message|>Hi<|end|> \n<|return|>", "Hi \n", ""],
    ["<|channel|>analysis<|message|>a `<|end|>` ``` b", "", "a `<|end|>` ``` b"],
    ["<|channel|>analysis<|message|>```\n<|end|>Hi", "Hi", "```\n"],
  ])("%j", (reply, text, reasoning) => {
    expect(filterAnyhow(reply)).toEqual({ text, reasoning, calls: [], orphan: false });
  });
});

describe("createThinkFilter() leaves out a closer without an opener", () => {
  test.each([
    ["</think>Hi", "Hi"],
    [" \n</think>\n\nHi", " \nHi"],
    ["Hi</think>", "Hi"],
    ["Hi </think> \t", "Hi  \t"],
    ["Hi</think><|end|>", "Hi"],
    ["plan\n</think>\nHi", "plan\n\nHi"],
    ["plan.</think> \r\n\nHi", "plan. \r\n\nHi"],
    ["plan</think><think>more</think>Hi", "planHi"],
  ])("%j", (reply, text) => {
    expect(filterAnyhow(reply)).toMatchObject({ text, orphan: true });
  });

  test("but not where so much white space follows that nobody waits for its end", () => {
    const reply = `Hi</think>${" ".repeat(5000)}\nthere`;
    expect(filter([reply])).toMatchObject({ text: reply, orphan: false });
    expect(filter(reply.split(""))).toMatchObject({ text: reply, orphan: false });
  });
});

describe("createThinkFilter() that starts inside a block", () => {
  test.each([
    ["plan</think>\n\nHi", "Hi", "plan"],
    ["a `</think>` b</thinking>Hi", "Hi", "a `</think>` b"],
    ["plan</think>Hi <think>b</think>", "Hi ", "planb"],
    ["</think>Hi", "Hi", ""],
    ["no closer", "no closer", ""],
    ["```\n<think>x", "```\n<think>x", ""],
    ["\n<think>plan</think>Hi", "\nHi", "plan"],
    ["<think>plan", "", "plan"],
    ["a <think> is a tag", "a <think> is a tag", ""],
    ["a\n<think>plan", "a\n", "plan"],
    ["<|channel|>analysis<|message|>plan<|end|>Hi", "Hi", "plan"],
  ])("reads %j", (reply, text, reasoning) => {
    expect(filterAnyhow(reply, { startsInside: true })).toEqual({
      text,
      reasoning,
      calls: [],
      orphan: false,
    });
  });

  test("gives up waiting for the closer of a very long block", () => {
    const pieces = [long, long, long, "plan", "</think>Hi"];
    const outcome = { text: "Hi", reasoning: `${long.repeat(3)}plan`, calls: [], orphan: false };
    expect(filter(pieces, { startsInside: true })).toEqual(outcome);
    expect(filter([pieces.join("")], { startsInside: true })).toEqual(outcome);
  });
});

describe("createThinkFilter() finds tool calls in", () => {
  test.each([
    ['<tool_call>\n{"name":"a"}\n</tool_call>', "", "", ['\n{"name":"a"}\n']],
    ["Hi <tool_call>{}</tool_call> <TOOL_CALL>[]</TOOL_CALL>!", "Hi  !", "", ["{}", "[]"]],
    ["<tool_call>1</tool_call>\n<tool_call>2</tool_call>\n", "", "", ["1", "2"]],
    ["<think>plan</think>\n<tool_call>1</tool_call>", "", "plan", ["1"]],
    ["<think><tool_call>1</tool_call></think>Hi", "Hi", "<tool_call>1</tool_call>", []],
    ["<tool_call><think>1</think></tool_call>", "", "", ["<think>1</think>"]],
    ["`<tool_call>1</tool_call>`", "`<tool_call>1</tool_call>`", "", []],
    ["```\n<tool_call>1</tool_call>\n```", "```\n<tool_call>1</tool_call>\n```", "", []],
    ['Hi <tool_call>{"name":"a"}', "Hi ", "", ['{"name":"a"}']],
    ['Hi <tool_call>{"name":"a"', 'Hi <tool_call>{"name":"a"', "", []],
    ["The <tool_call> tag\n<think>plan</think>Hi", "The <tool_call> tag\nHi", "plan", []],
    ["a </tool_call> b", "a </tool_call> b", "", []],
    ["a <tool_call/> b", "a <tool_call/> b", "", []],
    ["The <think> tag. <tool_call>1</tool_call>", "The <think> tag. ", "", ["1"]],
    ["The <think> tag, <tool_call>1", "The <think> tag, ", "", ["1"]],
    ["The <think> tag, <tool_call>x", "The <think> tag, <tool_call>x", "", []],
    ['<tool_call>{"a":"</tool_call>"}</tool_call>Hi', "Hi", "", ['{"a":"</tool_call>"}']],
    ['<tool_call>{"a":"\\"</tool_call>"}</tool_call>Hi', "Hi", "", ['{"a":"\\"</tool_call>"}']],
    [
      '<tool_call>{"a":"}</tool_call>Hi <think>b</think><tool_call>"</tool_call>!',
      "Hi !",
      "b",
      ['{"a":"}', '"'],
    ],
    [
      '<tool_call>{"a":"<tool_call></tool_call>, <tool_call></tool_call>"}</tool_call>',
      "",
      "",
      ['{"a":"<tool_call></tool_call>, <tool_call></tool_call>"}'],
    ],
    ['<tool_call>{"a":"}</tool_call>Hi', "Hi", "", ['{"a":"}']],
    ["stray</think><tool_call>1</tool_call>", "stray", "", ["1"]],
  ])("%j", (reply, text, reasoning, calls) => {
    expect(filterAnyhow(reply, { toolCalls: true })).toMatchObject({ text, reasoning, calls });
  });

  test("text that is not too long for one", () => {
    const reply = `<tool_call>${"x".repeat(5_000_000)}</tool_call><tool_call>1</tool_call>`;
    expect(filter([reply], { toolCalls: true })).toMatchObject({ text: reply, calls: [] });
  });
});

describe("createThinkFilter()", () => {
  test("passes text on at once as long as nothing may become a tag", () => {
    const filter = createThinkFilter({ toolCalls: true });
    const held = ["Hi ", "`there", "` a < b ", "\n```\n", "x <thing> "].flatMap((piece) => {
      const given = filter
        .push(piece)
        .map(({ text }) => text)
        .join("");
      return given === piece ? [] : [piece];
    });
    expect(held).toEqual([]);
  });

  test("passes reasoning on at once behind an opener that begins a line", () => {
    const filter = createThinkFilter();
    filter.push("Hi\n<think>");
    expect(filter.push("plan ` <b")).toEqual([{ kind: "reasoning", text: "plan ` <b" }]);
  });

  test("does not wait for ever for the closer of a mention", () => {
    const reply = `The <think> tag ${long}</think> and more`;
    expect(filter([reply])).toMatchObject({ text: reply, reasoning: "" });
    expect(filter(reply.match(/.{1,7}/g) ?? [])).toMatchObject({ text: reply, reasoning: "" });
  });

  test("does not wait for ever for the end of a code span", () => {
    const reply = `a \`<think>${"x".repeat(3000)}</think>\` <think>b</think>`;
    const outcome = { text: reply.replace("<think>b</think>", ""), reasoning: "b" };
    expect(filter([reply])).toMatchObject(outcome);
    expect(filter(reply.split(""))).toMatchObject(outcome);
  });

  const piece = fc.oneof(
    fc.constantFrom(
      "<think>",
      "</think>",
      "<thinking>",
      "</thinking>",
      "<thought>",
      "</thought>",
      "<think/>",
    ),
    fc.constantFrom("<tool_call>", "</tool_call>", '{"name":"a"}', '"', "\\", '<think a="b">', "< / THINK >"),
    fc.constantFrom("<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|start|>assistant"),
    fc.constantFrom("<|end|>", "<|return|>", "<|", "<", "<thi", "<think", "<think好", "<think\n", "</"),
    fc.constantFrom("`", "``", "```", "~~~", "\n```\n", "\n~~~\n", "\n```js\n", "\n    ", "\t", "\r\n"),
    fc.constantFrom(" and ", " ", "\n", "/", "…", ".", "a", "some longer words in a row ", "好", "😀", ">"),
  );
  const reply = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(""));
  const options = fc.record({ startsInside: fc.boolean(), toolCalls: fc.boolean() });

  test("gives the same however a reply is cut", () => {
    fc.assert(
      fc.property(reply, options, fc.array(fc.nat(400), { maxLength: 12 }), (text, options, offsets) => {
        const whole = filter([text], options);
        const cuts = [...new Set(offsets.filter((offset) => offset < text.length))].sort((a, b) => a - b);
        const pieces = [0, ...cuts].map((start, index) => text.slice(start, cuts[index]));
        expect(pieces.join("")).toBe(text);
        expect(filter(pieces, options)).toEqual(whole);
        expect(filter(text.split(""), options)).toEqual(whole);
      }),
      { numRuns: 3000 },
    );
  });

  test("neither adds to a reply nor changes the order of what it has", () => {
    fc.assert(
      fc.property(reply, options, (text, options) => {
        const filter = createThinkFilter(options);
        let rest = text;
        for (const segment of [...filter.push(text), ...filter.end()]) {
          for (const char of segment.text) {
            const at = rest.indexOf(char);
            expect(at).not.toBe(-1);
            rest = rest.slice(at + char.length);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("lets nothing of a block through that is closed, or begins a line", () => {
    const prose = fc.stringMatching(/^[a-z .,:\n<>(){}#*-]{0,40}$/);
    const secret = prose.map((text) => `${text}SECRET${text}`);
    const closed = fc.tuple(prose, secret).map(([before, inside]) => `${before}<think>${inside}</think>`);
    const open = fc.tuple(prose, secret).map(([before, inside]) => `${before}\n<think>${inside}`);
    const reply = fc.tuple(fc.array(closed, { maxLength: 4 }), prose, fc.option(open, { nil: "" }));
    fc.assert(
      fc.property(reply, ([blocks, prose, rest]) => {
        const text = blocks.join("") + prose + rest;
        const outcome = filter([text]);
        expect(outcome.text).not.toContain("SECRET");
        expect(outcome.reasoning.split("SECRET").length).toBe(text.split("SECRET").length);
        expect(filter(text.split(""))).toEqual(outcome);
      }),
      { numRuns: 500 },
    );
  });

  test("leaves any text without a tag as it is", () => {
    const plain = fc.string({ unit: "binary" }).map((text) => text.replaceAll("<", "("));
    fc.assert(
      fc.property(plain, (text) => {
        expect(filter(text.match(/.{1,3}/gs) ?? [])).toEqual({
          text,
          reasoning: "",
          calls: [],
          orphan: false,
        });
      }),
    );
  });
});
