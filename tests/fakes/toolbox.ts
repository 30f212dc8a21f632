/** The wrapper around tools with everything a test does not care about filled in. */

import { createToolbox, type ToolboxOptions } from "../../src/agent/toolbox.ts";
import type { InboundId } from "../../src/core/messages.ts";
import type { ToolPorts } from "../../src/core/tool.ts";
import type { ToolRun } from "../../src/core/tool-run.ts";
import type { Toolbox } from "../../src/core/toolbox.ts";
import { never } from "../../src/lib/abort.ts";
import { createFakeLog } from "./log.ts";

export function createTestToolbox(options: Partial<ToolboxOptions> & Pick<ToolboxOptions, "tools">): Toolbox {
  return createToolbox({
    workspace: "/ws",
    // For tools that reach for none.
    ports: () => ({}) as ToolPorts,
    maxResultChars: 1_000,
    mask: (text) => text,
    spill: async () => "spilled.txt",
    keepImage: async ({ name, mime }) => ({ path: `/ws/media/tools/${name}`, mime, name }),
    ask: async () => ({ granted: false, why: "nobody" }),
    audit: () => {},
    clock: { elapsed: () => 0 },
    log: createFakeLog(),
    ...options,
  });
}

export function testRun(run: Partial<ToolRun> = {}): ToolRun {
  return {
    sessionKey: "cli:direct",
    turn: "cli:1" as InboundId,
    sender: "user",
    origin: "chat",
    channel: "cli",
    chatId: "direct",
    signal: never,
    ...run,
  };
}
