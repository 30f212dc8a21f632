import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createThinkFilter } from "../../../src/lib/think/think-filter.ts";

type Options = Omit<Parameters<typeof createThinkFilter>[0], "sink">;

interface Outcome {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly string[];
  readonly stray: boolean;
}

/** A filter, and what it has made of its text so far. */
function start(options: Options = {}) {
  const made = { text: "", reasoning: "", calls: [] as string[], stray: false };
  const filter = createThinkFilter({
    sink: {
      text(piece) {
        made.text += piece;
      },
      reasoning(piece) {
        made.reasoning += piece;
      },
      calls: (calls) => void made.calls.push(...calls.map(({ name }) => name)),
      strayCloser() {
        made.stray = true;
      },
    },
    ...options,
  });
  return { filter, made };
}

/** What the filter makes of a reply that arrives in these pieces. */
function filter(pieces: readonly string[], options?: Options): Outcome {
  const { filter, made } = start(options);
  for (const piece of pieces) filter.push(piece);
  filter.end();
  return made;
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
    'Between "<think>" and "</think>" it thinks.',
    "Write <think>…</think> or <think>...</think>, also <think>/</think>.",
    "- <think> to </think>: the block",
    "a stray </think> in the middle of prose",
    "The tags are <think> and </think>\n",
    "It begins with <think> and goes on\n</think>\nlike that",
    'a < think>, a <think a="b"> and a </ think>',
    "a <think/> in the middle of prose, <think/>",
    "`<think>` opens and `</think>` closes",
    "Write `<think>x</think>` so",
    "Write ``a ` <think>x</think>`` so",
    "```\n<think>x</think>\n```\nis how",
    "```xml <think>\n<think>x</think>\n```\nis how",
    "```\n``` still\n<think>x</think>\n```\nis how",
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
    expect(filterAnyhow(reply)).toEqual({ text: reply, reasoning: "", calls: [], stray: false });
  });
});

describe("createThinkFilter() tells text and reasoning apart in", () => {
  test.each([
    // Blocks anywhere.
    ["Hi <think>plan</think> there", "Hi  there", "plan"],
    ["Hi <THINK>plan</Think> there", "Hi  there", "plan"],
    ["Hi <thought>a < b</thought> there", "Hi  there", "a < b"],
    ["Hi <thinking>plan</thinking> there", "Hi  there", "plan"],
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
    ["Hi <think> plan `</think>` more</think> there", "Hi  there", " plan `</think>` more"],
    [
      "<think>the <think> tag ends with `</think>`, ok</think>Hi",
      "Hi",
      "the <think> tag ends with `</think>`, ok",
    ],
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
    ["Hi <think> \nplan", "Hi ", " \nplan"],
    ["Hi <think>plan", "Hi ", "plan"],
    ["Hi <think>plan, which goes on and on and on", "Hi ", "plan, which goes on and on and on"],
    ["Hi <think>plan, which `</think>` goes on and on", "Hi ", "plan, which `</think>` goes on and on"],
    // Code that is none.
    ["don`t <think>plan</think> there", "don`t  there", "plan"],
    ["don`t <think>plan\nmore", "don`t ", "plan\nmore"],
    ["don`t <think>plan`` more\n`", "don`t ", "plan`` more\n`"],
    ["don`t <think> plan</think>\n`code`", "don`t \n`code`", " plan"],
    ["```\ncode\n```\n<think>plan</think>Hi", "```\ncode\n```\nHi", "plan"],
    ["```\ncode\n``` \n<think>plan</think>Hi", "```\ncode\n``` \nHi", "plan"],
    ["~~~\n```\n~~~\n<think>plan</think>Hi", "~~~\n```\n~~~\nHi", "plan"],
    ["    ```\n<think>plan</think>Hi", "    ```\n<think>plan</think>Hi", ""],
    ["> ```\n> <think>x</think>\n> ```\n<think>y</think>", "> ```\n> <think>x</think>\n> ```\n", "y"],
    ["<think>a</thinking>Hi", "Hi", "a"],
    ["Write <think>, then </think>, then it.", "Write <think>, then </think>, then it.", ""],
    ["```a```\n<think>plan</think>Hi", "```a```\nHi", "plan"],
    ["Hi <think>plan\n```\n</think>\n<think>b</think>", "Hi \n", "plan\n```\nb"],
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
    [
      "<|channel|>analysis<|message|>a<|channel|>analysis<|message|>b<|end|>Hi",
      "Hi",
      "a<|channel|>analysis<|message|>b",
    ],
    ["<|channel|>analysis<|message|>a `<|end|>` ``` b", "", "a `<|end|>` ``` b"],
    ["<|channel|>analysis<|message|>```\n<|end|>Hi", "Hi", "```\n"],
  ])("%j", (reply, text, reasoning) => {
    expect(filterAnyhow(reply)).toEqual({ text, reasoning, calls: [], stray: false });
  });
});

