/** Questions to whoever sits at the terminal. */

import { Stopped } from "../core/errors.ts";

/** Each question rejects with `Stopped` when they leave. */
export interface Prompter {
  confirm(question: string): Promise<boolean>;
  /** The list starts at `initial`, if that is one of its values. */
  choose(
    question: string,
    options: { choices: readonly { value: string; label: string }[]; initial: string | undefined },
  ): Promise<string>;
  /** Shown as dots. */
  secret(question: string, check: (value: string) => string | undefined): Promise<string>;
  /** Nothing typed is `fallback`, which is shown until something is. */
  text(
    question: string,
    options: { fallback: string; check: (value: string) => string | undefined },
  ): Promise<string>;
}

/** Opens with `intro`. Loads what it needs only when it is called. */
export type CreatePrompter = (signal: AbortSignal, intro: string) => Promise<Prompter>;

/** The prompts proper. Only for a terminal: without one they would wait for ever. */
export async function createPrompter(signal: AbortSignal, intro: string): Promise<Prompter> {
  const clack = await import("@clack/prompts");
  const checked = (check: (value: string) => string | undefined) => (value: string | undefined) =>
    check(value ?? "");
  const answered = <Value>(answer: Value | symbol): Exclude<Value, symbol> => {
    if (!clack.isCancel(answer) && typeof answer !== "symbol") return answer as Exclude<Value, symbol>;
    clack.cancel("Nothing was changed.");
    throw new Stopped("user");
  };
  clack.intro(intro);
  return {
    confirm: async (message) => answered(await clack.confirm({ message, signal })),
    choose: async (message, { choices, initial }) =>
      answered(
        await clack.autocomplete({
          message,
          options: [...choices],
          ...(initial === undefined ? {} : { initialValue: initial }),
          maxItems: 10,
          // Nothing is chosen while no choice matches what was typed.
          validate: (value) => (value === undefined ? "Choose one of the list" : undefined),
          signal,
        }),
      ),
    secret: async (message, check) =>
      answered(await clack.password({ message, validate: checked(check), signal })),
    text: async (message, { fallback, check }) =>
      answered(
        await clack.text({
          message,
          placeholder: fallback,
          defaultValue: fallback,
          validate: checked((value) => check(value === "" ? fallback : value)),
          signal,
        }),
      ),
  };
}
