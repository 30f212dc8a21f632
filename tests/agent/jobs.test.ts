import { describe, expect, test } from "bun:test";
import { createJobs, type Job } from "../../src/agent/jobs.ts";
import type { InboundDelivery } from "../../src/core/bus.ts";
import type { InboundId } from "../../src/core/messages.ts";
import { inboundMessage } from "../fakes/messages.ts";

function setUp() {
  const jobs = createJobs();
  const done: string[] = [];
  const delivery = (id: string, isRedelivered = false): InboundDelivery => ({
    message: inboundMessage({ id }),
    isRedelivered,
    done: async () => void done.push(id),
    resume: async () => 1,
  });
  const add = (id: string, isRedelivered = false): Job => {
    const job = jobs.add(delivery(id, isRedelivered));
    if (typeof job === "string") throw new Error(`${id} ${job}`);
    return job;
  };
  return { jobs, done, delivery, add };
}

const all = () => true;
const idsOf = (messages: readonly { readonly id: string }[]) => messages.map(({ id }) => id);

describe("createJobs()", () => {
  test("join() takes what waits, in order, up to the first that may not", () => {
    const { jobs, add } = setUp();
    const first = add("1");
    for (const id of ["2", "3", "4"]) add(id);
    expect(idsOf(jobs.join(first, ({ id }) => id !== "4"))).toEqual(["2", "3"]);
    expect(jobs.of("cli:direct").map(({ delivery }) => delivery.message.id as string)).toEqual(["1", "4"]);
    expect(idsOf(jobs.join(first, all))).toEqual(["4"]);
    expect(jobs.join(first, all)).toEqual([]);
  });

  test("join() stops at a place that is held, until it is given up", () => {
    const { jobs, add } = setUp();
    const first = add("1");
    const release = jobs.hold("cli:direct");
    add("2");
    expect(jobs.join(first, all)).toEqual([]);
    release();
    expect(idsOf(jobs.join(first, all))).toEqual(["2"]);
  });

  test("join() stops at what a command has taken", () => {
    const { jobs, add } = setUp();
    const first = add("1");
    add("2").isTaken = true;
    add("3");
    expect(jobs.join(first, all)).toEqual([]);
  });

  test("rejoin() takes what waits, and what is handed out later", async () => {
    const { jobs, add, delivery, done } = setUp();
    const first = add("1", true);
    add("2", true);
    jobs.rejoin(first, ["2", "3", "4"] as InboundId[]);
    expect(jobs.add(delivery("3", true))).toBe("joined");
    await jobs.finish(first);
    expect(done.sort()).toEqual(["1", "2", "3"]);
    jobs.remove(first);
    expect(jobs.add(delivery("4", true))).toBe("answered");
    // Only once: what comes under that id later is news.
    expect(jobs.add(delivery("4", true))).not.toBe("answered");
  });

  test("keeps nothing of a session whose jobs are gone", () => {
    const { jobs, add } = setUp();
    const first = add("1");
    add("2");
    const release = jobs.hold("cli:direct");
    jobs.join(first, all);
    jobs.remove(first);
    release();
    expect(jobs.all()).toEqual([]);
    expect(jobs.of("cli:direct")).toEqual([]);
  });
});
