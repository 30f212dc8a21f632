import { expect, test } from "bun:test";
import { percentile } from "../../scripts/lib/bench/gateway-load.ts";
import { isComplaint } from "../../scripts/lib/crash/gateway.ts";
import { judgeSamples, takeSample } from "../../scripts/lib/crash/process-samples.ts";
import { createRandom } from "../../scripts/lib/crash/random.ts";
import { tempFolder } from "../fakes/temp.ts";

function samples(values: readonly Partial<{ pss: number; files: number }>[]) {
  return values.map((value, index) => ({
    seconds: index,
    pss: 50,
    rss: 60,
    files: 20,
    threads: 8,
    disk: 1,
    ...value,
  }));
}

test("judgeSamples() lets a program warm up, and breathe", () => {
  const memory = [20, 30, 50, 50, 52, 51, 55, 54].map((pss) => ({ pss }));
  expect(judgeSamples(samples(memory), 1.15)).toEqual([]);
});

test("judgeSamples() finds memory and files that grow", () => {
  const memory = [50, 50, 50, 50, 54, 56, 60, 62].map((pss) => ({ pss }));
  expect(judgeSamples(samples(memory), 1.15)).toEqual(["memory grew from 50.0 to 61.0 MB"]);
  expect(judgeSamples(samples(memory), 1.3)).toEqual([]);
  const files = [20, 22, 25, 25, 30, 34, 38, 42].map((count) => ({ files: count }));
  expect(judgeSamples(samples(files), 1.15)).toEqual(["open files grew from 25 to 40"]);
});

test("judgeSamples() does not judge by too few", () => {
  expect(judgeSamples(samples([{}, {}, {}]), 1.15)).toEqual(["3 samples are too few to judge by"]);
});

test.skipIf(process.platform !== "linux")("takeSample() reads what this process takes", () => {
  const sample = takeSample(process.pid, tempFolder(), 3);
  expect(sample).toMatchObject({ seconds: 3, disk: 0 });
  for (const value of [sample.pss, sample.rss, sample.files, sample.threads])
    expect(value).toBeGreaterThan(0);
});

test("isComplaint() knows errors and what nobody caught", () => {
  expect(isComplaint("2026-01-01T00:00:00.000Z ERROR Turn could not be ended turn=1")).toBe(true);
  expect(isComplaint("error: Unhandled rejection")).toBe(true);
  expect(isComplaint("2026-01-01T00:00:00.000Z WARN Waits for the model error=timeout")).toBe(false);
});

test("percentile() is the value that this part of them is not above", () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(values, 0.99)).toBe(99);
  expect(percentile([5], 0.99)).toBe(5);
  expect(percentile([], 0.99)).toBeNaN();
});

test("createRandom() makes the same choices for the same seed and purpose, and others for others", () => {
  const choices = (seed: number, purpose: string) => {
    const random = createRandom(seed, purpose);
    return Array.from({ length: 8 }, () => random.between(1, 1_000)).join();
  };
  expect(choices(1, "kills")).toBe(choices(1, "kills"));
  expect(choices(1, "kills")).not.toBe(choices(1, "traffic"));
  expect(choices(1, "kills")).not.toBe(choices(2, "kills"));
});
