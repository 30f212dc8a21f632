import { expect, test } from "bun:test";
import fc from "fast-check";
import { judgeAddress, parseWhitelist } from "../../src/lib/address.ts";

const isAllowed = (address: string, whitelist: readonly string[] = []) =>
  judgeAddress(address, parseWhitelist(whitelist)).ok;

test.each([
  ["127.0.0.1", "127.0.0.1 is a loopback address"],
  ["::ffff:10.0.0.1", "10.0.0.1 is a private address"],
  ["169.254.169.254", "169.254.169.254 is a link-local address"],
  ["100.64.0.1", "100.64.0.1 is a shared address of a carrier"],
  ["168.63.129.16", "168.63.129.16 is a metadata address of a cloud"],
  ["::7f00:1", "::7f00:1 is a reserved address"],
  ["::8.8.8.8", "::808:808 is a reserved address"],
  ["64:ff9b::8.8.8.8", "64:ff9b::808:808 is a translated IPv4 address"],
  ["fe80::1%eth0", "fe80::1%eth0 is a link-local address"],
  ["2002:7f00:1::", "2002:7f00:1:: is a translated IPv4 address"],
  ["198.18.0.1", "198.18.0.1 is a reserved address"],
])("judgeAddress() says what %s is", (address, reason) => {
  expect(judgeAddress(address)).toEqual({ ok: false, reason });
});

test.each(["8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8"])(
  "judgeAddress() lets %s through",
  (address) => {
    expect(judgeAddress(address)).toEqual({ ok: true, isListed: false });
  },
);

test.each([
  "",
  "localhost",
  "127.1",
  "010.0.0.1",
  "0x7f.0.0.1",
  "8.8.8.8 ",
  "8.8.8.8/32",
  "[::1]",
  "2130706433",
])("judgeAddress() refuses %j, which no resolver writes", (text) => {
  expect(judgeAddress(text).ok).toBe(false);
});

test("judgeAddress() lets through what is listed, and nothing beside it", () => {
  expect(judgeAddress("10.1.2.3", parseWhitelist(["10.0.0.0/8"]))).toEqual({ ok: true, isListed: true });
  expect(isAllowed("11.0.0.1", ["10.0.0.0/8"])).toBe(true);
  expect(isAllowed("192.168.1.20", ["192.168.1.20"])).toBe(true);
  expect(isAllowed("192.168.1.21", ["192.168.1.20"])).toBe(false);
  expect(isAllowed("::ffff:192.168.1.20", ["192.168.1.20"])).toBe(true);
  expect(isAllowed("fd00::1", [" fd00::/8 "])).toBe(true);
  expect(isAllowed("fd00::1", ["0.0.0.0/0"])).toBe(false);
  expect(isAllowed("::1", ["::1"])).toBe(true);
  expect(isAllowed("127.0.0.1", ["::/0"])).toBe(false);
});

test.each([
  "",
  "x",
  "10.0.0.0/33",
  "10.0.0/8",
  "10.0.0.0/-1",
  "10.0.0.0/",
  "/8",
  "localhost",
  "*",
  "::ffff:0:0/96",
  "0x7f.1",
])("parseWhitelist() throws for %j, and says which entry it is", (entry) => {
  expect(() => parseWhitelist(["10.0.0.0/8", entry])).toThrow(
    `Read tools.ssrfWhitelist[1]: ${JSON.stringify(entry)} is neither a network nor an address`,
  );
});

test("judgeAddress() lets no IPv6 address through that lies outside of 2000::/3", () => {
  const group = fc.nat(0xffff).map((value) => value.toString(16));
  const address = fc.array(group, { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(address, (groups) => {
      const isGlobal = (Number.parseInt(groups[0] ?? "", 16) & 0xe000) === 0x2000;
      if (!isGlobal) expect(isAllowed(groups.join(":"))).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});

test("judgeAddress() never throws", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.ipV4Extended(), fc.ipV6()), (text) => {
      expect(typeof judgeAddress(text).ok).toBe("boolean");
    }),
  );
});
