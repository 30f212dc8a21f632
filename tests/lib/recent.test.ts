import { describe, expect, test } from "bun:test";
import { createRecent, promiseOf } from "../../src/lib/recent.ts";

describe("createRecent()", () => {
  test("makes a value once for each key", () => {
    const recent = createRecent<object>({ most: 9 });
    const value = recent.of("a", () => ({}));
    expect(recent.of("a", () => ({}))).toBe(value);
    expect(recent.of("b", () => ({}))).not.toBe(value);
  });

  test("makes a value that is undefined once too", () => {
    const recent = createRecent<undefined>({ most: 9 });
    let made = 0;
    for (let time = 0; time < 2; time++) recent.of("a", () => void made++);
    expect(made).toBe(1);
  });

  test("forgets the key that was not asked for for longest", () => {
    const recent = createRecent<string>({ most: 2 });
    recent.of("a", () => "first");
    recent.of("b", () => "first");
    recent.of("a", () => "again");
    recent.of("c", () => "first");
    expect(recent.of("a", () => "again")).toBe("first");
    expect(recent.of("b", () => "again")).toBe("again");
  });

  test("never forgets the pinned key for others", () => {
    const recent = createRecent<string>({ most: 2, pinned: "a" });
    for (const key of ["a", "b", "c", "d", "e"]) recent.of(key, () => "first");
    expect(recent.of("a", () => "again")).toBe("first");
    expect(recent.of("e", () => "again")).toBe("first");
    expect(recent.of("d", () => "again")).toBe("again");
  });

  test("drops a value, but none that has taken its place", () => {
    const recent = createRecent<string>({ most: 2 });
    recent.of("a", () => "second");
    recent.drop("a", "first");
    expect(recent.of("a", () => "third")).toBe("second");
    recent.drop("a", "second");
    expect(recent.of("a", () => "third")).toBe("third");
  });
});

describe("promiseOf()", () => {
  test("gives all who ask the same promise, and forgets one that was rejected", async () => {
    const recent = createRecent<Promise<string>>({ most: 2 });
    const fail = () => Promise.reject(new Error("not yet"));
    const first = promiseOf(recent, "a", fail);
    expect(promiseOf(recent, "a", async () => "unused")).toBe(first);
    await expect(first).rejects.toThrow("not yet");
    const second = promiseOf(recent, "a", async () => "there");
    expect(await second).toBe("there");
    expect(promiseOf(recent, "a", fail)).toBe(second);
  });
});
