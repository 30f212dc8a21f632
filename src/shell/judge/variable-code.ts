/** Variables whose value some program runs: `PAGER`, `PROMPT_COMMAND`, settings of git. */

import type { Found } from "./found.ts";
import { gitVariableCode } from "./git-code.ts";
import { names } from "./names.ts";
import type { Assignment } from "./parsed.ts";
import { unknownCode } from "./shell-code.ts";
import { staticText, whyDynamic } from "./word.ts";

const codeVariables = names(
  "PROMPT_COMMAND PS0 PS1 PS2 PS4 GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_PAGER GIT_SEQUENCE_EDITOR",
  "GIT_EXTERNAL_DIFF GIT_ASKPASS GIT_PROXY_COMMAND EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE",
  "RSYNC_RSH SYSTEMD_PAGER SYSTEMD_EDITOR SUDO_EDITOR FZF_DEFAULT_COMMAND BASH_ENV ENV",
);

/** Of these the shell runs the substitutions, and no more. */
const expanded = /^(?:PS\d|BASH_ENV|ENV)$/;

export function variableCode(assignments: readonly Assignment[]): readonly Found[] {
  return [...assignments.flatMap(assigned), ...gitVariableCode(assignments)];
}

function assigned({ name, value }: Assignment): readonly Found[] {
  if (!codeVariables.has(name)) return [];
  const text = staticText(value);
  if (text === undefined) {
    const isGenerated = value !== undefined && whyDynamic(value) === "a process substitution";
    return isGenerated ? [unknownCode(name, value)] : [];
  }
  // A prompt may hold variables; what it runs stands in the text. `|` and `-` are for less.
  const code = expanded.test(name) ? `: "${text}"` : text.replace(/^[|-]+/, "");
  return [{ kind: "code", via: name, text: code }];
}
