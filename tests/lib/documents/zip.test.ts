import { expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import { zipSync } from "fflate";
import { openArchive } from "../../../src/lib/documents/zip.ts";
import { makeZip } from "../../fakes/documents.ts";

const ENTRY = Buffer.from("PK\x01\x02", "latin1");

/** `change` is given the archive and where the entry of its first member begins in the table of contents. */
function changed(bytes: Uint8Array<ArrayBuffer>, change: (view: DataView, entry: number) => void) {
  change(new DataView(bytes.buffer), Buffer.from(bytes.buffer).indexOf(ENTRY));
  return bytes;
}

async function read(bytes: Uint8Array<ArrayBuffer>, name = "a"): Promise<string> {
  return Buffer.concat([...(await openArchive(bytes)).read(name)]).toString();
}

const long = "nanobot ".repeat(10_000);

test.each([
  { packed: "stored", level: 0 },
  { packed: "deflated", level: 6 },
] as const)("openArchive() reads a member that is $packed", async ({ level }) => {
  const bytes = zipSync(
    { a: Buffer.from(long), "folder/b": Buffer.from("b") },
    { level, comment: "with a comment" },
  );
  expect(await read(bytes)).toBe(long);
  expect(await read(bytes, "folder/b")).toBe("b");
});

test("openArchive() reads nothing of a member that is not there", async () => {
  const archive = await openArchive(makeZip({ a: "a" }));
  expect(archive.has("a")).toBe(true);
  expect(archive.has("b")).toBe(false);
  expect([...archive.read("b")]).toEqual([]);
});

test("openArchive() reads a member without anything in it", async () => {
  expect(await read(zipSync({ a: new Uint8Array(0) }))).toBe("");
});

test("openArchive() refuses members that claim to be larger than may be", async () => {
  const bytes = changed(makeZip({ a: long, b: "b" }), (view, entry) =>
    view.setUint32(entry + 24, 256 * 1024 * 1024, true),
  );
  await expect(openArchive(bytes)).rejects.toThrow(
    "unpacked it has 268435457 bytes, and the most is 268435456",
  );
});

test("openArchive() stops a member that is larger than it claims to be, before all of it is there", async () => {
  const bytes = changed(zipSync({ a: new Uint8Array(8 * 1024 * 1024) }), (view, entry) =>
    view.setUint32(entry + 24, 5_000_000, true),
  );
  const archive = await openArchive(bytes);
  let given = 0;
  const readAll = () => {
    for (const piece of archive.read("a")) given += piece.length;
  };
  expect(readAll).toThrow("it is damaged (a file in it is larger than it says)");
  expect(given).toBeLessThanOrEqual(5_000_000);
});

test("openArchive() does not read a member again and again", async () => {
  const archive = await openArchive(zipSync({ a: new Uint8Array(64 * 1024 * 1024) }, { level: 0 }));
  const readOnce = () => [...archive.read("a")].length;
  for (let time = 0; time < 4; time++) readOnce();
  expect(readOnce).toThrow("it is damaged (the same files in it are meant too often)");
});

test("openArchive() refuses more than 10,000 members", async () => {
  const members = Object.fromEntries(
    Array.from({ length: 10_001 }, (_, index) => [`${index}`, new Uint8Array(0)]),
  );
  await expect(openArchive(zipSync(members, { level: 0 }))).rejects.toThrow(
    "it has 10001 files in it, and the most is 10000",
  );
});

test("openArchive() refuses to read what is encrypted", async () => {
  const bytes = changed(makeZip({ a: "a" }), (view, entry) => view.setUint16(entry + 8, 1, true));
  await expect(read(bytes)).rejects.toThrow("it is encrypted; a password is needed to read it");
});

test("openArchive() names a method that it does not know", async () => {
  const bytes = changed(makeZip({ a: "a" }), (view, entry) => view.setUint16(entry + 10, 93, true));
  await expect(read(bytes)).rejects.toThrow("it is packed in a way that cannot be read here (method 93)");
});

test.each([
  { what: "no table of contents", change: (bytes: Uint8Array) => bytes.slice(0, -30) },
  { what: "only a beginning", change: (bytes: Uint8Array) => bytes.slice(0, 3) },
])("openArchive() says of an archive with $what that it is damaged", async ({ change }) => {
  const bytes = change(makeZip({ a: long }));
  await expect(openArchive(new Uint8Array(bytes))).rejects.toThrow(
    "it is damaged (its table of contents is missing)",
  );
});

test.each([
  { what: "a table of contents elsewhere", at: 0, value: 7, reason: "its table of contents is broken" },
  { what: "a member beyond the end", at: 42, value: 0x7fffffff, reason: "a part of it is missing" },
  { what: "a member that is elsewhere", at: 42, value: 5, reason: "a file in it is not where it should be" },
  { what: "a member longer than the archive", at: 20, value: 0xffff, reason: "its end is missing" },
])("openArchive() says of an archive with $what that it is damaged", async ({ at, value, reason }) => {
  const bytes = changed(makeZip({ a: long }), (view, entry) => view.setUint32(entry + at, value, true));
  await expect(read(bytes)).rejects.toThrow(`it is damaged (${reason})`);
});

test("openArchive() says of a member that does not inflate that it is damaged", async () => {
  const bytes = changed(makeZip({ a: long }), (view) => view.setUint32(31, 0xffffffff, true));
  await expect(read(bytes)).rejects.toThrow("it is damaged (a file in it cannot be unpacked)");
});

test("openArchive() takes a size of 64 bits", async () => {
  const plain = makeZip({ a: long });
  const entry = Buffer.from(plain).indexOf(ENTRY);
  const nameEnd = entry + 46 + 1;
  const extra = Buffer.alloc(12);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(8, 2);
  extra.writeBigUInt64LE(BigInt(long.length), 4);
  const bytes = new Uint8Array(Buffer.concat([plain.subarray(0, nameEnd), extra, plain.subarray(nameEnd)]));
  const view = new DataView(bytes.buffer);
  view.setUint16(entry + 30, extra.length, true);
  view.setUint32(entry + 24, 0xffffffff, true);
  expect(await read(bytes)).toBe(long);
});
