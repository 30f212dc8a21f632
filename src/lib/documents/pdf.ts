/** The program of the threads that turn pages of a PDF into text. */

import type { getDocumentProxy } from "unpdf";
import { UserError } from "../../core/errors.ts";
import type { WorkerProgram } from "../../core/workers.ts";
import { head, wellFormed } from "../text.ts";

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

/** The package's errors are known by their names only. */
function explain(error: unknown): unknown {
  const { name, message } = error instanceof Error ? error : { name: "", message: "" };
  if (name === "PasswordException") {
    return new UserError("it is encrypted; a password is needed to read it", { cause: error });
  }
  if (name === "InvalidPDFException" || name === "FormatError" || name === "UnknownErrorException") {
    return new UserError(`it is damaged (${message.replace(/\.$/, "")})`, { cause: error });
  }
  return error;
}

async function open(bytes: Uint8Array): Promise<Pdf> {
  const { getDocumentProxy } = await import("unpdf");
  try {
    return await getDocumentProxy(bytes, { verbosity: 0, disableFontFace: true });
  } catch (error) {
    throw explain(error);
  }
}

async function textOf(pdf: Pdf, number: number): Promise<string> {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
  // What a page needed is gone before the next one is read.
  page.cleanup();
  return wellFormed(text).trimEnd();
}

export const pdfProgram: WorkerProgram<"pdf"> = async ({ bytes, firstPage, lastPage, maxChars }) => {
  const pdf = await open(bytes);
  const pageCount = pdf.numPages;
  const pages: string[] = [];
  let room = maxChars;
  for (let number = firstPage; number <= Math.min(lastPage, pageCount); number++) {
    const text = await textOf(pdf, number).catch((error) => {
      throw explain(error);
    });
    pages.push(head(text, room));
    if (text.length > room) return { pages, pageCount, truncated: true };
    room -= text.length;
  }
  return { pages, pageCount, truncated: false };
};
