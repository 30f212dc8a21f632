/** An agent whose process can be killed at any step and started again on the same files, with a bus that remembers. */

import { rm } from "node:fs/promises";
import { createDispatch, type DispatchDeps } from "../../src/agent/dispatch.ts";
import { createFeed } from "../../src/bus/feed.ts";
import { nextResumes, type Resumes } from "../../src/bus/resumes.ts";
import type { InboundDelivery } from "../../src/core/bus.ts";
import type { FinalMessage, InboundId, InboundMessage, OutboundMessage } from "../../src/core/messages.ts";
import type { Model } from "../../src/core/model.ts";
import type { Session, StoredMessage } from "../../src/core/session.ts";
import type { AnyTool } from "../../src/core/tool.ts";
import { inboundMessage } from "../fakes/messages.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createFixture } from "./fixture.ts";

interface Put {
  readonly message: InboundMessage;
  readonly life: number;
  isDone: boolean;
  resumes: Resumes | undefined;
}

export interface Life {
  /** What it does, in order: every effect on the world is one step before and one after it. */
  readonly steps: readonly string[];
  readonly dead: Promise<void>;
  readonly shown: readonly OutboundMessage[];
  readonly log: readonly string[];
  send(message: Parameters<typeof inboundMessage>[0]): void;
  /** Resolves when everything that was put is done, or the process is killed. */
  settled(): Promise<void>;
  kill(): void;
  /** Ends it as SIGTERM would. */
  end(): Promise<void>;
}

interface Options {
  readonly tools?: (step: (name: string) => Promise<void>) => readonly AnyTool[];
  readonly model: (step: (name: string) => Promise<void>) => Model;
  readonly deps?: Partial<DispatchDeps>;
}

/** What survives the process. */
export function createWorld({ tools = () => [], model, deps = {} }: Options) {
  const workspace = tempFolder();
  const puts: Put[] = [];
  const finals = new Map<string, FinalMessage>();
  let lives = 0;

  function isAnswered(id: InboundId): boolean {
    return [...finals.values()].some(({ answers }) => answers.includes(id));
  }

  function start(killAt = Number.POSITIVE_INFINITY): Life {
    const life = lives++;
    const steps: string[] = [];
    const shown: OutboundMessage[] = [];
    const abort = new AbortController();
    const died = Promise.withResolvers<void>();
    const open = new Set<Session>();
    let isDead = false;
    let listeners: (() => void)[] = [];

    function kill(): void {
      isDead = true;
      died.resolve();
      // Locks die with their holder.
      for (const session of open) session.close().catch(() => {});
    }

    /** Never comes back in a process that is dead. */
    async function step(name: string): Promise<void> {
      if (!isDead) {
        steps.push(name);
        if (steps.length >= killAt) kill();
      }
      if (isDead) await new Promise<never>(() => {});
    }

    async function effect<T>(name: string, work: () => Promise<T>): Promise<T> {
      await step(`before ${name}`);
      const result = await work();
      await step(`after ${name}`);
      return result;
    }

    function wake(): void {
      for (const listener of listeners) listener();
      listeners = [];
    }

    const feed = createFeed<InboundDelivery>();
    function hand(put: Put): void {
      feed.push({
        message: put.message,
        isRedelivered: put.life < life,
        done: () =>
          effect(`done ${put.message.id}`, async () => {
            put.isDone = true;
            wake();
          }),
        resume: (progress) =>
          effect(`resume ${put.message.id}`, async () => {
            put.resumes = nextResumes(put.resumes, progress);
            return put.resumes.count;
          }),
      });
    }
    for (const put of puts) {
      if (put.isDone) continue;
      if (isAnswered(put.message.id)) put.isDone = true;
      else hand(put);
    }

    const fixture = createFixture({ workspace, tools: tools(step), wrap: () => model(step) });
    const dispatch = createDispatch({
      ...fixture.deps,
      bus: {
        ...fixture.bus,
        inbound: (signal) => feed.items(signal),
        async publishOutbound(message) {
          if (message.kind !== "final") {
            shown.push(message);
            return true;
          }
          return effect(`put ${message.id}`, async () => {
            if (finals.has(message.id)) return false;
            finals.set(message.id, message);
            shown.push(message);
            return true;
          });
        },
      },
      sessions: {
        ...fixture.sessions,
        async open(key, options) {
          await step(`open ${key}`);
          const session = await fixture.sessions.open(key, options);
          if (isDead) await session.close();
          open.add(session);
          const killable: Session = Object.create(session);
          return Object.assign(killable, {
            append: (lines: readonly StoredMessage[], how: { sync: boolean }) =>
              lines.length === 0
                ? Promise.resolve()
                : effect(`append ${lines.map(({ role }) => role).join()}`, () => session.append(lines, how)),
            archive: (metadata: Parameters<Session["archive"]>[0]) =>
              effect("archive", () => session.archive(metadata)),
            async close() {
              open.delete(session);
              if (!isDead) await session.close();
            },
          });
        },
      },
      ...deps,
    });
    const running = dispatch.run(abort.signal);

    return {
      steps,
      shown,
      log: fixture.log.lines,
      dead: died.promise,
      kill,
      send(message) {
        const given = inboundMessage(message);
        if (isDead || puts.some(({ message: { id } }) => id === given.id)) return;
        const put: Put = { message: given, life, isDone: false, resumes: undefined };
        puts.push(put);
        hand(put);
      },
      async settled() {
        while (!isDead && puts.some(({ isDone }) => !isDone)) {
          await Promise.race([died.promise, new Promise<void>((resolve) => listeners.push(resolve))]);
        }
      },
      async end() {
        abort.abort();
        await running;
      },
    };
  }

  return {
    start,
    workspace,
    finals: () => [...finals.values()],
    /** How many finals answer each message that was put. */
    answers: () =>
      Object.fromEntries(
        puts.map(({ message: { id } }) => [
          id,
          [...finals.values()].filter((final) => final.answers.includes(id)).length,
        ]),
      ),
    undone: () => puts.filter(({ isDone }) => !isDone).map(({ message }) => message.id),
    /** Frees what it lies on: tests that go through many of them would leave thousands of files. */
    remove: () => rm(workspace, { recursive: true, force: true }),
    stored: (key?: string) => createFixture({ workspace }).stored(key),
  };
}
