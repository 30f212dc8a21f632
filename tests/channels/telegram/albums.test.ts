import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAlbums, type Parts } from "../../../src/channels/telegram/albums.ts";
import { createFakeClock } from "../../fakes/clock.ts";
import { PNG } from "../../fakes/images.ts";
import type { TelegramServer } from "../../fakes/telegram-server.ts";
import { until } from "../../fakes/until.ts";
import { createFixture, type Fixture, type FixtureOptions, passUntil } from "./fixture.ts";

const ALBUM = "4242";

function picture(server: TelegramServer, rest: Readonly<Record<string, unknown>> = {}) {
  const file = server.file(
    Buffer.concat([PNG, Buffer.from([server.calls.length % 250, Math.floor(performance.now()) % 250])]),
  );
  return { photo: [{ ...file, width: 10, height: 10 }], media_group_id: ALBUM, ...rest };
}

async function opened(options: FixtureOptions = {}): Promise<Fixture> {
  const fixture = await createFixture(options);
  await fixture.start();
  return fixture;
}

const isTaken = ({ server }: Fixture) => server.updates.waiting.length === 0;

const shelved = ({ workspace }: Fixture) => {
  try {
    return readdirSync(join(workspace, ".nanobot/telegram-albums"));
  } catch {
    return [];
  }
};

for (const mode of ["polling", "webhook"]) {
  describe(`start() by ${mode} makes an album`, () => {
    test("one message with all its pictures, where the first one came", async () => {
      const fixture = await opened({ config: { mode } });
      const { server, emitted } = fixture;
      server.say(7, picture(server, { caption: "my holidays" }));
      server.say(7, picture(server));
      server.say(7, picture(server));
      server.say(7, "and now?");
      // Pushed one by one, which takes real time.
      if (mode === "webhook") await until(() => shelved(fixture).length === 3);
      await passUntil(fixture, () => emitted.length === 2 && isTaken(fixture));
      expect(emitted[0]).toMatchObject({ id: `telegram:album:7:${ALBUM}`, content: "my holidays" });
      expect(emitted[0]?.media).toHaveLength(3);
      expect(emitted[1]?.content).toBe("and now?");
      await until(() => shelved(fixture).length === 0);
      await fixture.close();
    });

    test("at once when it has ten", async () => {
      const fixture = await opened({ config: { mode } });
      const { server, emitted } = fixture;
      for (let index = 0; index < 10; index++) server.say(7, picture(server));
      await until(() => emitted.length === 1);
      expect(emitted[0]?.media).toHaveLength(10);
      await fixture.close();
    });

    test("addressed when one of its pictures is", async () => {
      const ports: FixtureOptions["ports"] = { admit: async ({ isAddressed }) => isAddressed };
      const fixture = await opened({ config: { mode }, ports });
      const { server, emitted } = fixture;
      server.say(-100, picture(server));
      server.say(-100, picture(server, { caption: "@ourbot look" }));
      await passUntil(fixture, () => emitted.length === 1 && isTaken(fixture));
      expect(emitted[0]?.media).toHaveLength(2);
      server.say(-100, { ...picture(server), media_group_id: "other" });
      await passUntil(fixture, () => isTaken(fixture) && shelved(fixture).length === 0);
      expect(emitted).toHaveLength(1);
      await fixture.close();
    });

    test("nothing of somebody who is not listened to", async () => {
      const fixture = await opened({ config: { mode }, ports: { admit: async () => false } });
      const { server, emitted } = fixture;
      server.say(7, picture(server));
      server.say(7, picture(server));
      await passUntil(fixture, () => isTaken(fixture));
      expect(emitted).toEqual([]);
      expect(shelved(fixture)).toEqual([]);
      expect(server.calls.map(({ method }) => method)).not.toContain("getFile");
      await fixture.close();
    });

    test("whole again after a restart before it was put, and answers it once", async () => {
      let isBroken = true;
      let attempts = 0;
      const seen = new Set<string>();
      const ports: FixtureOptions["ports"] = {
        async emit({ id }) {
          attempts++;
          if (isBroken) throw new Error("the disk is full");
          const isNew = !seen.has(id);
          seen.add(id);
          return isNew;
        },
      };
      const first = await opened({ config: { mode }, ports });
      const { server, workspace } = first;
      server.say(7, picture(server, { caption: "look" }));
      server.say(7, picture(server));
      await passUntil(first, () => attempts > 0);
      await first.stop();
      isBroken = false;
      const second = await opened({ config: { mode }, ports, server, workspace });
      await passUntil(second, () => second.emitted.length === 1 && isTaken(second));
      expect(second.emitted[0]).toMatchObject({ id: `telegram:album:7:${ALBUM}`, content: "look" });
      expect(second.emitted[0]?.media).toHaveLength(2);
      await until(() => shelved(second).length === 0);
      await second.close();
      await first.close();
    });

    test("known again when its parts come again", async () => {
      const fixture = await opened({ config: { mode } });
      const { server, emitted, workspace } = fixture;
      const parts = [server.say(7, picture(server)), server.say(7, picture(server))];
      await passUntil(fixture, () => emitted.length === 1 && isTaken(fixture));
      await fixture.stop();
      const seen = new Set(emitted.map(({ id }) => id as string));
      const again = await opened({
        config: { mode },
        server,
        workspace,
        ports: { emit: async ({ id }) => !seen.has(id) },
      });
      server.updates.offerAgain(parts.map(({ updateId = 0 }) => updateId));
      await passUntil(again, () => isTaken(again) && shelved(again).length === 0);
      expect(again.emitted).toEqual([]);
      await again.close();
      await fixture.close();
    });

    test("a message of its own of a picture that comes too late", async () => {
      const fixture = await opened({ config: { mode } });
      const { server, emitted } = fixture;
      server.say(-100, picture(server, { caption: "@ourbot look" }));
      await passUntil(fixture, () => emitted.length === 1 && isTaken(fixture));
      const { updateId } = server.say(-100, picture(server));
      await until(() => emitted.length === 2);
      expect(emitted[1]?.id as string).toBe(`telegram:update:${updateId}`);
      expect(fixture.senders.at(-1)?.isAddressed).toBe(true);
      await fixture.close();
    });
  });
}

