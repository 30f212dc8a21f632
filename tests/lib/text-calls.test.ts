import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseTextCalls } from "../../src/lib/text-calls.ts";

const ls = { name: "exec", arguments: '{"command":"ls"}' };
const noArguments = { name: "list_dir", arguments: "{}" };

test.each([
  ["a call", '{"name":"exec","arguments":{"command":"ls"}}', [ls]],
  ["a call on lines of its own", '\n{"name": "exec",\n "arguments": {"command": "ls"}}\n', [ls]],
  ["arguments as a string", '{"name":"exec","arguments":"{\\"command\\":\\"ls\\"}"}', [ls]],
  ["parameters", '{"name":"exec","parameters":{"command":"ls"}}', [ls]],
  ["args", '{"name":"exec","args":{"command":"ls"}}', [ls]],
  ["no arguments", '{"name":" list_dir "}', [noArguments]],
  ["null as arguments", '{"name":"list_dir","arguments":null}', [noArguments]],
  ["the protocol's own form", `{"type":"function","function":${JSON.stringify(ls)}}`, [ls]],
  ["a list", '[{"name":"exec","args":{"command":"ls"}},{"name":"list_dir"}]', [ls, noArguments]],
  ["calls in a row", '{"name":"list_dir"}\n{"name":"exec","args":{"command":"ls"}}', [noArguments, ls]],
  ["calls with commas between", '{"name":"list_dir"},\n{"name":"list_dir"},', [noArguments, noArguments]],
  ["a fence around it", '```json\n{"name":"list_dir"}\n```', [noArguments]],
  ["a comma too many", '{"name":"exec","args":{"command":"ls",},}', [ls]],
  ["single quotes", "{'name':'exec','args':{'command':'ls'}}", [ls]],
  ["a broken call behind a good one", '{"name":"list_dir"} {name:"list_dir"}', [noArguments, noArguments]],
  ["a bracket too many", '{"name":"list_dir"}}', [noArguments]],
])("parseTextCalls() reads %s", (_, inside, calls) => {
  expect(parseTextCalls(inside)).toEqual(calls);
});

test.each([
  ["nothing", " \n"],
  ["prose", "the tag is for calls"],
  ["a number", "1"],
  ["an empty list", "[]"],
  ["a call without a name", '{"arguments":{}}'],
  ["a call with a blank name", '{"name":" "}'],
  ["a call beside something else", '[{"name":"list_dir"},1]'],
  ["a call beside prose", 'I call {"name":"list_dir"}'],
  ["a call that breaks off", '{"name":"write_file","arguments":{"path":"a","content":"half'],
  ["a call that breaks off between strings", '{"name":"write_file","arguments":{"path":"a",'],
  ["a second call that breaks off", '{"name":"list_dir"}{"name":'],
  ["arguments nested by the thousand", `{"name":"a","args":${"[".repeat(200_000)}${"]".repeat(200_000)}}`],
])("parseTextCalls() finds none in %s", (_, inside) => {
  expect(parseTextCalls(inside)).toBeUndefined();
});

test("parseTextCalls() reads back any calls that are written as JSON", () => {
  const call = fc.record({
    name: fc.stringMatching(/^\w{1,9}$/),
    arguments: fc.dictionary(fc.string(), fc.jsonValue()),
  });
  fc.assert(
    fc.property(
      fc.array(call, { minLength: 1, maxLength: 4 }),
      fc.constantFrom("", "\n", ", "),
      (calls, between) => {
        const inside = calls.map((one) => JSON.stringify(one)).join(between);
        expect(parseTextCalls(inside)).toEqual(
          calls.map((one) => ({ name: one.name, arguments: JSON.stringify(one.arguments) })),
        );
      },
    ),
  );
});

test("parseTextCalls() does not fail for any text", () => {
  const char = fc.constantFrom(..."{}[]\"',:\\ \nabc1", '{"name":"a"}');
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: char, maxLength: 40 })), (text) => {
      expect(parseTextCalls(text)?.length).not.toBe(0);
    }),
    { numRuns: 1000 },
  );
});
