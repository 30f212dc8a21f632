/** The text of a PowerPoint document: its slides in their order, each with its notes. */

import { createOfficeText } from "./office-text.ts";
import { readRelations } from "./relations.ts";
import type { TextSink } from "./text-sink.ts";
import { readXml } from "./xml.ts";
import type { Archive } from "./zip.ts";

function slidesOf(archive: Archive, main: string): ReadonlySet<string> {
  const targets = new Map(readRelations(archive, main).map(({ id, target }) => [id, target]));
  const slides = new Set<string>();
  readXml(archive.read(main), {
    open(name, attribute) {
      const target = name === "sldId" ? targets.get(attribute("*:id") ?? "") : undefined;
      if (target !== undefined) slides.add(target);
    },
  });
  return slides;
}

export function readPresentation(archive: Archive, main: string, sink: TextSink): void {
  function readText(name: string): void {
    readXml(archive.read(name), createOfficeText(sink), sink.isFull);
  }

  for (const [index, slide] of [...slidesOf(archive, main)].entries()) {
    if (sink.isFull()) return;
    if (index > 0) sink.endLine();
    sink.add(`[Slide ${index + 1}]`);
    sink.endLine();
    readText(slide);
    const notes = readRelations(archive, slide).find(({ kind }) => kind === "notesSlide");
    if (notes === undefined) continue;
    sink.add("[Notes]");
    sink.endLine();
    readText(notes.target);
  }
}
