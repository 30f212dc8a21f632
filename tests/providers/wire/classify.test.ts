import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ModelErrorKind } from "../../../src/core/model.ts";
import { classify } from "../../../src/providers/wire/classify.ts";
import { Refusal } from "../../../src/providers/wire/errors.ts";

const NOW = 1_700_000_000_000;

function classOf(status: number | undefined, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const known = status === undefined ? {} : { status };
  return classify(new Refusal({ ...known, headers: new Headers(headers), body: text }), NOW);
}

const says = (message: string, more: object = {}) => ({ error: { message, type: "t", ...more } });

const OPENAI_RATE_LIMIT = says(
  "Rate limit reached for gpt-5 in organization org-1 on requests per min. Limit: 3 / min. Please try again in 20s. Visit https://platform.openai.com/account/billing to add a payment method.",
  { type: "requests", code: "rate_limit_exceeded" },
);
const OPENAI_QUOTA =
  "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs";

describe("classify() tells an empty account from too many requests", () => {
  test.each<[string, number | undefined, unknown, ModelErrorKind]>([
    ["OpenAI's limit per minute", 429, OPENAI_RATE_LIMIT, "transient"],
    ["a 429 that names a page about billing", 429, says("Slow down, see /settings/billing"), "transient"],
    ["OpenAI's quota", 429, says(OPENAI_QUOTA, { code: "insufficient_quota" }), "quota"],
    ["the same without its code", 429, says(OPENAI_QUOTA), "quota"],
    ["Gemini's limit", 429, [says(`${OPENAI_QUOTA}. Please retry in 17.2s.`)], "transient"],
    ["an empty balance", 429, says("Insufficient balance or no resource package. Please recharge."), "quota"],
    ["a hard limit", 400, says("Billing hard limit has been reached"), "quota"],
    ["an account that is not active", 429, says("Your account is not active, please check"), "quota"],
    ["a quota inside a reply", undefined, says(OPENAI_QUOTA), "quota"],
    ["a limit inside a reply", undefined, says(`${OPENAI_QUOTA} Try again in 20s`), "transient"],
    ["a key without credit", 401, says("Insufficient credits"), "quota"],
    ["a key limit", 403, says("Key limit exceeded (total limit)"), "quota"],
  ])("%s", (_, status, body, kind) => {
    expect(classOf(status, body).kind).toBe(kind);
  });

  test("by the time that the server asks for", () => {
    expect(classOf(429, says(OPENAI_QUOTA), { "retry-after": "3600" })).toMatchObject({
      kind: "transient",
      retryAfterMs: 3_600_000,
    });
    expect(classOf(429, says(OPENAI_QUOTA), { "retry-after": "80000" }).kind).toBe("quota");
  });
});

describe("classify() goes by the server's own words", () => {
  const ECHO = "My billing address, the credit balance, flagged for moderation, maximum context length";

  test.each<[string, number, unknown]>([
    ["the input that a validator repeats", 422, { detail: [{ msg: "Field required", input: ECHO }] }],
    ["the input before the message", 422, { detail: [{ input: ECHO, msg: "Field required" }] }],
    ["the name of a parameter", 400, says("Unknown parameter", { param: "context_window" })],
    ["what a message quotes", 400, says(`Invalid value: '${ECHO}'. Expected a number`)],
    ["what a list in a message quotes", 400, says(`[{'loc': ('body', 1), 'input': '${ECHO}'}]`)],
    [
      "a long body that was cut",
      422,
      `{"detail":[{"msg":"Field required","input":"${ECHO}${"x".repeat(70_000)}"}]}`,
    ],
    ["a validator's sentence", 422, says(`The post "x" was flagged for moderation is no role`)],
  ])("and not by %s", (_, status, body) => {
    expect(classOf(status, body).kind).toBe("badRequest");
  });

  test.each([500, 502, 503, 529])("and by none of a server in trouble (%d)", (status) => {
    expect(classOf(status, says(ECHO)).kind).toBe("transient");
    expect(classOf(status, `Traceback: ${ECHO}`).kind).toBe("transient");
  });

  test.each<[number | undefined, string, ModelErrorKind]>([
    [500, "context_length_exceeded", "contextOverflow"],
    [500, "exceed_context_size_error", "contextOverflow"],
    [503, "insufficient_quota", "quota"],
    [500, "content_filter", "contentFilter"],
    [undefined, "context_length_exceeded", "contextOverflow"],
  ])("but at any status by its code (%p, %s)", (status, code, kind) => {
    expect(classOf(status, says("x", { code })).kind).toBe(kind);
    expect(classOf(status, says("x", { type: code })).kind).toBe(kind);
  });
});

describe("classify() knows a prompt that is too long", () => {
  test.each<[number | undefined, unknown]>([
    [400, says("This model's maximum context length is 8192 tokens. However, you requested 9000")],
    [400, says("prompt is too long: 210000 tokens > 200000 maximum")],
    [400, says("the request exceeds the available context size, try increasing it")],
    [400, says("Please reduce the length of the messages or completion.")],
    [400, says("The input token count (1200000) exceeds the maximum number of tokens allowed")],
    [400, says("This model's maximum prompt length is 131072 but the request contains 140000 tokens.")],
    [400, says("litellm.ContextWindowExceededError: OpenAIException")],
    [
      422,
      {
        error: "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096",
        error_type: "validation",
      },
    ],
    [413, says("Request exceeds the maximum size")],
    [undefined, says("The model is loaded with context length of only 4096 tokens")],
    [
      400,
      says('OpenAIException - {"error":{"message":"This model\'s maximum context length is 10 tokens"}}'),
    ],
    [
      400,
      says("Provider returned error", {
        metadata: { raw: JSON.stringify(says("This model's maximum context length is 10 tokens")) },
      }),
    ],
  ])("%p %j", (status, body) => {
    expect(classOf(status, body).kind).toBe("contextOverflow");
  });
});

describe("classify() finds the words", () => {
  test.each<[unknown, string]>([
    [says("no"), "no"],
    [{ error: "no" }, "no"],
    [{ detail: "no" }, "no"],
    [{ error: "Bad Request", message: "no", statusCode: 400 }, "no"],
    [{ object: "error", message: { detail: [{ msg: "no" }] } }, "no"],
    [[says("no")], "no"],
    ["no", "no"],
    ["<html>no</html>", ""],
    ['{"error":{"message":"it \\"is\\" no', "it  is  no"],
    [says("Provider returned error", { metadata: { raw: "busy" } }), "Provider returned error: busy"],
    [{}, ""],
    ["null", ""],
  ])("of %j", (body, words) => {
    expect(classOf(400, body).words).toBe(words);
  });

  test("but never many of them, whatever the body is", () => {
    const bodies = fc.oneof(fc.string(), fc.json(), fc.constant(`{"message":"${"x".repeat(9_000)}"}`));
    fc.assert(
      fc.property(bodies, fc.constantFrom(undefined, 400, 422, 429, 500), (body, status) => {
        expect(classOf(status, body).words.length).toBeLessThanOrEqual(2_000);
      }),
    );
  });
});

test("Refusal keeps the beginning of a long body", () => {
  expect(new Refusal({ body: "x".repeat(100_000) }).body).toHaveLength(64 * 1024);
});