describe("createThinkFilter() leaves out a closer without an opener, which is stray", () => {
  test.each([
    ["Hi</think>", "Hi"],
    ["Hi </think> \t", "Hi  \t"],
    ["plan\n</think>\nHi", "plan\n\nHi"],
    ["plan.</think> \r\n\nHi", "plan. \r\n\nHi"],
    ["plan\n</think>\n</thinking>\nHi", "plan\n\n\nHi"],
  ])("behind text in %j", (reply, text) => {
    expect(filterAnyhow(reply)).toEqual({ text, reasoning: "", calls: [], stray: true });
  });

  test.each([
    ["</think>Hi", "Hi"],
    [" \n</think>\n\nHi", " \nHi"],
    ["</think>", ""],
  ])("but not at the start of %j", (reply, text) => {
    expect(filterAnyhow(reply)).toEqual({ text, reasoning: "", calls: [], stray: false });
  });
});

describe("createThinkFilter() that starts inside a block", () => {
  test.each([
    ["plan</think>\n\nHi", "Hi", "plan"],
    ["a `</think>` b</thinking>Hi", "Hi", "a `</think>` b"],
    ["plan</think>Hi <think>b</think>", "Hi ", "planb"],
    ["</think>Hi", "Hi", ""],
  ])("reads %j, whose closer is stray", (reply, text, reasoning) => {
    const outcome = { text, reasoning, calls: [], stray: true };
    expect(filterAnyhow(reply, { startsInside: true })).toEqual(outcome);
  });

  test.each([
    ["no closer", "no closer", ""],
    ["```\n<think>x", "```\n<think>x", ""],
    ["\n<think>plan</think>Hi", "\nHi", "plan"],
    ["<think>plan", "", "plan"],
    ["a <think> is a tag", "a <think> is a tag", ""],
    ["a\n<think>plan", "a\n", "plan"],
    ["<|channel|>analysis<|message|>plan<|end|>Hi", "Hi", "plan"],
  ])("reads %j, which has no such closer", (reply, text, reasoning) => {
    const outcome = { text, reasoning, calls: [], stray: false };
    expect(filterAnyhow(reply, { startsInside: true })).toEqual(outcome);
  });

  test.each([
    ["and answers behind its closer", "</think>Hi", "Hi", "", true],
    ["and never comes to an answer", "", "", "", false],
  ])("takes a very long beginning for a block, %s", (_, rest, text, more, stray) => {
    const pieces = [long, "plan", rest];
    const outcome = { text, reasoning: `${long}plan${more}`, calls: [], stray };
    expect(filter(pieces, { startsInside: true })).toEqual(outcome);
    expect(filter([pieces.join("")], { startsInside: true })).toEqual(outcome);
  });
});

