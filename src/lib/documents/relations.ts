/** Which members of an office document another one speaks of: it only has numbers for them. */

import { UserError } from "../../core/errors.ts";
import { readXml } from "./xml.ts";
import type { Archive } from "./zip.ts";

/** More than there can be members, some of which are meant more than once. */
const MOST_RELATIONS = 20_000;

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

/** Those of the member `of`, or of the whole document when that is empty. Addresses outside the archive are left out. */
export function readRelations(archive: Archive, of: string): readonly Relation[] {
  const slash = of.lastIndexOf("/") + 1;
  const folder = of.slice(0, slash);
  const relations: Relation[] = [];
  readXml(archive.read(`${folder}_rels/${of.slice(slash)}.rels`), {
    open(name, attribute) {
      if (name !== "Relationship" || attribute("TargetMode") === "External") return;
      if (relations.length === MOST_RELATIONS)
        throw new UserError("it is damaged (too much in it is linked)");
      relations.push({
        id: attribute("Id") ?? "",
        kind: attribute("Type")?.split("/").at(-1) ?? "",
        target: memberName(folder, attribute("Target") ?? ""),
      });
    },
  });
  return relations;
}
