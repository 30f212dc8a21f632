import { describe, expect, test } from "bun:test";
import { checkResponsesRequest } from "./responses-rules.ts";

const user = { type: "message", role: "user", content: [{ type: "input_text", text: "u" }] };
const call = { type: "function_call", call_id: "a", name: "exec", arguments: "{}" };
const output = { type: "function_call_output", call_id: "a", output: "ok" };
const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "enc_1" };
const tool = { type: "function", name: "exec", parameters: { type: "object" }, strict: false };

const withPart = (part: object) => ({ ...user, content: [part] });

const check = (body: object) =>
  checkResponsesRequest(JSON.stringify({ model: "gpt-4.1", input: [user], ...body }))?.message;

describe("checkResponsesRequest()", () => {
  test.each([
    ["a plain request", {}],
    ["a call with its output", { input: [user, call, output], tools: [tool], tool_choice: "auto" }],
    ["a thought with what came of it", { model: "gpt-5", input: [user, thought, call, output] }],
    ["a forced tool", { tools: [tool], tool_choice: { type: "function", name: "exec" } }],
    ["text as it is", { input: "hi" }],
  ])("takes %s", (_, body) => {
    expect(check(body)).toBeUndefined();
  });

  test.each([
    ["a call without its output", { input: [user, call] }, "No tool output found"],
    ["an output without its call", { input: [user, output] }, "No tool call found"],
    ["an item of an unknown type", { input: [{ type: "tool" }] }, "Invalid value: 'tool'"],
    ["a thought at the end", { input: [user, thought] }, "without its required following item"],
    ["a thought in front of a user", { input: [thought, user] }, "without its required following item"],
    [
      "a thought without content",
      { input: [{ ...thought, encrypted_content: null }, call, output] },
      "not found",
    ],
    ["a thought with a status", { input: [{ ...thought, status: null }, call, output] }, "Unknown parameter"],
    [
      "input text of an assistant",
      { input: [{ ...user, role: "assistant" }] },
      "Supported values are: 'output_text', 'refusal'",
    ],
    [
      "output text of a user",
      { input: [{ ...user, content: [{ type: "output_text", text: "x" }] }] },
      "Supported values are: 'input_text'",
    ],
    [
      "an id of what was not stored",
      { store: false, input: [user, { ...call, id: "fc_1" }, output] },
      "not persisted",
    ],
    [
      "a path as an image",
      { input: [{ ...user, content: [{ type: "input_image", image_url: "/tmp/a.png" }] }] },
      "Expected a valid URL",
    ],
    [
      "a tool in the shape of chat completions",
      { tools: [{ type: "function", function: tool }] },
      "Missing required parameter: 'tools[0].name'",
    ],
    [
      "a choice in the shape of chat completions",
      { tools: [tool], tool_choice: { type: "function", function: { name: "exec" } } },
      "Missing required parameter: 'tool_choice.name'",
    ],
    ["a key of chat completions", { messages: [] }, "Unknown parameter: 'messages'"],
    [
      "an unknown key of a part",
      { input: [withPart({ type: "input_text", text: "u", cache: true })] },
      "Unknown parameter",
    ],
    [
      "a broken image",
      { input: [withPart({ type: "input_image", image_url: "data:image/png;base64,AAA" })] },
      "valid URL",
    ],
    [
      "an unknown detail",
      { input: [withPart({ type: "input_image", image_url: "https://x.test/a.png", detail: "much" })] },
      "Invalid value: 'much'",
    ],
    ["an unknown phase", { input: [{ ...user, phase: "thinking" }] }, "Invalid value: 'thinking'"],
    ["an unknown status", { input: [user, { ...call, status: "done" }, output] }, "Invalid value: 'done'"],
    [
      "an unknown part of a result",
      { input: [user, call, { ...output, output: [{ type: "text" }] }] },
      "Invalid value in",
    ],
    [
      "a summary that is text",
      { input: [{ ...thought, summary: ["so"] }, call, output] },
      "Invalid value in",
    ],
    [
      "an unknown key of a choice",
      { tools: [tool], tool_choice: { type: "function", name: "exec", strict: true } },
      "Unknown parameter: 'tool_choice.strict'",
    ],
    ["a word for a flag", { tools: [{ ...tool, strict: "no" }] }, "Invalid type for 'tools[0].strict'"],
    ["too low a limit", { max_output_tokens: 15 }, "Expected a value >= 16"],
    ["a temperature for a model that reasons", { model: "gpt-5", temperature: 0 }, "Unsupported parameter"],
    ["an effort for one that does not", { reasoning: { effort: "low" } }, "Unsupported parameter"],
    ["an unknown response", { previous_response_id: "resp_1" }, "not found"],
    ["an unknown extra", { include: ["everything"] }, "Invalid value: 'everything'"],
    ["a lone surrogate", { instructions: "\ud83d" }, "lone surrogate"],
    ["no input", { input: [] }, "Missing required parameter: 'input'"],
  ])("refuses %s", (_, body, message) => {
    expect(check(body)).toContain(message);
  });
});
