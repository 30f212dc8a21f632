/** What programs in other languages give away of what they do, where they stand on the command line. */

import type { Finding } from "./finding.ts";
import type { Opaque } from "./parsed.ts";

/** What gives away a destructive program in another language. It is a hint: such programs are not understood. */
const giveaways: readonly {
  readonly pattern: RegExp;
  readonly rule: Finding["rule"];
  readonly what: string;
}[] = [
  { pattern: /\brm\W{1,6}-\w*[rRf]|\brm\s+--(?:rec|fo)/, rule: "recursive-delete", what: "runs rm" },
  {
    pattern:
      /\b(?:rmtree|remove_tree|rm_rf|rm_r|delete-directory|remove_entry_secure|removeSync|remove_dir_all|rimraf)\b/,
    rule: "recursive-delete",
    what: "deletes folders",
  },
  {
    pattern: /\brm(?:Sync)?\s*\([^()]{0,400}(?:\([^()]{0,200}\)[^()]{0,200})?recursive/,
    rule: "recursive-delete",
    what: "deletes folders",
  },
  {
    pattern: /\b(?:os\.fork|fork)\s*(?:\(\s*\)|while|until|;|\})|\bfork\s+while/,
    rule: "fork-bomb",
    what: "starts itself again",
  },
  {
    // A word alone in quotes, or behind a call; in a sentence it is a word.
    pattern:
      /(?:system|exec\w{0,20}|popen|spawn\w{0,20}|run|call|check_\w{1,20}|qx|[;&|`])\W{0,6}(?:sudo\W{1,4})?(?:[\w/]{0,200}\/)?(?:shutdown|reboot|poweroff|halt)\b|^\s*(?:sudo )?(?:shutdown|reboot|poweroff|halt)\b/im,
    rule: "power",
    what: "stops the machine",
  },
  {
    // Given to a call as a text of its own, where a sentence about it would go on.
    pattern:
      /(?:system|(?:exec|popen|spawn|run|call|check_)\w{0,20}|qx)\s{0,3}[([{'"]\W{0,6}(?:sudo\W{1,4})?(?:[\w./~-]{0,200}\/)?nanobot["',\s]{1,9}(?:pairing|outbox|gateway|run|onboard|agent|chat|tools|channels)\b/i,
    rule: "own-program",
    what: "runs nanobot",
  },
  { pattern: /\b(?:pkill|killall)\W[^;\n]{0,60}nanobot\b/, rule: "own-program", what: "ends nanobot" },
  { pattern: /\/dev\/(?:sd|hd|vd|nvme|xvd|mmcblk|disk)/, rule: "device-write", what: "touches a disk" },
  { pattern: /\bmkfs\b|\bwipefs\b/, rule: "disk", what: "makes file systems" },
];

export function judgeOpaque({ language, text }: Opaque): readonly Finding[] {
  if (text === undefined) {
    return [
      {
        rule: "dynamic-code",
        reason: `the ${language} program is put together at run time; write it to a file and run that`,
      },
    ];
  }
  const found = giveaways.find(({ pattern }) => pattern.test(text));
  return found === undefined
    ? []
    : [
        {
          rule: found.rule,
          reason: `the ${language} program ${found.what}; do that with plain commands, which can be judged`,
        },
      ];
}
