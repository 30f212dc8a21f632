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

/** Piece by piece, because a small file can have a page of any length. */
async function textOf(pdf: Pdf, number: number, room: number): Promise<{ text: string; isCut: boolean }> {
  const page = await pdf.getPage(number);
  const reader = page.streamTextContent().getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    for (const item of value.items) if ("str" in item) text += item.str + (item.hasEOL ? "\n" : "");
    // Nobody tells the package to stop: the thread ends when there is an answer.
    if (text.length > room) return { text: head(wellFormed(text), room), isCut: true };
  }
  // What a page needed is gone before the next one is read.
  page.cleanup();
  return { text: wellFormed(text).trimEnd(), isCut: false };
}

export const pdfProgram: WorkerProgram<"pdf"> = async ({ bytes, firstPage, lastPage, maxChars }) => {
  const pdf = await open(bytes);
  const pageCount = pdf.numPages;
  const pages: string[] = [];
  let room = maxChars;
  for (let number = firstPage; number <= Math.min(lastPage, pageCount); number++) {
    const { text, isCut } = await textOf(pdf, number, room).catch((error) => {
      throw explain(error);
    });
    pages.push(text);
    if (isCut) return { pages, pageCount, truncated: true };
    room -= text.length;
  }
  return { pages, pageCount, truncated: false };
};
