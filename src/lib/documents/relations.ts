/** Which members of an office document another one speaks of: it only has numbers for them. */

import { readXml } from "./xml.ts";
import type { Archive } from "./zip.ts";

export interface Relation {
  readonly id: string;
  /** The last word of its type, such as `slide`. */
  readonly kind: string;
  /** The name of a member. */
  readonly target: string;
}

/** `target` as it is written in `folder`. */
function memberName(folder: string, target: string): string {
  const names: string[] = [];
  for (const name of (target.startsWith("/") ? target : `${folder}/${target}`).split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return names.join("/");
}

export function readRelations(archive: Archive, of: string): readonly Relation[] {
  const slash = of.lastIndexOf("/");
  const folder = of.slice(0, slash);
  const relations: Relation[] = [];
  readXml(archive.read(`${folder}/_rels/${of.slice(slash + 1)}.rels`), {
    open(name, attribute) {
      if (name !== "Relationship") return;
      relations.push({
        id: attribute("Id") ?? "",
        kind: attribute("Type")?.split("/").at(-1) ?? "",
        target: memberName(folder, attribute("Target") ?? ""),
      });
    },
  });
  return relations;
}
