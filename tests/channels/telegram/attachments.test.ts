import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { PNG } from "../../fakes/images.ts";
import { until } from "../../fakes/until.ts";
import { createFixture, type Fixture, type FixtureOptions, passUntil } from "./fixture.ts";

const OGG = Buffer.from("OggS and some sound");
const MB = 1024 * 1024;

async function opened(options: FixtureOptions = {}): Promise<Fixture> {
  const fixture = await createFixture(options);
  await fixture.start();
  return fixture;
}

/** Until everything was taken, with as much time as that needs. */
function settled(fixture: Fixture): Promise<void> {
  return passUntil(fixture, () => fixture.emitted.length > 0 && fixture.server.updates.waiting.length === 0);
}

describe("start() fetches", () => {
  test("the largest size of a photo", async () => {
    const fixture = await opened();
    const { server, emitted } = fixture;
    const small = { ...server.file(new Uint8Array([1])), width: 90, height: 90 };
    const large = { ...server.file(PNG), width: 1280, height: 960 };
    const medium = { ...server.file(new Uint8Array([2])), width: 320, height: 240 };
    server.say(7, { photo: [small, large, medium], caption: "what is this" });
    await until(() => emitted.length === 1);
    const [message] = emitted;
    expect(message?.content).toBe("what is this");
    expect(message?.media).toEqual([
      { path: expect.stringContaining("/media/telegram/"), mime: "image/png" },
    ]);
    expect(readFileSync(message?.media[0]?.path ?? "")).toEqual(PNG);
    await fixture.close();
  });

  test("voice, audio, video, video notes, animations and documents, under the names that they have", async () => {
    const fixture = await opened();
    const { server, emitted } = fixture;
    const animation = server.file(Buffer.from("GIF89a and movement"), "cat.gif");
    const said = [
      { voice: server.file(OGG) },
      { audio: server.file(OGG, "song.ogg") },
      { video: server.file(OGG, "film.mp4") },
      { video_note: server.file(OGG) },
      { animation, document: animation },
      { document: server.file(Buffer.from("%PDF-1.7"), "bill/../../x.pdf") },
    ];
    for (const what of said) server.say(7, what);
    await until(() => emitted.length === said.length);
    expect(emitted.map(({ media }) => media.map(({ name }) => name))).toEqual([
      [undefined],
      ["song.ogg"],
      ["film.mp4"],
      [undefined],
      ["cat.gif"],
      ["x.pdf"],
    ]);
    expect(emitted.map(({ media }) => media[0]?.mime).slice(0, 2)).toEqual(["audio/ogg", "audio/ogg"]);
    expect(emitted.map(({ content }) => content)).toEqual(said.map(() => ""));
    await fixture.close();
  });

  test("nothing above the limit of the platform, tells so, handles the caption and goes on", async () => {
    const fixture = await opened();
    const { server, emitted } = fixture;
    const known = server.file(25 * MB, "film.mkv");
    const { file_size: _, ...untold } = server.file(25 * MB, 'my "big" film.mkv');
    server.say(7, { document: known, caption: "read this" });
    server.say(7, { document: untold, caption: "and this" });
    server.say(7, { video: server.file(20 * MB + 1) });
    server.say(7, "next");
    await until(() => emitted.length === 4);
    expect(emitted.map(({ content }) => content.split(". Tell")[0])).toEqual([
      `read this\n[document "film.mkv" was not downloaded: it is larger than 20 MB, the limit of Telegram's bot API`,
      `and this\n[document "my \\"big\\" film.mkv" was not downloaded: it is larger than 20 MB, the limit of Telegram's bot API`,
      "[video was not downloaded: it is larger than 20 MB, the limit of Telegram's bot API",
      "next",
    ]);
    expect(emitted.flatMap(({ media }) => media)).toEqual([]);
    const asked = server.calls.filter(({ method }) => method === "getFile");
    expect(asked).toHaveLength(1);
    await fixture.close();
  });

  test("no more than the limit of what is larger than it was said to be", async () => {
    const fixture = await opened();
    const { server, emitted } = fixture;
    const file = { ...server.file(new Uint8Array(20 * MB)), file_size: 5 };
    server.fail("download", { status: 200, body: "x".repeat(20 * MB + 1) });
    server.say(7, { document: file });
    await until(() => emitted.length === 1);
    expect(emitted[0]?.content).toContain("larger than 20 MB");
    await fixture.close();
  });

  test("again after trouble", async () => {
    const fixture = await opened();
    const { server, emitted } = fixture;
    server.fail("getFile", "drop");
    server.fail("download", { status: 500, body: "oops" });
    server.say(7, { photo: [{ ...server.file(PNG), width: 1, height: 1 }] });
    await settled(fixture);
    expect(emitted[0]?.media).toHaveLength(1);
    expect(emitted[0]?.content).toBe("");
    await fixture.close();
  });

  test("not for ever: the words beside the file are handled without it, and no log holds the token", async () => {
    const fixture = await opened();
    const { server, emitted, log } = fixture;
    server.fail("download", ...Array.from({ length: 3 }, () => ({ status: 502, body: "no" })));
    server.say(7, { photo: [{ ...server.file(PNG), width: 1, height: 1 }], caption: "look" });
    await settled(fixture);
    expect(emitted[0]).toMatchObject({ content: "look\n[photo: download failed]", media: [] });
    expect(log.lines.join("\n")).toContain("Could not fetch a file from Telegram");
    expect(log.lines.join("\n")).not.toContain(server.token);
    await fixture.close();
  });

  test("nothing twice for a message that could not be put at once", async () => {
    let attempts = 0;
    const fixture = await opened({
      ports: {
        async emit() {
          if (++attempts === 1) throw new Error("the disk is full");
          return true;
        },
      },
    });
    const { server } = fixture;
    server.say(7, { photo: [{ ...server.file(PNG), width: 1, height: 1 }] });
    await settled(fixture);
    expect(attempts).toBe(2);
    expect(server.calls.filter(({ method }) => method === "download")).toHaveLength(1);
    await fixture.close();
  });

  test("an empty file as one that did not come", async () => {
    const fixture = await opened();
    const { server, emitted } = fixture;
    server.say(7, { document: server.file(new Uint8Array(), "empty.txt"), caption: "see" });
    await until(() => emitted.length === 1);
    expect(emitted[0]?.content).toBe('see\n[document "empty.txt": download failed]');
    await fixture.close();
  });

  test("for one chat while others go on", async () => {
    const fixture = await opened();
    const { server, emitted, clock } = fixture;
    const held = Promise.withResolvers<void>();
    server.fail("download", { until: held.promise });
    server.say(7, { photo: [{ ...server.file(PNG), width: 1, height: 1 }] });
    await server.called("download", 1);
    server.say(7, "behind the photo");
    server.say(8, "hello");
    await clock.whenPending(1);
    await clock.advance(600);
    await until(() => emitted.length === 1);
    expect(emitted[0]?.content).toBe("hello");
    // What came before it is not safe yet.
    expect(server.updates.waiting).toHaveLength(3);
    held.resolve();
    await until(() => emitted.length === 3);
    await clock.advance(600);
    await until(() => server.updates.waiting.length === 0);
    expect(emitted.map(({ content }) => content)).toEqual(["hello", "", "behind the photo"]);
    await fixture.close();
  });
});
