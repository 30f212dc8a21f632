import { expect, test } from "bun:test";
import { modelNameProblem } from "../../src/lib/model-name.ts";

test.each([
  "gpt-5.4-mini",
  "openai/gpt-oss-120b",
  "@edenai",
  "~anthropic/x",
  "/models/foo.gguf",
  "./x",
  "qwen3:8b",
  "模型",
  "x".repeat(200),
])("modelNameProblem() has nothing against %s", (name) => {
  expect(modelNameProblem(name)).toBeUndefined();
});

test.each(["", "  ", "a b", "a\nb", "a\u0000", "a\u200b", "--help", "x".repeat(201)])(
  "modelNameProblem() says why %j cannot be one",
  (name) => {
    expect(modelNameProblem(name)).toBeString();
  },
);
