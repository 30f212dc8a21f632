/** A gateway of a few lines that works on a bus and writes down what it was promised, to hold the bus to it later. */

import { expect } from "bun:test";
import { createJournalBus, type JournalBusOptions } from "../../src/bus/journal/journal-bus.ts";
import type { DurableBus, InboundDelivery, OutboundDelivery } from "../../src/core/bus.ts";
import type { InboundId, OutboundId } from "../../src/core/messages.ts";
import { never } from "../../src/lib/abort.ts";
import { createFakeClock, type FakeClock } from "../fakes/clock.ts";
import { createFakeLog } from "../fakes/log.ts";
import { inboundMessage, outboundFinal } from "../fakes/messages.ts";
import type { FakeDisk } from "./fake-disk.ts";

export const FOLDER = "/workspace/.nanobot";

/** One thing the gateway does. What there is nothing to do it with is passed over. */
export type Step =
  /** A message arrives; one of few, so that some come again. */
  | { readonly do: "receive"; readonly message: number }
  /** The oldest message that waits is answered. */
  | { readonly do: "answer"; readonly channel: string }
  /** It is answered together with the one behind it. */
  | { readonly do: "join" }
  /** It needs no answer. */
  | { readonly do: "note" }
  /** Its turn sends something, and goes on later. */
  | { readonly do: "notify" }
  | { readonly do: "send" }
  | { readonly do: "fail" }
  | { readonly do: "retry" }
  | { readonly do: "drop" }
  | { readonly do: "show" };

/** Who was promised what: `asked` when the call was made, `told` when it resolved. */
interface Promises {
  readonly asked: Set<string>;
  readonly told: Set<string>;
}

const promises = (): Promises => ({ asked: new Set(), told: new Set() });

export interface Gateway {
  readonly bus: DurableBus;
  readonly clock: FakeClock;
  /** Does not wait for it to be done. */
  step(step: Step): void;
  /** All that was begun has ended. */
  ended(): Promise<void>;
  readonly memory: Memory;
}

/** What outlives the gateway, in the head of whoever checks. */
export interface Memory {
  readonly put: Promises;
  readonly done: Promises;
  /** Finals, and the inbound messages that they answer. */
  readonly final: Promises;
  readonly answers: Map<string, readonly string[]>;
  readonly sent: Promises;
  readonly failed: Promises;
  readonly revived: Set<string>;
  readonly parts: Map<string, { asked: number; told: number }>;
  /** As they were asked for, and again until that was granted: where such a one stands is not certain. */
  readonly order: string[];
  /** Inbound messages that were taken, by any gateway. */
  readonly handedOut: string[];
}

export function createMemory(): Memory {
  return {
    put: promises(),
    done: promises(),
    final: promises(),
    answers: new Map(),
    sent: promises(),
    failed: promises(),
    revived: new Set(),
    parts: new Map(),
    order: [],
    handedOut: [],
  };
}

/** Lets everything that can go on without the clock go on. */
export async function settle(clock: FakeClock): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await clock.giveWay();
}

export async function openJournal(
  disk: FakeDisk,
  options: Partial<JournalBusOptions> = {},
): Promise<{ bus: DurableBus; clock: FakeClock; log: ReturnType<typeof createFakeLog> }> {
  const clock = createFakeClock();
  const log = createFakeLog();
  const bus = await createJournalBus({ files: disk, clock, log, folder: FOLDER, ...options });
  return { bus, clock, log };
}

/** The messages that are handed out, as they come. */
export function collect(bus: DurableBus): { inbound: InboundDelivery[]; outbound: OutboundDelivery[] } {
  const inbound: InboundDelivery[] = [];
  const outbound: OutboundDelivery[] = [];
  void (async () => {
    for await (const delivery of bus.inbound(never)) inbound.push(delivery);
  })();
  void (async () => {
    for await (const delivery of bus.outbound(never)) outbound.push(delivery);
  })();
  return { inbound, outbound };
}

