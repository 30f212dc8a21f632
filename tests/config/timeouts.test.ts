import { describe, expect, test } from "bun:test";
import { timeoutsFrom } from "../../src/config/timeouts.ts";
import { UserError } from "../../src/core/errors.ts";

const call = (text: string) => timeoutsFrom({ NANOBOT_LLM_TIMEOUT_S: text }).callTimeoutMs;
const silence = (text: string) => timeoutsFrom({ NANOBOT_STREAM_IDLE_TIMEOUT_S: text }).streamIdleMs;

describe("timeoutsFrom()", () => {
  test("has defaults for what is unset or blank", () => {
    expect(timeoutsFrom({})).toEqual({ callTimeoutMs: 300_000, streamIdleMs: 90_000 });
    expect([call(" "), silence("")]).toEqual([300_000, 90_000]);
  });

  test("takes seconds, also parts of them", () => {
    expect([call("600"), call(" 1.5 "), silence("20")]).toEqual([600_000, 1_500, 20_000]);
  });

  test("takes 0 as the original does: no limit to speak of, and the default", () => {
    expect([call("0"), silence("0")]).toEqual([86_400_000, 90_000]);
  });

  test.each(["-1", "five", "300s", "Infinity", "NaN", "86401", "1,5"])(
    "refuses %s and says what it takes",
    (text) => {
      expect(() => call(text)).toThrow(UserError);
      expect(() => call(text)).toThrow("NANOBOT_LLM_TIMEOUT_S is not a number of seconds");
      expect(() => silence(text)).toThrow("NANOBOT_STREAM_IDLE_TIMEOUT_S is not a number of seconds");
    },
  );
});
