import { describe, expect, test } from "bun:test";
import { Stopped } from "../../../src/core/errors.ts";
import type { Image } from "../../../src/core/model.ts";
import { type Scripted, textReply } from "../../fakes/model.ts";
import { deaf, failure, type Outcome, setup, trace } from "./setup.ts";

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

  test("of a tool's result too, and remembers it", async () => {
    const { ask, models } = setup([[refusal, "one", "two"]]);
    const looked = [
      { role: "user", content: "Look" },
      { role: "assistant", content: "", toolCalls: [{ id: "1", name: "look", arguments: "{}" }] },
      { role: "tool", toolCallId: "1", name: "look", content: "A picture", images: [image] },
    ] as const;
    await ask({ messages: looked, caller: caller("a") });
    await ask({ messages: looked, caller: caller("a") });
    const results = models[0]?.requests.map((request) => request.messages[2]);
    const { images: _, ...rest } = looked[2];
    const inWords = {
      ...rest,
      content: expect.stringMatching(/^A picture\n\[The image cat\.png was not shown/),
    };
    expect(results).toEqual([{ ...looked[2], images: [image] }, inWords, inWords]);
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

  test("for nothing when a model cannot be asked at all", async () => {
    const { ask, asked } = setup([["never said"], ["seen"]], { broken: [0] });
    expect((await ask({ messages, caller: caller("a") })).text).toBe("seen");
    expect(asked).toHaveLength(1);
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
    { provider: "p0", model: "m0", request: { model: "m0" }, reply: { ok: false }, latencyMs: 0 },
    {
      provider: "p1",
      model: "m1",
      request: { model: "m1" },
      reply: { ok: true, content: "hi" },
      caller: { sessionKey: "cli:direct" },
      latencyMs: 250,
    },
  ]);
});

describe("createResilient() reports what arrived before a call was stopped", () => {
  const usage = { input: 900, output: 1, cached: 0, reasoning: 0 };
  /** Thinks, and says when it is stopped what had arrived by then. */
  const heedful: Scripted = (_, { signal, onDelta }) => {
    onDelta({ kind: "reasoning", text: "Let me " });
    onDelta({ kind: "reasoning", text: "see" });
    return new Promise((resolve) => {
      const error = { kind: "aborted", message: "stopped" } as const;
      signal.addEventListener("abort", () =>
        resolve({ ok: false, error, partial: "", usage, started: true }),
      );
    });
  };

  test("as the model says it", async () => {
    const abort = new AbortController();
    const { begin, clock, calls } = setup([[heedful]]);
    const running = begin({ signal: abort.signal });
    await clock.advance(0);
    abort.abort(new Stopped("user"));
    expect((await running).reply).toEqual({
      ok: false,
      error: { kind: "aborted", message: "The request was stopped" },
      partial: "",
    });
    expect(calls).toMatchObject([{ thought: "Let me see", reply: { ok: false, usage, started: true } }]);
    expect(clock.pending).toBe(0);
  });

  test("as the model says it, when the time is over", async () => {
    const { ask, calls } = setup([[heedful]], { deadlineMs: 10_000 });
    expect((await ask()).tookMs).toBe(10_000);
    expect(calls).toMatchObject([{ reply: { usage, started: true } }]);
  });

  test("as far as it was shown, of a model that does not heed its signal", async () => {
    const abort = new AbortController();
    const { begin, end, clock, calls } = setup([[deaf("so far")]]);
    const running = begin({ signal: abort.signal });
    await clock.advance(0);
    abort.abort(new Stopped("user"));
    await end(running);
    expect(calls).toMatchObject([{ thought: "", reply: { ok: false, partial: "so far" } }]);
  });
});

describe("createResilient() learns how models count", () => {
  const long = [{ role: "user", content: "word ".repeat(1_000) }] as const;
  const counts = (input: number): Scripted => {
    const reply = textReply("hi");
    return async () => ({ ...reply, usage: { input, output: 1, cached: 0, reasoning: 0 } });
  };

  test("from each answer", async () => {
    const { ask, scales } = setup([[counts(2_000)]]);
    await ask({ messages: long });
    expect(scales[0]?.fit(2_000)).toBeLessThan(1_100);
  });

  test("nothing from an answer without a count", async () => {
    const silent: Scripted = async () => ({ ok: true, content: "hi", toolCalls: [], finishReason: "stop" });
    const { ask, scales } = setup([[silent]]);
    await ask({ messages: long });
    expect(scales[0]?.fit(2_000)).toBe(2_000);
  });

  test("from a stand-in that finds a prompt too long, of that one alone", async () => {
    const { ask, scales } = setup([[failure("auth")], [failure("contextOverflow")]]);
    await ask({ messages: long });
    expect(scales[0]?.fit(2_000)).toBe(2_000);
    expect(scales[1]?.fit(2_000)).toBeLessThan(1_000);
  });

  test("not from the first one's refusal, of which whoever made the prompt fit tells", async () => {
    const { ask, scales } = setup([[failure("contextOverflow")]]);
    await ask({ messages: long });
    expect(scales[0]?.fit(2_000)).toBe(2_000);
  });
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
