/** What every bus backend must do. A backend's test calls `busContract` with a way to make one. */

import { describe, expect, test } from "bun:test";
import type { Bus, Delivery } from "../../src/core/bus.ts";
import type { InboundId } from "../../src/core/messages.ts";
import { inboundMessage, outboundDelta, outboundFinal } from "../fakes/messages.ts";

interface BusLimits {
  readonly messages: number;
  readonly bytes: number;
}

export type MakeBus = (limits?: BusLimits) => Promise<Bus>;

const never = new AbortController().signal;

async function take<D extends Delivery<unknown>>(source: AsyncIterator<D>): Promise<D> {
  const next = await source.next();
  if (next.done) throw new Error("The bus ended");
  return next.value;
}

/** Lets everything that can run without new input run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

export function busContract(name: string, make: MakeBus): void {
  describe(`${name}, as a bus`, () => {
    test("inbound() hands messages out in the order they were published", async () => {
      const bus = await make();
      for (const id of ["a", "b", "c"]) await bus.publishInbound(inboundMessage({ id }), never);
      const source = bus.inbound(never)[Symbol.asyncIterator]();
      const ids = [await take(source), await take(source), await take(source)].map(
        ({ message }) => message.id,
      );
      expect<string[]>(ids).toEqual(["a", "b", "c"]);
    });

    test("inbound() waits for a message that is published later", async () => {
      const bus = await make();
      const waiting = take(bus.inbound(never)[Symbol.asyncIterator]());
      await settle();
      await bus.publishInbound(inboundMessage({ id: "late" }), never);
      expect<string>((await waiting).message.id).toBe("late");
    });

    test("publishInbound() drops an id it has seen, done or not", async () => {
      const bus = await make();
      expect(await bus.publishInbound(inboundMessage({ id: "once" }), never)).toBe(true);
      expect(await bus.publishInbound(inboundMessage({ id: "once" }), never)).toBe(false);
      const source = bus.inbound(never)[Symbol.asyncIterator]();
      await (await take(source)).done();
      expect(await bus.publishInbound(inboundMessage({ id: "once" }), never)).toBe(false);
    });

    test("publishOutbound() drops a final it has seen and never a delta", async () => {
      const bus = await make();
      const delta = outboundDelta({ id: "d", content: "x" });
      expect(await bus.publishOutbound(outboundFinal({ id: "f" }), never)).toBe(true);
      expect(await bus.publishOutbound(outboundFinal({ id: "f" }), never)).toBe(false);
      expect(await bus.publishOutbound(delta, never)).toBe(true);
      expect(await bus.publishOutbound(delta, never)).toBe(true);
    });

    test("publishInbound() waits while the bus is full and goes on when a message is done", async () => {
      const bus = await make({ messages: 2, bytes: 1e6 });
      for (const id of ["a", "b"]) await bus.publishInbound(inboundMessage({ id }), never);
      let published = false;
      const third = bus.publishInbound(inboundMessage({ id: "c" }), never).then(() => {
        published = true;
      });
      const source = bus.inbound(never)[Symbol.asyncIterator]();
      const first = await take(source);
      await settle();
      expect(published).toBe(false);
      await first.done();
      await third;
      expect(published).toBe(true);
    });

    test("publishInbound() waits while the bus holds too many bytes", async () => {
      const bus = await make({ messages: 100, bytes: 2_000 });
      await bus.publishInbound(inboundMessage({ id: "a", content: "x".repeat(1_500) }), never);
      const aborter = new AbortController();
      const second = bus.publishInbound(
        inboundMessage({ id: "b", content: "x".repeat(1_500) }),
        aborter.signal,
      );
      await settle();
      aborter.abort(new Error("gave up"));
      await expect(second).rejects.toThrow("gave up");
    });

    test("publishInbound() takes a message larger than the whole bound when it is alone", async () => {
      const bus = await make({ messages: 10, bytes: 100 });
      expect(await bus.publishInbound(inboundMessage({ id: "a", content: "x".repeat(500) }), never)).toBe(
        true,
      );
    });

    test("publishInbound() that gave up put nothing, and its id may come again", async () => {
      const bus = await make({ messages: 1, bytes: 1e6 });
      await bus.publishInbound(inboundMessage({ id: "a" }), never);
      const aborter = new AbortController();
      const second = bus.publishInbound(inboundMessage({ id: "b" }), aborter.signal);
      aborter.abort(new Error("gave up"));
      await expect(second).rejects.toThrow("gave up");
      const source = bus.inbound(never)[Symbol.asyncIterator]();
      await (await take(source)).done();
      expect(await bus.publishInbound(inboundMessage({ id: "b" }), never)).toBe(true);
      expect<string>((await take(source)).message.id).toBe("b");
    });

    test("publishInbound() keeps the order of those that wait", async () => {
      const bus = await make({ messages: 1, bytes: 1e6 });
      const ids = ["a", "b", "c", "d"];
      const all = ids.map((id) => bus.publishInbound(inboundMessage({ id }), never));
      const source = bus.inbound(never)[Symbol.asyncIterator]();
      const seen: string[] = [];
      for (const _ of ids) {
        const delivery = await take(source);
        seen.push(delivery.message.id);
        await delivery.done();
      }
      await Promise.all(all);
      expect(seen).toEqual(ids);
    });

    test("publishOutbound() lets a channel that takes nothing fill only its own share", async () => {
      const bus = await make({ messages: 1, bytes: 1e6 });
      await bus.publishOutbound(outboundFinal({ id: "a", channel: "dead" }), never);
      expect(await bus.publishOutbound(outboundFinal({ id: "b", channel: "alive" }), never)).toBe(true);
    });

    test("done() called twice frees one place", async () => {
      const bus = await make({ messages: 2, bytes: 1e6 });
      for (const id of ["a", "b"]) await bus.publishInbound(inboundMessage({ id }), never);
      const source = bus.inbound(never)[Symbol.asyncIterator]();
      const first = await take(source);
      await first.done();
      await first.done();
      await bus.publishInbound(inboundMessage({ id: "c" }), never);
      const aborter = new AbortController();
      const fourth = bus.publishInbound(inboundMessage({ id: "d" }), aborter.signal);
      await settle();
      aborter.abort(new Error("still full"));
      await expect(fourth).rejects.toThrow("still full");
    });

    test("isPending() tells what was put and is not done", async () => {
      const bus = await make();
      const { id } = inboundMessage({ id: "p" });
      expect(bus.isPending(id)).toBe(false);
      await bus.publishInbound(inboundMessage({ id: "p" }), never);
      expect(bus.isPending(id)).toBe(true);
      const delivery = await take(bus.inbound(never)[Symbol.asyncIterator]());
      expect(bus.isPending(id)).toBe(true);
      await delivery.done();
      expect(bus.isPending(id)).toBe(false);
    });

    test("inbound() ends without an error when its signal aborts", async () => {
      const bus = await make();
      const aborter = new AbortController();
      const next = bus.inbound(aborter.signal)[Symbol.asyncIterator]().next();
      await settle();
      aborter.abort();
      expect((await next).done).toBe(true);
    });

    test("publishInbound() lets the second of two that come at once wait for the first, and drops it", async () => {
      const bus = await make();
      const both = [1, 2].map(() => bus.publishInbound(inboundMessage({ id: "twin" }), never));
      expect(await Promise.all(both)).toEqual([true, false]);
    });

    test("publishInbound() puts the second of two that come at once when the first gives up", async () => {
      const bus = await make({ messages: 1, bytes: 1e6 });
      await bus.publishInbound(inboundMessage({ id: "a" }), never);
      const aborter = new AbortController();
      const first = bus.publishInbound(inboundMessage({ id: "b" }), aborter.signal);
      const second = bus.publishInbound(inboundMessage({ id: "b" }), never);
      aborter.abort(new Error("gave up"));
      await expect(first).rejects.toThrow("gave up");
      await (await take(bus.inbound(never)[Symbol.asyncIterator]())).done();
      expect(await second).toBe(true);
    });

    test("publishInbound() hands on what was said, character for character", async () => {
      const bus = await make();
      const message = inboundMessage({
        id: 'odd \u2028 " \\ \ud800',
        content: '\u0000 \n \r\n \u0085 👩‍👩‍👧 {"v":1}',
        media: [{ path: "/a b", mime: "image/png", name: "ä.png" }],
        thread: "7",
        replyTo: "8",
        metadata: { deep: [{ a: null }] },
      });
      await bus.publishInbound(message, never);
      expect((await take(bus.inbound(never)[Symbol.asyncIterator]())).message).toEqual(message);
    });

    test("isRedelivered is false for a message that this process was given", async () => {
      const bus = await make();
      await bus.publishInbound(inboundMessage({ id: "a" }), never);
      expect((await take(bus.inbound(never)[Symbol.asyncIterator]())).isRedelivered).toBe(false);
    });

    test("resume() counts how often a turn began with as much behind it, and from one when there is more", async () => {
      const bus = await make();
      await bus.publishInbound(inboundMessage({ id: "a" }), never);
      const { resume } = await take(bus.inbound(never)[Symbol.asyncIterator]());
      const counts: number[] = [];
      for (const progress of [0, 0, 0, 3, 3, 0]) counts.push(await resume(progress));
      expect(counts).toEqual([1, 2, 3, 1, 2, 1]);
    });

    test("part() adds to what was sent", async () => {
      const bus = await make();
      await bus.publishOutbound(outboundFinal({ id: "a" }), never);
      const delivery = await take(bus.outbound(never)[Symbol.asyncIterator]());
      expect(delivery.sent).toEqual([]);
      await delivery.part("11");
      await delivery.part("");
      expect(delivery.sent).toEqual(["11", ""]);
    });

    test("failed() frees the place of the message and lets those behind it pass", async () => {
      const bus = await make({ messages: 1, bytes: 1e6 });
      await bus.publishOutbound(outboundFinal({ id: "a" }), never);
      const second = bus.publishOutbound(outboundFinal({ id: "b" }), never);
      const source = bus.outbound(never)[Symbol.asyncIterator]();
      await (await take(source)).failed("the chat is gone");
      expect(await second).toBe(true);
      expect<string>((await take(source)).message.id).toBe("b");
    });

    test("isOver says when no more of a message is to be sent", async () => {
      const bus = await make();
      for (const id of ["a", "b"]) await bus.publishOutbound(outboundFinal({ id }), never);
      await bus.publishOutbound(outboundDelta({ id: "c" }), never);
      const source = bus.outbound(never)[Symbol.asyncIterator]();
      const deliveries = [await take(source), await take(source), await take(source)] as const;
      await deliveries[0].part("1");
      expect(deliveries.map(({ isOver }) => isOver)).toEqual([false, false, false]);
      await deliveries[0].done();
      await deliveries[1].failed("the chat is gone");
      await deliveries[2].done();
      expect(deliveries.map(({ isOver }) => isOver)).toEqual([true, true, true]);
    });

    test("outbound() hands out what may be lost and what must arrive in one order", async () => {
      const bus = await make();
      const all = [
        outboundDelta({ id: "1", content: "a" }),
        outboundFinal({ id: "2" }),
        outboundDelta({ id: "3", content: "b" }),
        outboundDelta({ id: "4", content: "c" }),
        outboundFinal({ id: "5" }),
        outboundDelta({ id: "6", content: "d" }),
      ];
      await Promise.all(all.map((message) => bus.publishOutbound(message, never)));
      const source = bus.outbound(never)[Symbol.asyncIterator]();
      const ids: string[] = [];
      for (const _ of all) ids.push((await take(source)).message.id);
      expect(ids).toEqual(["1", "2", "3", "4", "5", "6"]);
    });

    test("publishOutbound() keeps to itself what has the channel none", async () => {
      const bus = await make({ messages: 1, bytes: 1e6 });
      const silent = outboundFinal({ id: "silent", channel: "none" });
      expect(await bus.publishOutbound(silent, never)).toBe(true);
      expect(await bus.publishOutbound(outboundFinal({ id: "silent 2", channel: "none" }), never)).toBe(true);
      expect(await bus.publishOutbound(silent, never)).toBe(false);
      await bus.publishOutbound(outboundFinal({ id: "told" }), never);
      expect<string>((await take(bus.outbound(never)[Symbol.asyncIterator]())).message.id).toBe("told");
    });

    test("openStream() tells the message a turn is shown in, until it is complete", async () => {
      const bus = await make();
      const turn = "cli:1" as InboundId;
      expect(bus.openStream(turn)).toBeUndefined();
      await bus.recordStream(turn, "5");
      await bus.recordStream(turn, "6");
      expect(bus.openStream(turn)).toBe("6");
      await bus.recordStream(turn, undefined);
      expect(bus.openStream(turn)).toBeUndefined();
    });

    test("openStream() forgets with the final that answers the turn, and with no other", async () => {
      const bus = await make();
      const turn = "cli:1" as InboundId;
      await bus.recordStream(turn, "5");
      await bus.publishOutbound(outboundFinal({ id: "notice", turn, answers: [] }), never);
      await bus.publishOutbound(outboundFinal({ id: "answer", turn }), never);
      const source = bus.outbound(never)[Symbol.asyncIterator]();
      await (await take(source)).done();
      expect(bus.openStream(turn)).toBe("5");
      const answer = await take(source);
      expect(bus.openStream(turn)).toBe("5");
      await answer.done();
      expect(bus.openStream(turn)).toBeUndefined();
    });

    test("inbound() refuses a second consumer", async () => {
      const bus = await make();
      const aborter = new AbortController();
      const first = bus.inbound(aborter.signal)[Symbol.asyncIterator]().next();
      await expect(bus.inbound(never)[Symbol.asyncIterator]().next()).rejects.toThrow("consumer");
      aborter.abort();
      await first;
    });
  });
}
