import { expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { imageDefect } from "../../src/lib/image-defect.ts";
import { imageType } from "../../src/lib/image-type.ts";
import { GIF, JPEG, PNG, WEBP } from "../fakes/images.ts";

/** A copy with `bytes` from `at` on. */
function patched(image: Buffer, at: number, ...bytes: number[]): Buffer {
  const copy = Buffer.from(image);
  copy.set(bytes, at);
  return copy;
}

const frame = JPEG.indexOf(Buffer.of(0xff, 0xc9));
const images = [
  ["image/png", PNG, (size: number) => patched(PNG, 16, 0, 0, size >> 8, size & 0xff)],
  ["image/gif", GIF, (size: number) => patched(GIF, 8, size & 0xff, size >> 8)],
  ["image/jpeg", JPEG, (size: number) => patched(JPEG, frame + 7, size >> 8, size & 0xff)],
  ["image/webp", WEBP, (size: number) => patched(WEBP, 26, size & 0xff, size >> 8)],
] as const;

for (const [mime, image, withSide] of images) {
  test(`imageDefect() finds nothing wrong with ${mime} up to 8,000 pixels a side`, () => {
    expect(imageDefect(image, mime)).toBeUndefined();
    expect(imageDefect(Buffer.concat([image, Buffer.alloc(9)]), mime)).toBeUndefined();
    expect(imageDefect(withSide(8_000), mime)).toBeUndefined();
  });

  test(`imageDefect() tells the size of ${mime} that is too large`, () => {
    expect(imageDefect(withSide(8_001), mime)).toMatch(/ 8001 x 1 pixels| 1 x 8001 pixels/);
  });

  test(`imageDefect() says that ${mime} has no pixels`, () => {
    expect(imageDefect(withSide(0), mime)).toContain("no pixels");
  });

  test(`imageDefect() has an answer for ${mime} with any bytes behind its header`, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(30), (noise, kept) => {
        const bytes = Buffer.concat([image.subarray(0, kept), noise]);
        if (imageType(bytes) === mime) imageDefect(bytes, mime);
      }),
      { numRuns: 1_000 },
    );
  });
}

test.each([
  ["image/png", PNG],
  ["image/jpeg", JPEG],
  ["image/webp", WEBP],
] as const)("imageDefect() says that %s breaks off", (mime, image) => {
  expect(imageDefect(image.subarray(0, image.length - 9), mime)).toContain("its end is missing");
});

test("imageDefect() takes the end of a picture within a JPEG for no end", () => {
  const note = Buffer.concat([Buffer.of(0xff, 0xe1, 0, 4), Buffer.of(0xff, 0xd9)]);
  const both = Buffer.concat([JPEG.subarray(0, 2), note, JPEG.subarray(2)]);
  expect(imageDefect(both, "image/jpeg")).toBeUndefined();
  expect(imageDefect(both.subarray(0, -2), "image/jpeg")).toContain("its end is missing");
});

test("imageDefect() reads the size of every form of WebP", () => {
  const of = (form: string, ...size: number[]) => {
    const image = Buffer.alloc(40);
    image.write("RIFF\x20\0\0\0WEBP", "latin1");
    image.write(form, 12, "latin1");
    image.set(size, form === "VP8X" ? 24 : 21);
    return image;
  };
  expect(imageDefect(of("VP8X", 0x3f, 0x1f, 0, 0x3f, 0x1f, 0), "image/webp")).toBeUndefined();
  expect(imageDefect(of("VP8X", 0x3f, 0x1f, 0, 0x40, 0x1f, 0), "image/webp")).toContain("8000 x 8001 pixels");
  expect(imageDefect(of("VP8L", 0x40, 0x1f, 0, 0), "image/webp")).toContain("8001 x 1 pixels");
});
