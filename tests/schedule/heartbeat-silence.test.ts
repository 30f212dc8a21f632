import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isSilent } from "../../src/schedule/heartbeat-silence.ts";

describe("isSilent()", () => {
  test.each([
    "HEARTBEAT_OK",
    "heartbeat_ok",
    "Heartbeat_Ok!",
    "heartbeat ok.",
    "Heartbeat OK",
    "HEARTBEAT-OK",
    "HeartbeatOK",
    "**HEARTBEAT_OK**",
    "__HEARTBEAT_OK__",
    "`HEARTBEAT_OK`",
    "“HEARTBEAT_OK”",
    '"HEARTBEAT_OK".',
    "```\nHEARTBEAT_OK\n```",
    "```text\nHEARTBEAT_OK\n```\n",
    "> HEARTBEAT_OK",
    "# HEARTBEAT_OK",
    "- HEARTBEAT_OK",
    "<b>HEARTBEAT_OK</b>",
    "HEARTBEAT\\_OK",
    "**HEARTBEAT**_OK",
    "HEARTBEAT_OK ✅",
    "ＨＥＡＲＴＢＥＡＴ＿ＯＫ。",
    "HEART\u200bBEAT_OK",
    "I looked at everything.\n\nHEARTBEAT_OK!",
    "Nothing is new, so HEARTBEAT_OK",
    "Nothing is new. *Heartbeat OK.*",
    "没有新消息。heartbeat ok",
    "",
    "  \n\t",
    "\u200b\u2060",
    "---",
    "…",
  ])("is true for %j", (reply) => {
    expect(isSilent(reply)).toBe(true);
  });

  test.each([
    "The build failed.",
    "You asked what HEARTBEAT_OK means: it is my word for no news.",
    "HEARTBEAT_OK is what I would say, but the build failed.",
    "HEARTBEAT_OK was my answer until the mail came.",
    "The status of the cluster is heartbeat ok",
    "The server's heartbeat is OK.",
    "OK",
    "heartbeat",
    "NOHEARTBEAT_OK",
    "HEARTBEAT_OKAY",
    "HEARTBEAT_OK2",
    "HEARTBEAT_NOT_OK",
    "👍",
    "0",
  ])("is false for %j", (reply) => {
    expect(isSilent(reply)).toBe(false);
  });

  const markup = fc
    .array(
      fc.constantFrom(
        "*",
        "**",
        "_",
        "`",
        "```",
        "~~",
        '"',
        "'",
        "(",
        ")",
        "«",
        "»",
        " ",
        "\n",
        ".",
        "!",
        "> ",
        "<i>",
        "</i>",
        "\u200b",
        "✅",
      ),
      {
        maxLength: 8,
      },
    )
    .map((marks) => marks.join(""));
  const cased = fc
    .array(fc.boolean(), { minLength: 12, maxLength: 12 })
    .map((upper) =>
      [..."heartbeat_ok"].map((letter, at) => (upper[at] ? letter.toUpperCase() : letter)).join(""),
    );

  test("is true for the token in any case and in any markup", () => {
    fc.assert(
      fc.property(markup, cased, markup, (before, token, after) => {
        expect(isSilent(before + token + after)).toBe(true);
        expect(isSilent(`All is well.\n\n${before}${token}${after}`)).toBe(true);
      }),
    );
  });

  test("is false for whatever goes on behind the token", () => {
    const words = fc.constantFrom("but", "the build failed", "yet 3 mails came", "和", "also");
    fc.assert(
      fc.property(markup, cased, words, markup, (before, token, rest, after) => {
        expect(isSilent(`${before}${token} ${rest}${after}`)).toBe(false);
      }),
    );
  });

  test("looks at the end of a reply that is as long as replies get", () => {
    expect(isSilent(`${"!".repeat(1_000_000)} HEARTBEAT_OK`)).toBe(true);
    expect(isSilent(`The build failed${"!".repeat(1_000_000)}`)).toBe(false);
  });

  test("judges any text without an error", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => typeof isSilent(text) === "boolean"));
  });
});
