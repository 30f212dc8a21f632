/** What only the built program proves of threads: that it has their programs in it, wherever it is started. */

import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDocx, makePdf, makePptx, makeXlsx, paragraph } from "../fakes/documents.ts";
import { tempFolder } from "../fakes/temp.ts";
import { endToEnd, newHome, run } from "./harness.ts";

endToEnd();

const documents = [
  { name: "a.docx", bytes: makeDocx(paragraph("Hello")), shown: "1| Hello\n" },
  { name: "a.xlsx", bytes: makeXlsx([["S", "<row><c><v>1</v></c></row>"]]), shown: "1| [Sheet: S]\n2| 1\n" },
  { name: "a.pptx", bytes: makePptx([{ body: "<a:p><a:t>Hi</a:t></a:p>" }]), shown: "1| [Slide 1]\n2| Hi\n" },
  { name: "a.pdf", bytes: makePdf(["one", "two"]), shown: "1| [Page 1]\n2| one\n3| \n4| [Page 2]\n5| two\n" },
];

async function readDocument(name: string, bytes: Uint8Array) {
  const home = newHome();
  mkdirSync(home.workspace);
  writeFileSync(join(home.workspace, name), bytes);
  const cwd = tempFolder();
  const outcome = await run(["tools", "call", "read_file", JSON.stringify({ path: name })], { home, cwd });
  expect(readdirSync(cwd)).toEqual([]);
  return outcome;
}

describe("nanobot tools call read_file", () => {
  test.each(documents)("reads $name in an empty folder", async ({ name, bytes, shown }) => {
    const { code, stdout, stderr } = await readDocument(name, bytes);
    expect(stderr).toBe("");
    expect(stdout).toStartWith(shown);
    expect(code).toBe(0);
  });

  test("says that a PDF is damaged, and nothing more", async () => {
    const { code, stdout, stderr } = await readDocument("a.pdf", makePdf(["one"]).slice(0, 60));
    expect(stderr).toBe("");
    expect(stdout).toStartWith('Error: Cannot read "a.pdf": it is damaged (Invalid PDF structure)');
    expect(code).toBe(1);
  });
});
