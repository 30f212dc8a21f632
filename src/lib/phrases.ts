/** The fixed sentences that a user or a model can read, in one place. */

/** The result of a call that had started and whose end nobody saw. */
export const INTERRUPTED = "Error: interrupted, outcome unknown. Check what was done before you repeat it.";

/** Behind every error result, because models tend to repeat what failed. */
export const TRY_ANOTHER_WAY = "[Read the error and try another way.]";

export const ASK_AGAIN_AFTER_BLANK = "Your last reply was empty. Answer the message above now.";

export const BLANK_TWICE = "The model gave an empty answer twice. Try again, or ask in another way.";

export function askForSummary(rounds: number): string {
  return `You have used all ${rounds} rounds of tool calls for this message. Call no more tools. Say honestly what is done, what is not, and what the next step would be.`;
}

export function outOfRounds(rounds: number): string {
  return `I used all ${rounds} rounds of tool calls for this message and did not finish. What I did so far is saved; say "go on" and I will continue.`;
}

export function stuck(tool: string, times: number, error: string): string {
  return `I stopped, because ${tool} failed ${times} times in the same way: ${error}\nTell me how to go on, or ask in another way.`;
}

export function turnFailed(problem: string): string {
  return `I could not answer: ${problem}`;
}

/** The result of a call that was announced and did not begin before its turn was stopped. */
export const NOT_RUN = "not run, because the turn was stopped";

/** The result of a call that was running when its turn was stopped. */
export const STOPPED_MIDWAY = "stopped before it was finished, outcome unknown";

export const NEW_SESSION = "New session started.";

export function stopped(tasks: number): string {
  if (tasks === 0) return "No active task to stop.";
  return tasks === 1 ? "Stopped 1 task." : `Stopped ${tasks} tasks.`;
}

export function unknownCommand(name: string, suggestion: string | undefined): string {
  const hint = suggestion === undefined ? "Send /help for the list." : `Did you mean /${suggestion}?`;
  return `There is no command /${name}. ${hint}`;
}

export function takesNoArguments(name: string): string {
  return `/${name} takes no arguments.`;
}

export const WAITING_FOR_SESSION = "waiting for another nanobot that is using this session";
