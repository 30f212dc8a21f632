import { describe, expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { createMask, maskLookalikes } from "../../src/lib/mask.ts";

const secret = "pä's/wörd+of the (bank)!*~";
const base64 = Buffer.from(`user:${secret}@host and more`).toString("base64");

/** As `base64 -w` does it. */
function wrapped(text: string, columns: number, lineEnd: string): string {
  return (text.match(new RegExp(`.{1,${columns}}`, "g")) ?? []).join(lineEnd);
}

describe("createMask()", () => {
  const mask = createMask([secret]);

  for (const [name, spelled] of [
    ["as it is", secret],
    ["as encodeURIComponent writes it", encodeURIComponent(secret)],
    ["with small digits", encodeURIComponent(secret).toLowerCase()],
    ["as a form writes it", new URLSearchParams({ secret }).toString().slice("secret=".length)],
    ["as curl --data-urlencode writes it", "p%C3%A4%27s%2Fw%C3%B6rd%2Bof%20the%20%28bank%29%21%2A~"],
    ["as urllib.parse.quote writes it", "p%C3%A4%27s/w%C3%B6rd%2Bof%20the%20%28bank%29%21%2A~"],
    ["as json.dumps writes it", "p\\u00e4's/w\\u00f6rd+of the (bank)!*~"],
  ] as const) {
    test(`knows a secret ${name}`, () => {
      expect(mask(`<${spelled}>`)).toBe("<[masked]>");
    });
  }

  for (const [name, lineEnd] of [
    ["in lines", "\n"],
    ["in lines that end with CRLF", "\r\n"],
    ["in lines inside JSON", "\\n"],
    ["in lines that end with CRLF, inside JSON", "\\r\\n"],
  ] as const) {
    test(`knows a secret in base64 ${name}, wherever they end`, () => {
      const whole = mask(base64);
      expect(whole).toContain("[masked]");
      for (let columns = 2; columns <= base64.length; columns++) {
        const shown = mask(wrapped(base64, columns, lineEnd));
        expect(shown.replaceAll(lineEnd, "")).toBe(whole);
      }
    });
  }

  test("knows a secret without the white space around it", () => {
    const maskIt = createMask([" hunter2-hunter2\n", "\n\n \n\n\n\n\n\n\n"]);
    expect(maskIt("<hunter2-hunter2> aHVudGVyMi1odW50ZXIy\n\n\n \n\n\n\n\n\n\n")).toBe(
      "<[masked]> [masked]\n\n\n \n\n\n\n\n\n\n",
    );
  });

  test("leaves text alone that holds no secret", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("p", "ä", "\n", "c", "M", "O", "k", "%", "\\") }),
        (text) => {
          expect(mask(text)).toBe(text);
        },
      ),
    );
  });

  test("takes a secret that stands there a million times", () => {
    expect(createMask(["hunter2-hunter2"])("hunter2-hunter2 ".repeat(1_000_000))).toBe(
      "[masked] ".repeat(1_000_000),
    );
  });
});

describe("maskLookalikes()", () => {
  test("takes bot tokens for credentials, with and without what an address puts before them", () => {
    const token = `123456789:${"Ab_-".repeat(9)}`;
    expect(maskLookalikes(`${token} https://x.example/bot${token}/getMe`)).toBe(
      "[masked] https://x.example/[masked]/getMe",
    );
  });

  test("passes over a long repetition of what only begins like a credential", () => {
    for (const piece of ["1", "bot1", "123456:", "Bearer ", "Bearer\n", "://a:", "KEY", "TOKEN=a;"]) {
      const text = `${piece.repeat(1_000_000 / piece.length)}.`;
      expect(maskLookalikes(text) === text).toBe(true);
    }
  });
});
