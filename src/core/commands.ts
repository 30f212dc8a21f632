/** How far commands of the model go: what they are held against, and what they are shut in with. */

/** Which commands of the model may run. */
export type CommandPolicy = "guarded" | "ask" | "allowlist" | "off";

/** `refused` is a sandbox that is demanded and cannot be had: no command runs. */
export type SandboxState =
  | { readonly kind: "bwrap"; readonly hasProc: boolean }
  | { readonly kind: "none" | "refused"; readonly why: string };
