/** What a channel is given, in the hands of a test: an inbox that knows its messages again, a clock, a log. */

import type { ChannelContext } from "../../../src/core/channel.ts";
import { UserError } from "../../../src/core/errors.ts";
import type { InboundMessage } from "../../../src/core/messages.ts";
import { abortable } from "../../../src/lib/abort.ts";
import { createFileSystem } from "../../../src/platform/files.ts";
import { createFakeClock, type FakeClock } from "../../fakes/clock.ts";
import { createFakeLog, type FakeLog } from "../../fakes/log.ts";
import { tempFolder } from "../../fakes/temp.ts";
import { createFakeTerminal } from "../../fakes/terminal.ts";

export interface FakeContext {
  readonly context: ChannelContext;
  readonly clock: FakeClock;
  readonly log: FakeLog;
  /** Those that were new. */
  readonly inbox: readonly InboundMessage[];
  readonly secrets: readonly string[];
  readonly reports: readonly boolean[];
  readonly heard: () => number;
  /** Resolves when something was emitted that the bus does not take. */
  readonly hanging: Promise<void>;
  /** From now on the bus does this with what is emitted. */
  bus(does: "takes" | "fails" | "hangs"): void;
}

interface ContextOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  readonly workspace?: string;
  readonly clock?: FakeClock;
  readonly files?: ChannelContext["files"];
  /** In the place of those of the fake. */
  readonly ports?: Partial<ChannelContext>;
}

export function createContext({
  env = {},
  fetch = async () => new Response(null, { status: 204 }),
  workspace = tempFolder(),
  clock = createFakeClock(),
  files = createFileSystem(),
  ports = {},
}: ContextOptions = {}): FakeContext {
  const log = createFakeLog();
  const known = new Set<string>();
  const inbox: InboundMessage[] = [];
  const secrets: string[] = [];
  const reports: boolean[] = [];
  const hanging = Promise.withResolvers<void>();
  let heard = 0;
  let ids = 0;
  let bus = "takes";

  const context: ChannelContext = {
    admit: () => Promise.reject(new Error("nobody is to be asked")),
    async emit(message, signal) {
      if (bus === "fails") throw new Error("the disk is full");
      if (bus === "hangs") {
        hanging.resolve();
        await abortable(new Promise<never>(() => {}), signal);
      }
      await clock.giveWay();
      if (known.has(message.id)) return false;
      known.add(message.id);
      inbox.push(message);
      return true;
    },
    heard: () => void heard++,
    report: ({ isConnected }) => void reports.push(isConnected),
    addSecret: (secret) => void secrets.push(secret),
    expand: (value, setting) =>
      value.replace(/\$\{(\w+)\}/g, (_, name: string) => {
        const found = env[name];
        if (found === undefined) throw new UserError(`Expand ${setting}: ${name} is not set`);
        return found;
      }),
    media: () => Promise.reject(new Error("nothing is to be saved")),
    fetch: ((url: string, init: RequestInit) => fetch(url, init)) as unknown as typeof globalThis.fetch,
    env,
    clock,
    random: () => 0.5,
    ids: { next: () => `fresh${++ids}` },
    log,
    terminal: createFakeTerminal({}),
    files,
    publicUrl: undefined,
    workspace,
    ...ports,
  };
  return {
    context,
    clock,
    log,
    inbox,
    secrets,
    reports,
    hanging: hanging.promise,
    heard: () => heard,
    bus(does) {
      bus = does;
    },
  };
}
