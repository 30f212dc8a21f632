import { expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { UserError } from "../../../src/core/errors.ts";
import { never } from "../../../src/lib/abort.ts";
import { pdfProgram } from "../../../src/lib/documents/pdf.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createWorkers } from "../../../src/workers.ts";
import { makePdf } from "../../fakes/documents.ts";

const ALL = { firstPage: 1, lastPage: 20, maxChars: 10_000 };

test("pdfProgram() gives the text of each page, line by line", async () => {
  const bytes = makePdf(["First page\nwith two lines", "", "Third page"]);
  expect(await pdfProgram({ ...ALL, bytes })).toEqual({
    pages: ["First page\nwith two lines", "", "Third page"],
    pageCount: 3,
    truncated: false,
  });
});

test("pdfProgram() reads no other pages than those asked for", async () => {
  const bytes = makePdf(["one", "two", "three", "four"]);
  expect(await pdfProgram({ ...ALL, bytes, firstPage: 2, lastPage: 3 })).toEqual({
    pages: ["two", "three"],
    pageCount: 4,
    truncated: false,
  });
});

test("pdfProgram() says how many pages there are when those asked for are not", async () => {
  expect(await pdfProgram({ ...ALL, bytes: makePdf(["one"]), firstPage: 5 })).toEqual({
    pages: [],
    pageCount: 1,
    truncated: false,
  });
});

test("pdfProgram() stops where there is enough text, and says so", async () => {
  const bytes = makePdf(["12345", "67890", "more"]);
  expect(await pdfProgram({ ...ALL, bytes, maxChars: 8 })).toEqual({
    pages: ["12345", "678"],
    pageCount: 3,
    truncated: true,
  });
});

test("pdfProgram() stops in the middle of a page that a small file makes endless", async () => {
  // Each draws the next one twice, so that the text of the last is there as often as none can read.
  const forms = [...Array.from({ length: 40 }, () => "/X Do /X Do"), "BT /F1 12 Tf (abcde) Tj ET"];
  const bytes = makePdf(["above"], { forms });
  const { pages, truncated } = await pdfProgram({ ...ALL, bytes, maxChars: 1_000 });
  expect([pages.length, pages[0]?.length, truncated]).toEqual([1, 1_000, true]);
});

test("pdfProgram() says that a PDF is encrypted", async () => {
  const key = "12345678901234567890123456789012";
  const trailer = `/Encrypt<</Filter/Standard/V 1/R 2/O(${key})/U(${key})/P -44>>/ID[(1234567890123456)(1234567890123456)]`;
  await expect(pdfProgram({ ...ALL, bytes: makePdf(["one"], { trailer }) })).rejects.toThrow(
    new UserError("it is encrypted; a password is needed to read it"),
  );
});

test("pdfProgram() says that a PDF is damaged", async () => {
  const bytes = makePdf(["one"]).slice(0, 60);
  await expect(pdfProgram({ ...ALL, bytes })).rejects.toThrow(
    new UserError("it is damaged (Invalid PDF structure)"),
  );
});

test("pdfProgram() finds the pages of a PDF whose table of objects is gone", async () => {
  const whole = makePdf(["one", "two"]);
  const text = new TextDecoder().decode(whole).replace(/xref[\s\S]*?trailer/, "trailer");
  const { pages } = await pdfProgram({ ...ALL, bytes: new TextEncoder().encode(text) });
  expect(pages).toEqual(["one", "two"]);
});

test("pdfProgram() reads a page or says what is wrong, and prints nothing, whatever the bytes are", async () => {
  const spies = [spyOn(console, "log"), spyOn(console, "warn"), spyOn(console, "error")];
  const whole = makePdf(["one\ntwo", "three"]);
  const workers = createWorkers({ clock: systemClock });
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        async (changes) => {
          const bytes = whole.slice();
          for (const [at, value] of changes) bytes[at] = value;
          // The package leaves promises behind that fail with nobody looking, for which the test runner (and
          // nothing else) ends the thread.
          const outcome = await workers.run("pdf", { ...ALL, bytes }, { timeoutMs: 60_000, signal: never });
          if (outcome.ok) expect(outcome.output.pages.length).toBeLessThanOrEqual(outcome.output.pageCount);
          else
            expect(outcome.reason).toMatch(
              /^(it is damaged|it could not be read|the thread that read it died) \(/,
            );
        },
      ),
      { numRuns: 15 },
    );
    for (const spy of spies) expect(spy).not.toHaveBeenCalled();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
});
