import { describe, expect, test } from "bun:test";
import type { Scripted } from "../../fakes/model.ts";
import { failure, type Outcome, setup, trace } from "./setup.ts";

const down = failure("transient", { message: "the server is down" });
const times = (count: number, reply: Scripted): Scripted[] => Array<Scripted>(count).fill(reply);
const errorOf = ({ reply }: Outcome) => (reply.ok ? undefined : reply.error);

describe("createResilient() falls back", () => {
  test.each(["auth", "quota"] as const)("at once for %s", async (kind) => {
    const { ask, asked } = setup([[failure(kind)], ["from the other"]]);
    expect(await ask()).toMatchObject({ reply: { ok: true, model: "p1/m1" }, tookMs: 0 });
    expect(trace(asked)).toBe("m0@0 m1@0");
  });

  test.each(["badRequest", "contextOverflow", "contentFilter"] as const)(
    "never for %s, which is asked once",
    async (kind) => {
      const { ask, asked } = setup([[failure(kind)], ["from the other"]]);
      expect(errorOf(await ask())?.kind).toBe(kind);
      expect(trace(asked)).toBe("m0@0");
    },
  );

  test("at once for a model that its provider does not know any more", async () => {
    const { ask, asked } = setup([[failure("badRequest", { status: 404 })], ["from the other"]]);
    expect((await ask()).text).toBe("from the other");
    expect(trace(asked)).toBe("m0@0 m1@0");
  });

  test("from a stand-in whose window is too small to the next one", async () => {
    const { ask, asked } = setup([[failure("auth")], [failure("contextOverflow")], ["from the last"]]);
    expect((await ask()).text).toBe("from the last");
    expect(trace(asked)).toBe("m0@0 m1@0 m2@0");
  });

  test("from a stand-in whose own settings are wrong to the next one", async () => {
    const { ask, asked } = setup([[failure("auth")], [failure("badRequest")], ["from the last"]]);
    expect((await ask()).text).toBe("from the last");
    expect(trace(asked)).toBe("m0@0 m1@0 m2@0");
  });

  test("when a model has used up its share of the time, so that the last one gets its own", async () => {
    const hang: Scripted = { hang: true };
    const { ask, asked } = setup([[hang], [hang], [hang], ["at last"]], { deadlineMs: 4_000 });
    expect((await ask()).text).toBe("at last");
    expect(trace(asked)).toBe("m0@0 m1@1000 m2@2000 m3@3000");
  });

  test("after the last try of a model that is down, and tells", async () => {
    const { ask, asked } = setup([times(9, down), ["from the other"]]);
    const { text, notices } = await ask();
    expect(text).toBe("from the other");
    expect(trace(asked)).toBe("m0@0 m0@1000 m0@3000 m0@7000 m1@7000");
    expect(notices.at(-1)).toEqual({ kind: "switched", text: "the server is down; p1/m1 goes on" });
  });

  test("with each model's own name and settings", async () => {
    const { ask, models } = setup([[failure("auth")], [failure("auth")], ["hi"]], {
      settings: [undefined, { maxTokens: 7, temperature: 0.7 }, { maxTokens: 8, reasoningEffort: "low" }],
    });
    await ask({ maxTokens: 100, temperature: 0.1, reasoningEffort: "high" });
    const sent = models.map(({ requests: [request] }) => [
      request?.model,
      request?.maxTokens,
      request?.temperature,
      request?.reasoningEffort,
    ]);
    expect(sent).toEqual([
      ["m0", 100, 0.1, "high"],
      ["m1", 7, 0.7, undefined],
      ["m2", 8, 0.1, "low"],
    ]);
  });

  test("and reports the first failure when all fail", async () => {
    const { ask } = setup([
      [failure("auth", { message: "first" })],
      [failure("quota", { message: "second" })],
    ]);
    expect(errorOf(await ask())).toEqual({ kind: "auth", message: "first" });
  });

  test("and reports that the last stand-in needs less, since that can be helped, and which one", async () => {
    const { ask } = setup([[failure("auth")], [failure("contextOverflow")]]);
    expect(errorOf(await ask())).toMatchObject({ kind: "contextOverflow", model: "p1/m1" });
  });

  test("and names no model beside the failure of the first", async () => {
    expect(errorOf(await setup([[failure("contextOverflow")]]).ask())).not.toHaveProperty("model");
    expect(errorOf(await setup([[failure("auth")], [failure("auth")]]).ask())).not.toHaveProperty("model");
  });

  test("from a model that cannot be opened, which is no call", async () => {
    const { ask, calls } = setup([["never said"], ["from the other"]], { broken: [0] });
    const { text, notices, tookMs } = await ask();
    expect([text, tookMs]).toEqual(["from the other", 0]);
    expect(notices).toEqual([
      { kind: "switched", text: "p0/m0 cannot be used: Cannot find package; p1/m1 goes on" },
    ]);
    expect(calls.map(({ model }) => model)).toEqual(["m1"]);
  });

  test("from a model that throws, although it must not", async () => {
    const throwing: Scripted = () => Promise.reject(new Error("a bug"));
    expect((await setup([[throwing], ["from the other"]]).ask()).text).toBe("from the other");
  });

  test("from a stand-in whose settings are wrong also while the first is left alone", async () => {
    const refused = times(9, failure("auth"));
    const { ask, asked } = setup([refused, [...times(3, "stand-in"), failure("badRequest")], ["the last"]]);
    for (let request = 0; request < 3; request++) await ask();
    expect((await ask()).text).toBe("the last");
    expect(trace(asked.slice(-2))).toBe("m1@0 m2@0");
  });

  test("early enough for the others when the first takes its time", async () => {
    const slow: Scripted = async (_, { signal }) => {
      await first.clock.sleep(100_000, signal).catch(() => {});
      return { ok: false, error: { kind: "transient", message: "slow" }, partial: "" };
    };
    const first = setup([times(9, slow), ["in time"]], { deadlineMs: 300_000 });
    const { text, tookMs } = await first.ask();
    expect(text).toBe("in time");
    expect(tookMs).toBeLessThanOrEqual(202_000);
  });
});

