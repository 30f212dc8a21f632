import { expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { extensionFor, imageType, mediaType } from "../../src/lib/image-type.ts";
import { GIF, JPEG, PNG, WEBP } from "../fakes/images.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");

const images = [
  ["image/png", PNG, 29],
  ["image/jpeg", JPEG, 6],
  ["image/gif", GIF, 13],
  ["image/webp", WEBP, 20],
] as const;

for (const [mime, bytes, header] of images) {
  test(`imageType() knows ${mime} by its bytes`, () => {
    expect(imageType(bytes)).toBe(mime);
    expect(mediaType(bytes)).toBe(mime);
  });

  test(`imageType() refuses ${mime} that ends within its header`, () => {
    expect(imageType(bytes.subarray(0, header))).toBe(mime);
    for (let length = 0; length < header; length++) {
      expect(imageType(bytes.subarray(0, length))).toBeUndefined();
    }
  });
}

for (const [what, bytes] of [
  ["nothing", latin1("")],
  ["text that speaks of one", latin1("PNG IHDR GIF89a RIFF WEBP")],
  ["a signature after a space", Buffer.concat([latin1(" "), PNG])],
  ["a PNG spoilt by a text transfer", latin1(PNG.toString("latin1").replaceAll("\r\n", "\n"))],
  ["a WAVE file", latin1("RIFF\x24\0\0\0WAVEfmt \x10\0\0\0")],
  ["SVG", latin1('<svg xmlns="http://www.w3.org/2000/svg"></svg>')],
  ["two bytes of JPEG and no marker", latin1("\xff\xd8\xff\0\0\0\0\0")],
] as const) {
  test(`imageType() takes ${what} for no image`, () => {
    expect(imageType(bytes)).toBeUndefined();
  });
}

test("imageType() looks at the bytes it was given and not at those beside them", () => {
  const both = Buffer.concat([latin1("xx"), PNG]);
  expect(imageType(new Uint8Array(both.buffer, both.byteOffset + 2, PNG.length))).toBe("image/png");
  expect(imageType(both)).toBeUndefined();
});

for (const [mime, bytes] of [
  ["application/pdf", latin1("%PDF-1.7\n")],
  ["audio/ogg", latin1("OggS\0\x02")],
  ["audio/mpeg", latin1("ID3\x04\0")],
  ["audio/mpeg", latin1("\xff\xfb\x90\x64")],
  ["audio/flac", latin1("fLaC\0")],
  ["audio/wav", latin1("RIFF\x24\0\0\0WAVEfmt ")],
  ["audio/mp4", latin1("\0\0\0\x20ftypM4A \0")],
  ["image/heic", latin1("\0\0\0\x20ftypheic\0")],
  ["image/avif", latin1("\0\0\0\x20ftypavif\0")],
  ["video/quicktime", latin1("\0\0\0\x20ftypqt  \0")],
  ["video/mp4", latin1("\0\0\0\x20ftypisom\0")],
  ["video/webm", latin1("\x1aE\xdf\xa3\x9f")],
  ["application/gzip", latin1("\x1f\x8b\x08")],
  ["application/zip", latin1("PK\x03\x04\x14\0")],
  ["application/zip", latin1(`PK\x05\x06${"\0".repeat(18)}`)],
  [
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    latin1("PK\x03\x04\x14\0[Content_Types].xml … word/document.xml"),
  ],
  ["text/plain", Buffer.from("Grüße 🐈\n")],
  ["application/octet-stream", latin1("Gr\xfc\xdfe\n")],
  ["application/octet-stream", latin1("text\0and a NUL")],
] as const) {
  test(`mediaType() takes ${JSON.stringify(bytes.toString("latin1").slice(0, 20))} for ${mime}`, () => {
    expect(mediaType(bytes)).toBe(mime);
  });
}

test("mediaType() has an answer for any bytes, and extensionFor() for any answer", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      const mime = mediaType(bytes);
      expect(mime).toMatch(/^[a-z]+\/[a-z0-9.-]+$/);
      expect(extensionFor(mime)).toMatch(/^\.[a-z0-9]+$/);
      expect(imageType(bytes) ?? mime).toBe(mime);
    }),
  );
});

test("extensionFor() calls what it does not know a binary", () => {
  expect(["image/png", "toString", ""].map(extensionFor)).toEqual([".png", ".bin", ".bin"]);
});
