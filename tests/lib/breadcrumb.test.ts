import { expect, test } from "bun:test";
import fc from "fast-check";
import { breadcrumb } from "../../src/lib/breadcrumb.ts";

for (const [entry, expected] of [
  [{ path: "/ws/media/cli/0a.png", mime: "image/png" }, "[image: media/cli/0a.png]"],
  [{ path: "C:\\ws\\media\\cli\\0a.gif", mime: "image/gif" }, "[image: media/cli/0a.gif]"],
  [{ path: "/ws/media/media/0a.png", mime: "image/png" }, "[image: media/media/0a.png]"],
  [{ path: "/media/disk/ws/media/cli/0a.png", mime: "image/png" }, "[image: media/cli/0a.png]"],
  [{ path: "/ws/media/cli/0a.pdf", mime: "application/pdf" }, "[file: media/cli/0a.pdf, application/pdf]"],
  [{ path: "/ws/media/cli/0a.heic", mime: "image/heic" }, "[file: media/cli/0a.heic, image/heic]"],
  [{ path: "/elsewhere/a.png", mime: "image/png" }, "[image: /elsewhere/a.png]"],
  ["/root/.nanobot/media/telegram/a.JPG", "[image: /root/.nanobot/media/telegram/a.JPG]"],
  ["/root/.nanobot/media/telegram/a.pdf", "[file: /root/.nanobot/media/telegram/a.pdf]"],
] as const) {
  test(`breadcrumb() names ${JSON.stringify(entry)} as ${expected}`, () => {
    expect(breadcrumb(entry)).toBe(expected);
  });
}

test("breadcrumb() is one well-formed line without controls, whatever the path holds", () => {
  const text = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)), maxLength: 50 });
  fc.assert(
    fc.property(text, text, (path, mime) => {
      for (const crumb of [breadcrumb(path), breadcrumb({ path, mime })]) {
        expect(crumb).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
        expect(crumb.isWellFormed()).toBe(true);
        expect(crumb).toMatch(/^\[(image|file): [^\n]*\]$/);
      }
    }),
  );
  expect(breadcrumb("x".repeat(5_000)).length).toBeLessThan(1_100);
});
