/** What a rule has against a command. */

export type Rule =
  | "unreadable"
  | "dynamic-command"
  | "dynamic-code"
  | "pipe-to-shell"
  | "fork-bomb"
  | "recursive-delete"
  | "delete"
  | "find-delete"
  | "overwrite"
  | "device-write"
  | "system-write"
  | "permissions"
  | "power"
  | "disk"
  | "kill-system"
  | "crontab"
  | "history"
  | "destructive-program"
  | "network-device"
  | "own-program"
  | "own-state"
  | "outside-workspace"
  | "deny-pattern"
  | "bad-pattern"
  | "not-allowed";

export interface Finding {
  readonly rule: Rule;
  readonly reason: string;
}

export const finding = (rule: Rule, reason: string): Finding => ({ rule, reason });

/** Findings that neither a pattern of the owner nor his answer sets aside. */
export const finalRules: ReadonlySet<Rule> = new Set([
  "unreadable",
  "own-state",
  "outside-workspace",
  "deny-pattern",
  "bad-pattern",
]);
