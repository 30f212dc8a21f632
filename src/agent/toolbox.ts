/** The one wrapper around every tool: prepare the call, permit it, execute it, finalise its result, record it. */

import { toJsonSchema } from "@valibot/to-json-schema";
import type { AskOwner } from "../core/approval.ts";
import type { AuditDecision, AuditEntry } from "../core/audit.ts";
import type { HourlyLimits } from "../core/background.ts";
import { UserError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { IMAGES_PER_MESSAGE } from "../core/media.ts";
import type { Media } from "../core/messages.ts";
import type { Image, ToolCall } from "../core/model.ts";
import type { Clock, Log } from "../core/platform.ts";
import type { AnyTool, Permit, ToolContext, ToolPorts, ToolResult, ToolResultParts } from "../core/tool.ts";
import { toolError } from "../core/tool.ts";
import type { ToolRun } from "../core/tool-run.ts";
import type { Toolbox } from "../core/toolbox.ts";
import { abortable } from "../lib/abort.ts";
import { imageNotKept, NOT_RUN, notApproved, problemOf, STOPPED_MIDWAY } from "../lib/phrases.ts";
import { headTail, wellFormed } from "../lib/text.ts";
import { toolFailure } from "../lib/tool-failure.ts";
import { auditEntry } from "./audit-entry.ts";
import { createLookups } from "./lookups.ts";
import { type KnownTool, prepareCall } from "./prepare-call.ts";

export interface ToolboxOptions {
  readonly tools: readonly AnyTool[];
  readonly workspace: string;
  /** Ports for one run: what a tool may read can depend on the session. */
  readonly ports: (run: ToolRun) => ToolPorts;
  /** Characters of a result that go to the model, unless the tool bounds itself. */
  readonly maxResultChars: number;
  /** Keeps a result that is too long and resolves to the path by which the model can read it. */
  readonly spill: (run: ToolRun, call: ToolCall, text: string) => Promise<string>;
  /** Keeps an image, so that the session can show it again. */
  readonly keepImage: (image: Image) => Promise<Media>;
  /** Takes secrets out of what goes to the model: a command can read more than it was given. */
  readonly mask: (text: string) => string;
  readonly ask: AskOwner;
  readonly audit: (entry: AuditEntry) => void;
  /** Left out where nothing is counted. */
  readonly limits?: Pick<HourlyLimits, "toolCall">;
  readonly clock: Pick<Clock, "elapsed">;
  readonly log: Log;
}

/** How a call ended, before its result is made fit for the model. */
interface Ended {
  readonly decision: AuditDecision;
  readonly result: ToolResult;
  readonly limit: number;
}

function define(tool: AnyTool): KnownTool {
  const { $schema: _, ...parameters } = toJsonSchema(tool.parameters) as Record<string, unknown>;
  const { name, description } = tool;
  return { tool, definition: { name, description, parameters: parameters as JsonObject } };
}

export function createToolbox({
  tools,
  workspace,
  ports,
  maxResultChars,
  spill,
  keepImage,
  mask,
  ask,
  audit,
  limits,
  clock,
  log,
}: ToolboxOptions): Toolbox {
  const known = new Map(tools.map((tool) => [tool.name, define(tool)]));
  const lookUp = createLookups();

  async function runCall(call: ToolCall, run: ToolRun): Promise<Ended> {
    const prepared = prepareCall(call, known);
    if (!prepared.ok) return refused(prepared.problem, maxResultChars);
    const { tool, args } = prepared;
    const limit = tool.resultLimit ?? maxResultChars;
    if (run.signal.aborted) return refused(NOT_RUN, limit);
    const tooMany = limits?.toolCall(run.sessionKey);
    if (tooMany !== undefined) return refused(tooMany, limit);
    const context: ToolContext = { ...run, call: call.id, workspace, ports: ports(run) };
    const decision = await permit(tool, args, { call, run, context });
    if (decision.kind === "refused") return { decision, result: toolError(decision.why), limit };
    const work = () => execute(tool, args, context);
    const result = tool.isLookup ? await lookUp({ name: tool.name, args, run }, work) : await work();
    // What it may touch a tool often learns only when it is at it.
    if (result.refused) return { decision: { kind: "refused", why: result.text }, result, limit };
    return { decision, result, limit };
  }

  /** Whether the call may run. `why` of a refusal is for the model. */
  async function permit(
    tool: AnyTool,
    args: never,
    { call, run, context }: { call: ToolCall; run: ToolRun; context: ToolContext },
  ): Promise<AuditDecision> {
    if (tool.permit === undefined) return { kind: "ran" };
    try {
      const permitted = await abortable(tool.permit(args, context), run.signal);
      log.debug("Tool call judged", { call: call.id, tool: tool.name, ...permitted });
      if (permitted.decision === "allow") return { kind: "ran" };
      if (permitted.decision === "deny") return { kind: "refused", why: permitted.reason };
      return await put(permitted, call, run);
    } catch (error) {
      if (run.signal.aborted) return { kind: "refused", why: NOT_RUN };
      log.debug("Permission was not decided", { tool: tool.name, error });
      return { kind: "refused", why: problemOf(error) };
    }
  }

  /** What the owner was shown is what runs: the arguments are not read again. */
  async function put(
    { what, reason }: Permit & { decision: "ask" },
    call: ToolCall,
    run: ToolRun,
  ): Promise<AuditDecision> {
    const answer = await abortable(
      ask({ id: call.id, tool: call.name, what, reason, run }, run.signal),
      run.signal,
    );
    if (answer.granted) return { kind: "approved", by: answer.by };
    const by = answer.by === undefined ? {} : { by: answer.by };
    return { kind: "refused", why: notApproved(answer, reason), ...by };
  }

  async function execute(tool: AnyTool, args: never, context: ToolContext): Promise<ToolResult> {
    try {
      return await abortable(tool.execute(args, context), context.signal);
    } catch (error) {
      if (context.signal.aborted) return toolError(STOPPED_MIDWAY);
      log.debug("Tool threw", { tool: tool.name, error });
      const refused = error instanceof UserError && error.isRefusal;
      return toolError(problemOf(error), refused ? { refused } : {});
    }
  }

  /** Well-formed, masked, not blank, not too long; of a failure in the form of one. Cut last: half a secret is not recognised. */
  async function finalise({ result, limit }: Ended, call: ToolCall, run: ToolRun): Promise<ToolResult> {
    const { ok, external, exitCode, sentTo } = result;
    const given = mask(wellFormed(result.text));
    const text = given.trim() === "" ? `(${call.name} completed with no output)` : given;
    const most = Math.min(limit, result.limit ?? limit);
    const shown = text.length > most ? await shorten(text, call, run, most) : text;
    const pictures = await keep(result.images ?? [], call);
    const parts: ToolResultParts = {
      ...(external === undefined ? {} : { external }),
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(sentTo === undefined ? {} : { sentTo }),
    };
    if (!ok) return toolError(toolFailure(shown), parts);
    return { ok, text: [shown, ...pictures.problems].join("\n"), ...parts, ...pictures.parts };
  }

  async function shorten(text: string, call: ToolCall, run: ToolRun, limit: number): Promise<string> {
    let rest = "";
    try {
      rest = `; all of it is in "${await spill(run, call, text)}"`;
    } catch (error) {
      log.warn("Could not keep the rest of a tool result", { tool: call.name, error });
    }
    return headTail(text, limit, (cut) => `\n[… ${cut} characters left out${rest} …]\n`);
  }

  /** Only what is kept is shown: later turns send the same images again, or the provider's cache is lost. */
  async function keep(images: readonly Image[], call: ToolCall) {
    const kept: { image: Image; media: Media }[] = [];
    const problems: string[] = [];
    for (const image of images.slice(0, IMAGES_PER_MESSAGE)) {
      try {
        kept.push({ image, media: await keepImage(image) });
      } catch (error) {
        log.warn("Could not keep an image of a tool result", { tool: call.name, error });
        problems.push(imageNotKept(image.name));
      }
    }
    const parts =
      kept.length === 0
        ? {}
        : { images: kept.map(({ image }) => image), media: kept.map(({ media }) => media) };
    return { parts, problems };
  }

  return {
    definitions: [...known.values()]
      .map(({ definition }) => definition)
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    isReadOnly: (name) => known.get(name)?.tool.readOnly ?? false,
    isRepeatable: (name) => known.get(name)?.tool.repeatable ?? false,
    problemOf(call) {
      const prepared = prepareCall(call, known);
      return prepared.ok ? undefined : mask(wellFormed(prepared.problem));
    },
    async run(call, run) {
      const began = clock.elapsed();
      const ended = await runCall(call, run);
      const result = await finalise(ended, call, run);
      const durationMs = clock.elapsed() - began;
      const { decision } = ended;
      audit(auditEntry(call, run, { decision, result, durationMs }, mask));
      log.debug("Tool call ended", {
        call: call.id,
        tool: call.name,
        decision: decision.kind,
        ok: result.ok,
        durationMs: Math.round(durationMs),
      });
      return result;
    },
  };
}

function refused(why: string, limit: number): Ended {
  return { decision: { kind: "refused", why }, result: toolError(why), limit };
}
