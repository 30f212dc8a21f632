/** A dispatch at work on the fixture, and what tests send it. */

import { createDispatch, type DispatchDeps } from "../../src/agent/dispatch.ts";
import type { TurnEnded } from "../../src/core/events.ts";
import type { InboundMessage } from "../../src/core/messages.ts";
import type { Session, SessionStore } from "../../src/core/session.ts";
import { never } from "../../src/lib/abort.ts";
import { inboundMessage } from "../fakes/messages.ts";
import { type Scripted, textReply } from "../fakes/model.ts";
import { createFixture } from "./fixture.ts";

export function startAgent(
  options: Parameters<typeof createFixture>[0] = {},
  deps: Partial<DispatchDeps> | ((fixture: ReturnType<typeof createFixture>) => Partial<DispatchDeps>) = {},
) {
  const fixture = createFixture(options);
  const abort = new AbortController();
  const ended: TurnEnded[] = [];
  const started: string[] = [];
  const undone = new Set<string>();
  let archiveFails = false;
  const sessions: SessionStore = {
    ...fixture.sessions,
    async open(key, options) {
      const session = await fixture.sessions.open(key, options);
      const archive: Session["archive"] = (metadata) =>
        archiveFails ? Promise.reject(new Error("EACCES: no")) : session.archive(metadata);
      return Object.assign(Object.create(session) as Session, { archive });
    },
  };
  const dispatch = createDispatch({
    ...fixture.deps,
    bus: {
      ...fixture.bus,
      async *inbound(signal) {
        for await (const delivery of fixture.bus.inbound(signal)) {
          yield {
            ...delivery,
            async done() {
              undone.delete(delivery.message.id);
              await delivery.done();
            },
          };
        }
      },
    },
    sessions,
    onTurnStarted: ({ id }) => started.push(id),
    onTurnEnded: (event) => ended.push(event),
    ...(typeof deps === "function" ? deps(fixture) : deps),
  });
  const running = dispatch.run(abort.signal);
  return {
    ...fixture,
    aside: dispatch.aside,
    ended,
    started,
    /** Ids of messages that the bus would hand out again. */
    undone: () => [...undone],
    failArchive() {
      archiveFails = true;
    },
    async send(message: Parameters<typeof inboundMessage>[0]) {
      const given = inboundMessage(message);
      undone.add(given.id);
      await fixture.bus.publishInbound(given, never);
    },
    finalsAre: (count: number) =>
      fixture.until((shown) => shown.filter(({ kind }) => kind === "final").length >= count),
    /** Tells it to end, and resolves when it has. */
    shutDown() {
      abort.abort();
      return running;
    },
    async stop() {
      abort.abort();
      await running;
      await fixture.end();
    },
  };
}

export const chat = (name: string): Pick<InboundMessage, "chatId" | "sessionKey"> => ({
  chatId: name,
  sessionKey: `cli:${name}`,
});

/** A reply that waits to be let go. `reached` resolves when the model is asked for it. */
export function held(reply: Exclude<Scripted, (...args: never) => unknown> = "held") {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const scripted: Scripted = async () => {
    reached.resolve();
    await gate.promise;
    if (typeof reply === "string") return textReply(reply);
    if (!("calls" in reply)) throw new Error("Only text and calls can be held");
    const toolCalls = reply.calls.map(({ name, arguments: args = {} }) => {
      return { id: "", name, arguments: JSON.stringify(args) };
    });
    return { ok: true, content: reply.content ?? "", toolCalls, finishReason: "tool_calls" };
  };
  return { scripted, reached: reached.promise, release: gate.resolve };
}
