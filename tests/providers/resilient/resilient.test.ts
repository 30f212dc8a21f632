import { describe, expect, test } from "bun:test";
import { Stopped } from "../../../src/core/errors.ts";
import type { Image } from "../../../src/core/model.ts";
import { type Scripted, textReply } from "../../fakes/model.ts";
import { failure, type Outcome, setup, trace } from "./setup.ts";

const down = failure("transient", { message: "the server is down" });
const times = (count: number, reply: Scripted): Scripted[] => Array<Scripted>(count).fill(reply);
const errorOf = ({ reply }: Outcome) => (reply.ok ? undefined : reply.error);

describe("createResilient() leaves images out", () => {
  const image: Image = { mime: "image/png", data: "AAAA", name: "cat.png" };
  const messages = [{ role: "user", content: "What is it?", images: [image] }] as const;
  const refusal = failure("badRequest", { message: "no images here" });
  const caller = (sessionKey: string) => ({ sessionKey, origin: "chat", turn: "1" as never }) as const;

  test("once when a model refuses them, and says so to the model", async () => {
    const { ask, models, asked } = setup([[refusal, "a cat, says its name"]]);
    expect((await ask({ messages, caller: caller("a") })).reply.ok).toBe(true);
    expect(trace(asked)).toBe("m0@0 m0@0");
    expect(models[0]?.requests.map((request) => request.messages)).toEqual([
      [{ ...messages[0], images: [image] }],
      [{ role: "user", content: expect.stringMatching(/cat\.png.*not shown[\s\S]*What is it\?$/) }],
    ]);
  });

  test("from then on in that session, and nowhere else", async () => {
    const { ask, models } = setup([[refusal, "one", "two", "three"]]);
    await ask({ messages, caller: caller("a") });
    await ask({ messages, caller: caller("a") });
    await ask({ messages, caller: caller("b") });
    const withImages = models[0]?.requests.map((request) => JSON.stringify(request).includes("AAAA"));
    expect(withImages).toEqual([true, false, false, true]);
  });

  test("for that model only", async () => {
    const { ask, models } = setup([[refusal, "one", failure("auth"), failure("auth")], ["two"]]);
    await ask({ messages, caller: caller("a") });
    await ask({ messages, caller: caller("a") });
    expect(JSON.stringify(models[1]?.requests[0])).toContain("AAAA");
  });

  test("for this once when there is no session to remember it for", async () => {
    const { ask, models } = setup([[refusal, "one", "two"]]);
    await ask({ messages });
    await ask({ messages });
    expect(JSON.stringify(models[0]?.requests[2])).toContain("AAAA");
  });

  test("for nothing when the request is refused without them too", async () => {
    const { ask, models, asked } = setup([[refusal, failure("badRequest"), "one"]]);
    expect(errorOf(await ask({ messages, caller: caller("a") }))?.kind).toBe("badRequest");
    expect(asked).toHaveLength(2);
    await ask({ messages, caller: caller("a") });
    expect(JSON.stringify(models[0]?.requests[2])).toContain("AAAA");
  });

  test("only where there are some", async () => {
    const { ask, asked } = setup([times(9, refusal)]);
    await ask({ caller: caller("a") });
    expect(asked).toHaveLength(1);
  });
});

describe("createResilient() keeps requests apart", () => {
  test("that run at the same time", async () => {
    const slow = (text: string, ms: number): Scripted => {
      return async (_, { onDelta, signal }) => {
        onDelta({ kind: "text", text: `${text} ` });
        await both.clock.sleep(ms, signal);
        return { ok: false, error: { kind: "transient", message: text }, partial: `${text} ` };
      };
    };
    const both = setup([[slow("a", 500), slow("b", 700), "A", "B"]]);
    const first = both.begin({ messages: [{ role: "user", content: "first" }] });
    const second = both.begin({ messages: [{ role: "user", content: "second" }] });
    await both.clock.advance(0);
    await both.clock.advance(60_000);
    expect((await first).reply).toMatchObject({ ok: true, content: "a A" });
    expect((await second).reply).toMatchObject({ ok: true, content: "b B" });
    expect([(await first).text, (await second).text]).toEqual(["a A", "b B"]);
    const third = both.models[0]?.requests[2]?.messages ?? [];
    expect(third.map(({ content }) => content)).toEqual(["first", "a ", expect.stringContaining('"a "')]);
  });

  test("when one of them is stopped", async () => {
    const abort = new AbortController();
    const { begin, clock } = setup([[down, down, "hi"]]);
    const first = begin({ signal: abort.signal });
    const second = begin();
    await clock.advance(0);
    abort.abort(new Stopped("user"));
    await clock.advance(1_000);
    expect((await first).reply.ok).toBe(false);
    expect((await second).text).toBe("hi");
  });
});

test("createResilient() reports each call over the wire with whom it went to and how long it took", async () => {
  const slow: Scripted = async (_, { signal }) => {
    await timed.clock.sleep(250, signal);
    return textReply("hi");
  };
  const timed = setup([[failure("auth")], [slow]]);
  await timed.ask({ caller: { sessionKey: "cli:direct", origin: "chat", turn: "1" as never } });
  expect(timed.calls).toMatchObject([
    { candidate: { name: "m0" }, request: { model: "m0" }, reply: { ok: false }, latencyMs: 0 },
    {
      candidate: { name: "m1" },
      request: { model: "m1" },
      reply: { ok: true, content: "hi" },
      caller: { sessionKey: "cli:direct" },
      latencyMs: 250,
    },
  ]);
});

test("createResilient() leaves nothing listening to the caller's signal, and no timer", async () => {
  const { clock, ask } = setup([times(300, "hi")]);
  const abort = new AbortController();
  let listening = 0;
  const { signal } = abort;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listening++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listening--;
    remove(...args);
  };
  for (let request = 0; request < 5; request++) await ask({ signal });
  expect([listening, clock.pending]).toEqual([0, 0]);
});