describe("start() by polling", () => {
  test("confirms no part of an album before the album is put", async () => {
    const fixture = await opened();
    const { server, emitted } = fixture;
    server.say(7, picture(server));
    server.say(8, "hello");
    await until(() => emitted.length === 1);
    const asked = server.updates.offsets.length;
    await passUntil(fixture, () => server.updates.offsets.length > asked);
    expect(server.updates.waiting).toHaveLength(2);
    await passUntil(fixture, () => emitted.length === 2 && isTaken(fixture));
    await fixture.close();
  });
});

describe("stop()", () => {
  test("does not wait until an album is whole, which is kept", async () => {
    const fixture = await opened();
    const { server, emitted } = fixture;
    server.say(7, picture(server));
    server.say(8, "hello");
    await until(() => emitted.length === 1);
    await fixture.stop();
    expect(server.updates.waiting).toHaveLength(2);
    await fixture.start();
    await passUntil(fixture, () => emitted.some(({ id }) => id === `telegram:album:7:${ALBUM}`));
    await fixture.close();
  });
});

describe("start() by webhook", () => {
  test("takes up an album of an earlier run beside parts that cannot be read", async () => {
    let isBroken = true;
    const ports: FixtureOptions["ports"] = {
      async emit() {
        if (isBroken) throw new Error("the disk is full");
        return true;
      },
    };
    const first = await opened({ config: { mode: "webhook" }, ports });
    const { server, workspace } = first;
    server.say(7, picture(server, { caption: "look" }));
    await until(() => isTaken(first) && shelved(first).length === 1);
    await first.stop();
    const shelf = join(workspace, ".nanobot/telegram-albums");
    mkdirSync(join(shelf, "5.json"));
    writeFileSync(join(shelf, "6.json"), "{");
    isBroken = false;
    const second = await opened({ config: { mode: "webhook" }, ports, server, workspace });
    await passUntil(second, () => second.emitted.length === 1);
    expect(second.emitted[0]?.content).toBe("look");
    await second.close();
    await first.close();
  });

  test("acknowledges a part of an album only when it is on disk", async () => {
    let isBroken = true;
    const fixture = await createFixture({
      config: { mode: "webhook" },
      files: {
        async makeFolder() {
          if (isBroken) throw new Error("the disk is full");
        },
      },
    });
    await fixture.start();
    const { server } = fixture;
    server.say(7, picture(server));
    await until(() => server.updates.deliveries.length > 0);
    expect(server.updates.deliveries[0]?.status).toBe(503);
    expect(server.updates.waiting).toHaveLength(1);
    isBroken = false;
    await fixture.close();
  });
});

describe("createAlbums()", () => {
  test("delivers one album once, however often its parts come", async () => {
    const clock = createFakeClock();
    const albums = createAlbums(clock, (part: string) => part);
    const delivered: Parts<string>[] = [];
    const deliver = async (parts: Promise<Parts<string>>) => void delivered.push(await parts);
    const outcomes = [
      albums.add("a", 1, "one", deliver),
      albums.add("a", 2, "two", deliver),
      albums.add("a", 1, "one", deliver),
      albums.add("b", 3, "other", deliver),
    ];
    await clock.advance(1_000);
    expect(await Promise.all(outcomes)).toEqual(["delivered", "delivered", "delivered", "delivered"]);
    expect(delivered.map((parts) => [...parts.values()])).toEqual([["one", "two"], ["other"]]);
    expect(await albums.add("a", 2, "two", deliver)).toBe("delivered");
    expect(await albums.add("a", 9, "nine", deliver)).toBe("late");
    expect(clock.pending).toBe(0);
  });

  test("begins anew when it could not be delivered", async () => {
    const clock = createFakeClock();
    const albums = createAlbums(clock, (part: string) => part);
    const failing = albums.add("a", 1, "one", async (parts) => {
      await parts;
      throw new Error("no");
    });
    failing.catch(() => {});
    await clock.advance(1_000);
    await expect(failing).rejects.toThrow("no");
    let size = 0;
    const again = albums.add("a", 1, "one", async (parts) => {
      size = (await parts).size;
    });
    await clock.advance(1_000);
    expect(await again).toBe("delivered");
    expect(size).toBe(1);
  });

  test("gathers a bounded number at once", async () => {
    const clock = createFakeClock();
    const albums = createAlbums(clock, (part: string) => part);
    const deliver = async (parts: Promise<Parts<string>>) => void (await parts);
    const taken = Array.from({ length: 100 }, (_, index) => albums.add(`a${index}`, index, "x", deliver));
    await expect(albums.add("more", 1_000, "x", deliver)).rejects.toThrow("at once");
    await clock.advance(1_000);
    await Promise.all(taken);
  });
});
