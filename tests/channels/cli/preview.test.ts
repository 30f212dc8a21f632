import { expect, test } from "bun:test";
import { createEmulator } from "./emulator.ts";
import { ask, open } from "./setup.ts";

/** A chat whose turn has begun to stream. */
async function openStreaming(columns: number, ...pieces: readonly string[]) {
  const chat = await open({}, { columns });
  await chat.terminal.type("hello");
  await chat.terminal.press("return");
  const turn = await chat.nextEmitted(0);
  await chat.stream(turn, ...pieces);
  await chat.clock.advance(200);
  return { ...chat, turn };
}

test("createChat() previews the block that is not complete, until it is printed for good", async () => {
  const { turn, ...chat } = await openStreaming(60, "One\n\nTwo is", " \x1b[31mnot comp\x1b[3");
  expect(chat.rows().slice(0, -1)).toEqual(["› hello", "One", "Two is not comp"]);
  expect(chat.rows().at(-1)).toMatch(/^[⠀-⣿] writing…$/);
  expect(chat.emulator.cursor.row).toBe(chat.emulator.rows.length - 1);
  await chat.stream(turn, "9mlete\n\nThr");
  expect(chat.rows().slice(0, -1)).toEqual(["› hello", "One", "", "Two is not complete", "Thr"]);
  await chat.stream(turn, "ee");
  await chat.streamEnd(turn, false);
  await chat.answer(turn, "One\n\nTwo is \x1b[31mnot comp\x1b[39mlete\n\nThree");
  expect(chat.rows()).toEqual(["› hello", "One", "", "Two is not complete", "", "Three", "", "›"]);
});

test("createChat() previews the last six rows, wrapped at 20 columns between wide characters", async () => {
  const { turn, ...chat } = await openStreaming(20, "一".repeat(9), "二三四五六".repeat(9), "七👩‍👧八");
  const preview = chat.rows().slice(1, -1);
  expect(preview).toHaveLength(6);
  expect(preview[0]).toBe("二三四五六二三四五");
  expect(preview.at(-1)).toBe("七👩‍👧八");
  for (const row of preview) expect(Bun.stringWidth(row)).toBeLessThan(20);
  await chat.streamEnd(turn, false);
  await chat.answer(turn, `${"一".repeat(9)}${"二三四五六".repeat(9)}七👩‍👧八`);
  expect(chat.rows().join("")).toBe(`› hello${"一".repeat(9)}${"二三四五六".repeat(9)}七👩‍👧八›`);
});

for (const length of [8_192, 100_000]) {
  test(`createChat() previews the end of a block of ${length} characters`, async () => {
    const chat = await openStreaming(20, "a".repeat(length), "z");
    expect(chat.rows()).toHaveLength(8);
    expect(chat.rows().at(-2)).toMatch(/^a*z$/);
  });
}

test("createChat() previews nothing that is as wide as the terminal", async () => {
  const chat = await openStreaming(2, "語a語");
  expect(chat.terminal.written).toContain("a\n");
  expect(chat.terminal.written).not.toContain("語");
});

test("createChat() draws the preview at the spinner's tick, not at each delta", async () => {
  const { turn, ...chat } = await openStreaming(60, "One");
  const { length } = chat.terminal.written;
  await chat.stream(turn, ..." and more".repeat(50));
  expect(chat.terminal.written).toHaveLength(length);
  await chat.clock.advance(100);
  expect(chat.rows().at(-2)).toEndWith(" and more");
});

test("createChat() prints what it previewed when the user leaves in the middle of a turn", async () => {
  const chat = await openStreaming(60, "Half an ans");
  await chat.terminal.press("ctrl-c", "ctrl-c");
  await chat.ended;
  expect(chat.rows()).toEqual([
    "› hello",
    "Stopping; press Ctrl-C again to leave",
    "Half an ans",
    "Goodbye!",
  ]);
  expect(chat.clock.pending).toBe(0);
});

test("createChat() prints what it previewed when its signal aborts in the middle of a turn", async () => {
  const chat = await openStreaming(60, "Half an ans");
  chat.controller.abort();
  await chat.ended;
  expect(chat.rows()).toEqual(["› hello", "Half an ans"]);
});

test("createOneShot() previews the block that is not complete on stderr, dimmed, and leaves nothing of it", async () => {
  const emulator = createEmulator(20);
  const options = { tty: true, columns: 20, onWrite: emulator.write };
  const { terminal } = await ask({}, options, async (setup, turn) => {
    await setup.stream(turn, "日本語の長い段落です", "。まだ続く");
    await setup.clock.advance(200);
    expect(emulator.rows.slice(0, -1)).toEqual(["日本語の長い段落で", "す。まだ続く"]);
    expect(setup.terminal.stderr).toContain("\x1b[2m日本語の長い段落で\x1b[22m\n");
    expect(setup.terminal.stdout).toBe("");
    await setup.streamEnd(turn, false);
    await setup.answer(turn, "日本語の長い段落です。まだ続く");
  });
  expect(terminal.stdout).toBe("日本語の長い段落です。まだ続く\n");
  expect(emulator.rows.join("")).toBe("日本語の長い段落です。まだ続く");
});

for (const [name, config, options] of [
  ["where stdout is not a terminal", {}, { stderrIsTty: true }],
  ["where stderr is not a terminal", {}, { stdoutIsTty: true }],
  ["in JSON", { json: true }, { tty: true }],
] as const) {
  test(`createOneShot() previews nothing ${name}`, async () => {
    await ask(config, options, async (setup, turn) => {
      await setup.stream(turn, "Half an ans");
      await setup.clock.advance(1_000);
      expect(setup.terminal.written).not.toContain("Half");
      await setup.streamEnd(turn, false);
      await setup.answer(turn, "Half an answer");
    });
  });
}