export async function openGateway(disk: FakeDisk, memory: Memory, compactAt: number): Promise<Gateway> {
  const { bus, clock } = await openJournal(disk, { compactAt });
  const waiting = collect(bus);
  const running: Promise<unknown>[] = [];

  async function promised({ asked, told }: Promises, id: string, work: () => Promise<unknown>) {
    asked.add(id);
    await work();
    told.add(id);
  }

  async function final(id: string, turn: string, answers: readonly string[], channel: string): Promise<void> {
    memory.answers.set(id, answers);
    if (!memory.final.told.has(id)) memory.order.push(id);
    const message = outboundFinal({ id, turn, answers: answers as InboundId[], channel });
    await promised(memory.final, id, () => bus.publishOutbound(message, never));
    if (channel === "none") memory.sent.told.add(id);
  }

  async function finish(deliveries: readonly InboundDelivery[], channel: string): Promise<void> {
    const ids = deliveries.map(({ message }) => message.id);
    await final(`${ids[0]}/final`, ids[0] ?? "", ids, channel);
    for (const { message, done } of deliveries) await promised(memory.done, message.id, done);
  }

  async function part({ message, part }: OutboundDelivery, name: string): Promise<void> {
    const counts = memory.parts.get(message.id) ?? { asked: 0, told: 0 };
    memory.parts.set(message.id, counts);
    counts.asked++;
    await part(name);
    counts.told++;
  }

  function takeInbound(): InboundDelivery[] {
    const next = waiting.inbound.shift();
    if (next === undefined) return [];
    memory.handedOut.push(next.message.id);
    return [next];
  }

  const work: { [Do in Step["do"]]: (step: Extract<Step, { do: Do }>) => Promise<void> } = {
    async receive({ message }) {
      const id = `in:${message}`;
      if (!memory.put.told.has(id)) memory.order.push(id);
      await promised(memory.put, id, () => bus.publishInbound(inboundMessage({ id }), never));
    },
    async answer({ channel }) {
      const taken = takeInbound();
      if (taken.length > 0) await finish(taken, channel);
    },
    async join() {
      const taken = [...takeInbound(), ...takeInbound()];
      if (taken.length > 0) await finish(taken, "cli");
    },
    async note() {
      for (const { message, done } of takeInbound()) await promised(memory.done, message.id, done);
    },
    async notify() {
      const [next] = waiting.inbound;
      if (next !== undefined) {
        await final(`${next.message.id}/notice:${memory.final.asked.size}`, next.message.id, [], "cli");
      }
    },
    async send() {
      const next = waiting.outbound.shift();
      if (next === undefined) return;
      for (const name of ["p", "q"].slice(next.sent.length)) await part(next, name);
      await promised(memory.sent, next.message.id, next.done);
    },
    async fail() {
      const next = waiting.outbound.shift();
      if (next === undefined) return;
      if (next.sent.length === 0) await part(next, "p");
      await promised(memory.failed, next.message.id, () => next.failed("the platform refused it"));
    },
    async retry() {
      const failed = bus.outbox.list().find(({ state }) => state === "failed");
      if (failed === undefined) return;
      memory.revived.add(failed.id);
      await bus.outbox.retry(failed.id);
    },
    async drop() {
      const failed = bus.outbox.list().find(({ state }) => state === "failed");
      if (failed !== undefined) await promised(memory.sent, failed.id, () => bus.outbox.drop(failed.id));
    },
    async show() {
      const [next] = waiting.inbound;
      if (next !== undefined) await bus.recordStream(next.message.id, "shown");
    },
  };

  return {
    bus,
    clock,
    memory,
    step(step) {
      // What is refused was not promised.
      running.push((work[step.do] as (step: Step) => Promise<void>)(step).catch(() => {}));
    },
    async ended() {
      await Promise.all(running);
    },
  };
}

/** Holds a bus that was opened again to what the gateway before it was promised. */
export async function expectKept(
  disk: FakeDisk,
  memory: Memory,
  survived: "kill" | "power cut",
): Promise<void> {
  const { bus, clock } = await openJournal(disk);
  const { inbound, outbound } = collect(bus);
  await settle(clock);
  const again = inbound.map(({ message }) => message.id as string);
  const anew = outbound.map(({ message }) => message.id as string);

  // Nothing twice, all in order, nothing of nowhere.
  expect(new Set(again).size).toBe(again.length);
  expect(new Set(anew).size).toBe(anew.length);
  const once = memory.order.filter((id) => memory.order.indexOf(id) === memory.order.lastIndexOf(id));
  const inOrder = (ids: readonly string[]) => {
    const sure = ids.filter((id) => once.includes(id) && !memory.revived.has(id));
    expect(sure).toEqual(once.filter((id) => sure.includes(id)));
  };
  inOrder(again);
  inOrder(anew);
  expect(inbound.every(({ isRedelivered }) => isRedelivered)).toBe(true);

  const answered = new Set([...memory.final.told].flatMap((id) => memory.answers.get(id) ?? []));
  const listed = new Map(bus.outbox.list().map((entry) => [entry.id as string, entry]));

  for (const id of memory.put.told) {
    const mayBeDone = memory.done.asked.has(id) || isAnsweredIn(memory.final.asked, id, memory);
    const mustBeDone = answered.has(id) || (survived === "kill" && memory.done.told.has(id));
    if (!mayBeDone) expect(again).toContain(id);
    if (mustBeDone) expect(again).not.toContain(id);
    expect(await bus.publishInbound(inboundMessage({ id }), never)).toBe(false);
  }

  for (const id of memory.final.told) {
    const mayBeGone = memory.sent.asked.has(id) || memory.sent.told.has(id);
    const mustBeGone = memory.sent.told.has(id) && survived === "kill";
    const entry = listed.get(id);
    if (!mayBeGone) expect(entry).toBeDefined();
    if (mustBeGone) expect(entry).toBeUndefined();
    const isFailed = memory.failed.told.has(id) && !memory.revived.has(id) && survived === "kill";
    if (entry !== undefined && isFailed) expect(entry.state).toBe("failed");
    if (!memory.failed.asked.has(id) && entry !== undefined) expect(anew).toContain(id);
    const parts = memory.parts.get(id) ?? { asked: 0, told: 0 };
    if (entry !== undefined) {
      expect(entry.sent).toBeLessThanOrEqual(parts.asked);
      if (survived === "kill") expect(entry.sent).toBeGreaterThanOrEqual(parts.told);
    }
    // Its turn may begin again, and must not say it twice.
    const turn = id.slice(0, id.indexOf("/"));
    if (again.includes(turn)) {
      const message = outboundFinal({ id, turn, answers: [] });
      expect(await bus.publishOutbound(message, never)).toBe(false);
    }
  }
  await bus.close();
}

function isAnsweredIn(finals: ReadonlySet<string>, id: string, { answers }: Memory): boolean {
  return [...finals].some((final) => answers.get(final)?.includes(id));
}

export const messageIds = (deliveries: readonly { message: { id: InboundId | OutboundId } }[]): string[] =>
  deliveries.map(({ message }) => message.id);
