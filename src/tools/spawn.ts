/** The tool that has a task done in the background, by a subagent. */

import * as v from "valibot";
import { defineTool, toolError, toolOk } from "../core/tool.ts";
import { NO_TASK, taskBegun } from "../lib/phrases.ts";
import { flag } from "./parameters.ts";

const LONGEST_TASK = 16_000;
const LONGEST_LABEL = 200;

export const spawn = defineTool({
  name: "spawn",
  description:
    "Have a task done in the background, by a helper that has files, commands and the web, but knows nothing of this conversation and cannot ask. For work that takes long or can go on by itself. What comes of it is told to you later in a new message; with wait you get it at once.",
  parameters: v.strictObject({
    task: v.pipe(
      v.string(),
      v.nonEmpty(),
      v.maxLength(LONGEST_TASK),
      v.description("What is to be done, with all that the helper must know, and what it should report"),
    ),
    label: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(LONGEST_LABEL),
        v.description("A name of a few words, for lists; the beginning of the task when left out"),
      ),
    ),
    wait: flag("Wait for the result, and get it here; only when you cannot go on without it"),
    temperature: v.optional(
      v.pipe(
        v.number(),
        v.minValue(0),
        v.maxValue(2),
        v.description("Of the helper's model, 0 to 2; leave it out unless asked for"),
      ),
    ),
  }),
  aliases: { prompt: "task", instructions: "task", name: "label", title: "label" },
  mainOnly: true,
  // A task is named after its call, and none begins twice.
  repeatable: true,

  async execute({ task, label, wait = false, temperature }, { ports, call }) {
    if (ports.tasks === undefined) return toolError(NO_TASK.here);
    if (task.trim() === "") return toolError("task is blank: say what is to be done");
    const begun = await ports.tasks.spawn({ task, label, wait, temperature, key: call });
    const { label: name, state } = begun.task;
    if (begun.result === undefined) return toolOk(taskBegun(name, state));
    const { state: end, text } = begun.result;
    // It may quote what it found anywhere.
    const parts = { external: true };
    return end === "done" ? toolOk(text, parts) : toolError(text, parts);
  },
});
