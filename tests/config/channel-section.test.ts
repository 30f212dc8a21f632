import { expect, test } from "bun:test";
import * as v from "valibot";
import { channelBlock, enabledChannels, readChannelSection } from "../../src/config/channel-section.ts";
import { makeConfig } from "./fixture.ts";

const schema = v.object({
  token: v.string(),
  pollTimeout: v.optional(v.number(), 30),
  dm: v.optional(v.object({ allowFrom: v.optional(v.array(v.string()), []) }), {}),
});

async function read(block: object, env = {}) {
  const loaded = await makeConfig({ channels: { telegram: block } }).load({ env });
  return readChannelSection(schema, loaded, "telegram");
}

test("readChannelSection() understands both spellings, and leaves what all channels share to others", async () => {
  const { settings, warnings } = await read({
    enabled: true,
    allow_from: ["a"],
    group_policy: "open",
    pairing: true,
    token: "t",
    poll_timeout: 5,
    dm: { allow_from: ["b"] },
  });
  expect(settings).toEqual({ token: "t", pollTimeout: 5, dm: { allowFrom: ["b"] } });
  expect(warnings).toEqual([]);
});

test("readChannelSection() warns of an unknown key with the nearest known one", async () => {
  const { warnings } = await read({ token: "t", tokn: "x", pollTimeot: 1 });
  expect(warnings).toEqual([
    'Unknown key channels.telegram.tokn is ignored; did you mean "token"?',
    'Unknown key channels.telegram.pollTimeot is ignored; did you mean "pollTimeout"?',
  ]);
});

test.each([
  [{}, "channels.telegram.token: expected a string, found nothing"],
  [{ token: 5 }, "channels.telegram.token: expected a string, found a number"],
  [{ token: "t", poll_timeout: "5" }, "channels.telegram.poll_timeout: expected a number, found a string"],
  [
    { token: "t", dm: { allow_from: [1] } },
    "channels.telegram.dm.allow_from[0]: expected a string, found a number",
  ],
  [
    { token: "t", pollTimeout: 1, poll_timeout: 2 },
    "channels.telegram.poll_timeout: the key is there twice, in two spellings",
  ],
])("readChannelSection() refuses %j", async (block, problem) => {
  await expect(read(block)).rejects.toThrow(problem);
});

test("readChannelSection() says where it stands, in the file or not", async () => {
  await expect(read({ token: "t", dm: 5 })).rejects.toThrow(
    /^Read config ".*": line 5, channels\.telegram\.dm: expected an object/,
  );
  await expect(read({ pollTimeout: 5 })).rejects.toThrow(
    /^Read config ".*": line 3, channels\.telegram\.token: expected a string, found nothing/,
  );
  await expect(read({ token: "t" }, { NANOBOT_CHANNELS__TELEGRAM__POLL_TIMEOUT: "soon" })).rejects.toThrow(
    /^Read settings: channels\.telegram\.\w+: expected a number/,
  );
});

test("readChannelSection() never shows a value", async () => {
  await expect(read({ token: ["very-secret"] })).rejects.toThrow(/^(?!.*very-secret)/);
});

test("enabledChannels() names the blocks that are enabled, in their order", async () => {
  const { config } = await makeConfig({
    channels: {
      b: { enabled: true },
      sendProgress: true,
      a: { enabled: true },
      c: { enabled: false },
      d: {},
    },
  }).load();
  expect(enabledChannels(config)).toEqual(["b", "a"]);
});

test("channelBlock() is empty for a channel without a block, whatever it is called", async () => {
  const { config } = await makeConfig({ channels: {} }).load();
  expect(channelBlock(config, "nobody")).toEqual({});
  expect(channelBlock(config, "toString")).toEqual({});
  expect(channelBlock(config, "sendProgress")).toEqual({});
});