describe("createResilient() leaves a model alone", () => {
  test("that failed three requests, for a minute, and then asks it again", async () => {
    const { ask, asked, clock, models } = setup([times(4, failure("auth")), times(9, "stand-in")]);
    for (let request = 0; request < 4; request++) await ask();
    const askedOf = (name: string) => asked.filter(({ model }) => model === name).length;
    expect([askedOf("m0"), askedOf("m1")]).toEqual([3, 4]);
    await clock.advance(60_000);
    await ask();
    expect(askedOf("m0")).toBe(4);
    await ask();
    expect(askedOf("m0")).toBe(4);
    await clock.advance(60_000);
    models[0]?.push("I am back", "and stay");
    expect((await ask()).text).toBe("I am back");
    expect((await ask()).text).toBe("and stay");
  });

  test("but asks the first when it is all there is", async () => {
    const { ask, asked } = setup([[...times(3, failure("auth")), "at last"]]);
    for (let request = 0; request < 3; request++) await ask();
    expect((await ask()).text).toBe("at last");
    expect(asked).toHaveLength(4);
  });

  test("no longer when it answers after all were left alone", async () => {
    const { ask, clock } = setup([
      [...times(3, failure("auth")), "at last", "and again"],
      times(9, failure("auth")),
    ]);
    for (let request = 0; request < 3; request++) await ask();
    await clock.advance(1_000);
    expect((await ask()).text).toBe("at last");
    expect((await ask()).reply).toMatchObject({ model: "p0/m0", content: "and again" });
  });

  test("only for failures in a row", async () => {
    const refused = failure("auth");
    const script = [refused, refused, "one", refused, refused, "two"];
    const { ask, asked } = setup([script, times(9, "stand-in")]);
    for (let request = 0; request < 5; request++) await ask();
    expect((await ask()).text).toBe("two");
    expect(asked.filter(({ model }) => model === "m0")).toHaveLength(6);
  });

  test.each(["badRequest", "contextOverflow", "contentFilter"] as const)(
    "for nothing that was wrong with the requests (%s)",
    async (kind) => {
      const { ask, asked } = setup([times(5, failure(kind)), ["never asked"]]);
      for (let request = 0; request < 5; request++) await ask();
      expect(asked.map(({ model }) => model)).toEqual(Array(5).fill("m0"));
    },
  );

  test("that cannot be opened", async () => {
    const { ask } = setup([[], times(9, "stand-in")], { broken: [0] });
    for (let request = 0; request < 3; request++) expect((await ask()).notices).toHaveLength(1);
    expect((await ask()).notices).toEqual([]);
  });
});

describe("createResilient() tells of an empty account", () => {
  const empty = failure("quota", { message: "no credit left" });
  const quotas = (notices: readonly { kind: string }[]) =>
    notices.filter(({ kind }) => kind === "quota").length;

  test("once, and again when it had answered in between", async () => {
    const { ask } = setup([[empty, empty, "credit again", empty], times(9, "stand-in")]);
    const first = await ask();
    expect(first.notices).toEqual([
      { kind: "quota", text: "no credit left; until you add credit there, p1/m1 answers." },
    ]);
    expect(quotas((await ask()).notices)).toBe(0);
    expect((await ask()).text).toBe("credit again");
    expect(quotas((await ask()).notices)).toBe(1);
  });

  test("in the failure alone when nobody else answers", async () => {
    const outcome = await setup([[empty]]).ask();
    expect(outcome.notices).toEqual([]);
    expect(errorOf(outcome)?.message).toBe("no credit left");
  });

  test("the next one who listens, when the first did not", async () => {
    const { resilient, ask } = setup([[empty, empty], times(9, "stand-in")]);
    await resilient.chat(
      { model: "m", messages: [], tools: [], toolChoice: "auto", maxTokens: 1 },
      { signal: new AbortController().signal, onDelta: () => {} },
    );
    expect(quotas((await ask()).notices)).toBe(1);
  });
});
