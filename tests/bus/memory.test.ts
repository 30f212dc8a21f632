import { expect, test } from "bun:test";
import { createMemoryBus } from "../../src/bus/memory.ts";
import { never } from "../../src/lib/abort.ts";
import { busContract } from "../contracts/bus.ts";
import { inboundMessage } from "../fakes/messages.ts";

busContract("createMemoryBus()", async (limits) => createMemoryBus(limits));

test("createMemoryBus() puts a message that comes again while its first put fails", async () => {
  const bus = createMemoryBus({ messages: 1, bytes: 1e6 });
  await bus.publishInbound(inboundMessage({ id: "a" }), never);
  const abort = new AbortController();
  const first = bus.publishInbound(inboundMessage({ id: "b" }), abort.signal);
  const second = bus.publishInbound(inboundMessage({ id: "b" }), never);
  abort.abort(new Error("gave up"));
  await first.catch(() => {});
  for await (const { message, done } of bus.inbound(never)) {
    await done();
    if (message.id !== "a") break;
  }
  expect(await second).toBe(true);
});