describe("createThinkFilter() finds tool calls in", () => {
  const a = '{"name":"a"}';
  const b = '{"name":"b"}';

  test.each([
    [`<tool_call>\n${a}\n</tool_call>`, "", "", ["a"]],
    [`Hi.\n<tool_call>${a}</tool_call><TOOL_CALL>[${a},${b}]</TOOL_CALL>!`, "Hi.\n!", "", ["a", "a", "b"]],
    [
      `Hi.<tool_call>${a}</tool_call><tool_call>${a}</tool_call>`,
      `Hi.<tool_call>${a}</tool_call><tool_call>${a}</tool_call>`,
      "",
      [],
    ],
    [`Like so:\n    <tool_call>${a}</tool_call>`, `Like so:\n    <tool_call>${a}</tool_call>`, "", []],
    [`- \`\`\`\n<tool_call>${a}</tool_call>`, `- \`\`\`\n<tool_call>${a}</tool_call>`, "", []],
    [`<tool_call>${a}</tool_call>\n<tool_call>${b}</tool_call>\n`, "\n\n", "", ["a", "b"]],
    [`<tool_call>\`\`\`json\n${a}\n\`\`\`</tool_call>`, "", "", ["a"]],
    [`<think>plan</think>\n<tool_call>${a}</tool_call>`, "", "plan", ["a"]],
    [`<think><tool_call>${a}</tool_call></think>Hi`, "Hi", `<tool_call>${a}</tool_call>`, []],
    [`plan\n</think>\n<tool_call>${a}</tool_call>`, "plan\n\n", "", ["a"]],
    ['<tool_call>{"name":"<think>1</think>"}</tool_call>', "", "", ["<think>1</think>"]],
    [`\`<tool_call>${a}</tool_call>\``, `\`<tool_call>${a}</tool_call>\``, "", []],
    [`\`\`\`\n<tool_call>${a}</tool_call>\n\`\`\``, `\`\`\`\n<tool_call>${a}</tool_call>\n\`\`\``, "", []],
    [`The <think> tag.\n<tool_call>${a}</tool_call>`, "The <think> tag.\n", "", ["a"]],
    ['<tool_call>{"name":"</tool_call>"}</tool_call>Hi', "Hi", "", ["</tool_call>"]],
    ['<tool_call>{"name":"\\"</tool_call>"}</tool_call>Hi', "Hi", "", ['"</tool_call>']],
    ['<tool_call>{"name":"<tool_call></tool_call>"}</tool_call>', "", "", ["<tool_call></tool_call>"]],
    // The closer is missing.
    [`Hi\n<tool_call>${a}`, "Hi\n", "", ["a"]],
    [`The <think> tag:\n<tool_call>${a}`, "The <think> tag:\n", "", ["a"]],
    // No calls.
    [`Write <tool_call>${a}</tool_call> to call`, `Write <tool_call>${a}</tool_call> to call`, "", []],
    ['Hi <tool_call>{"name":"a"', 'Hi <tool_call>{"name":"a"', "", []],
    [`Hi <tool_call>{"name":"a\n<think>plan</think>!`, 'Hi <tool_call>{"name":"a\n!', "plan", []],
    ["The <tool_call> tag\n<think>plan</think>Hi", "The <tool_call> tag\nHi", "plan", []],
    ["The <tool_call>{…}</tool_call> tag", "The <tool_call>{…}</tool_call> tag", "", []],
    [`<tool_call>{b}</tool_call>\n<tool_call>${a}</tool_call>`, "<tool_call>{b}</tool_call>\n", "", ["a"]],
    ["<tool_call>name</tool_call>", "<tool_call>name</tool_call>", "", []],
    ["a </tool_call> b <tool_call/>", "a </tool_call> b <tool_call/>", "", []],
    ["a <tool_call>", "a <tool_call>", "", []],
  ])("%j", (reply, text, reasoning, calls) => {
    expect(filterAnyhow(reply, { toolCalls: true })).toMatchObject({ text, reasoning, calls });
  });

  test("text that is not too long for one", () => {
    const reply = `<tool_call>{${" ".repeat(5_000_000)}}</tool_call><tool_call>${a}</tool_call>`;
    expect(filter([reply], { toolCalls: true })).toMatchObject({ text: reply, calls: [] });
  });

  test("a long reply in little more time than in a short one", () => {
    const reply = `<tool_call>{"name":"${"x".repeat(2_000_000)}"}</tool_call>`;
    const { calls } = filter(reply.match(/.{1,4}/gs) ?? [], { toolCalls: true });
    expect(calls.map((name) => name.length)).toEqual([2_000_000]);
  });
});

