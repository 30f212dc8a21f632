/** The fields that the user adds to every request, whatever protocol it is made in. */

export type ExtraBody = Readonly<Record<string, unknown>>;

/**
 * The conversation, by every protocol's names for it. A tool that is not ours could not be called, and
 * without ours there is no agent.
 */
const CONVERSATION: ReadonlySet<string> = new Set(["messages", "system", "instructions", "input", "tools"]);

/** What may be put over a request's own fields: everything but the conversation. */
export function withoutConversation(extraBody: ExtraBody = {}): ExtraBody {
  return Object.fromEntries(Object.entries(extraBody).filter(([name]) => !CONVERSATION.has(name)));
}