describe("createThinkFilter()", () => {
  test("passes text on at once as long as nothing may become a tag", () => {
    const { filter, made } = start({ toolCalls: true });
    let pushed = "";
    for (const piece of ["Hi ", "`there", "` a < b ", "\n```\n", "x <thing> "]) {
      filter.push(piece);
      pushed += piece;
      expect(made.text).toBe(pushed);
    }
  });

  test("passes reasoning on at once behind an opener that begins a line", () => {
    const { filter, made } = start();
    filter.push("Hi\n<think>");
    filter.push("plan ` <b");
    expect(made).toMatchObject({ text: "Hi\n", reasoning: "plan ` <b" });
  });

  test.each([
    ["Use the <think> tag. ", ""],
    ["Use the <tool_call> tag. ", ""],
    ["Begin with `<think> ", ""],
    ["It begins with <think>", " "],
    ["The <think> and </think> tags ", ""],
    ["A <tool_call>", " "],
  ])("holds little behind %j", (beginning, behind) => {
    const { filter, made } = start({ toolCalls: true });
    let pushed = beginning + behind;
    filter.push(pushed);
    for (const piece of long.match(/.{1,5}/g) ?? []) {
      filter.push(piece);
      pushed += piece;
      expect(pushed.length - made.text.length).toBeLessThanOrEqual(600);
    }
    expect(pushed.startsWith(made.text)).toBe(true);
    filter.push("\n");
    expect(made.text).toBe(`${pushed}\n`);
  });

  test("finds reasoning in the middle of a line by the word it begins with, or by its end", () => {
    expect(filter([`Hi <think>plan ${long}</think> there`]).text).toBe("Hi  there");
    expect(filter(["Hi <think> plan </think> there"]).text).toBe("Hi  there");
  });

  test("takes a long line behind a space for a mention with all that follows", () => {
    const reply = `The <think> tag ${long}</think>\nand more`;
    const outcome = { text: reply, reasoning: "", calls: [], stray: false };
    expect(filter([reply])).toEqual(outcome);
    expect(filter(reply.match(/.{1,7}/gs) ?? [])).toEqual(outcome);
  });

  test("does not wait for ever for the end of a code span", () => {
    const reply = `a \`<think>${"x".repeat(3000)}</think>\` there`;
    const outcome = { text: "a `` there", reasoning: "x".repeat(3000) };
    expect(filter([reply])).toMatchObject(outcome);
    expect(filter(reply.split(""))).toMatchObject(outcome);
  });

  test.each(["<think> ", "a <think>\n", "<tool_call>{ ", "`<think> ", "</think> ", "<|end|> ", "<"])(
    "reads very many %j",
    (unit) => {
      const reply = `a ${unit.repeat(20_000)}`;
      for (const startsInside of [false, true]) {
        const { text, reasoning } = filter(reply.match(/.{1,9}/gs) ?? [], { toolCalls: true, startsInside });
        expect(text.length + reasoning.length).toBeLessThanOrEqual(reply.length);
      }
    },
  );

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
    fc.constantFrom("<tool_call>", "</tool_call>", '{"name":"a"}', '"', "\\", "{", "<THINK>"),
    fc.constantFrom("<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|start|>assistant"),
    fc.constantFrom("<|end|>", "<|return|>", "<|", "<", "<thi", "<think", "<think好", "<think\n", "</"),
    fc.constantFrom("`", "``", "```", "~~~", "\n```\n", "\n~~~\n", "\n```js\n", "\n    ", "\t", "\r\n"),
    fc.constantFrom(
      " and ",
      " ",
      "\n",
      "x".repeat(480),
      " ".repeat(480),
      "/",
      "…",
      ".",
      "a",
      "some longer words in a row ",
      "好",
      "😀",
      ">",
    ),
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
        const pieces: string[] = [];
        const add = (piece: string) => void pieces.push(piece);
        const filter = createThinkFilter({
          sink: { text: add, reasoning: add, calls() {}, strayCloser() {} },
          ...options,
        });
        filter.push(text);
        filter.end();
        let rest = text;
        for (const char of pieces.join("")) {
          const at = rest.indexOf(char);
          expect(at).not.toBe(-1);
          rest = rest.slice(at + char.length);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("lets nothing of a block through that is closed, or begins a line", () => {
    const prose = fc.stringMatching(/^[a-z .,:\n<>(){}#*-]{0,40}$/);
    const lines = prose.map((text) => `so ${text}SECRET${text}`);
    const line = prose.map((text) => `${text}SECRET${text}`.replaceAll("\n", " "));
    // No thought begins with a comma: what does is a sentence about the tag.
    const secret = fc.oneof(lines, line).filter((text) => !/^[,.;:!?]\s/.test(text));
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
          stray: false,
        });
      }),
    );
  });
});
