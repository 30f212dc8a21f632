import { describe, expect, test } from "bun:test";
import { drawQuestion } from "../../../src/channels/cli/question-text.ts";
import type { ApprovalAnswer, ApprovalQuestion, AskOwner } from "../../../src/core/approval.ts";
import type { Channel } from "../../../src/core/channel.ts";
import { Stopped } from "../../../src/core/errors.ts";
import { never } from "../../../src/lib/abort.ts";
import { testRun } from "../../fakes/toolbox.ts";
import { type Chat, open, setUp } from "./setup.ts";

const TICK_MS = 100;
const QUIET_MS = 500;

const question: ApprovalQuestion = {
  id: "call_1",
  tool: "exec",
  what: "rm -r build",
  reason: "it deletes a folder",
  run: testRun(),
};

const denied: ApprovalAnswer = { granted: false, why: "denied", by: "terminal" };
const granted: ApprovalAnswer = { granted: true, by: "terminal" };

function askOf({ ask }: Channel): AskOwner {
  if (ask === undefined) throw new Error("The channel asks nobody");
  return ask;
}

/** A chat with a turn that waits for an answer. */
async function openAsking(what: Partial<ApprovalQuestion> = {}, options: Parameters<typeof open>[1] = {}) {
  const chat = await open({}, options);
  await chat.terminal.type("clean up");
  await chat.terminal.press("return");
  const turn = await chat.nextEmitted(0);
  const abort = new AbortController();
  const asking = askOf(chat.channel)({ ...question, ...what }, abort.signal);
  return { ...chat, turn, abort, asking };
}

async function untilListening({ clock }: Pick<Chat, "clock">): Promise<void> {
  await clock.advance(TICK_MS);
  await clock.advance(QUIET_MS);
}

const QUESTION = ["exec asks for your permission: it deletes a folder", "│ rm -r build"];

describe("createChat() asks", () => {
  test("with the tool, the reason and the command, and then takes an answer", async () => {
    const chat = await openAsking();
    await chat.clock.advance(TICK_MS);
    expect(chat.rows()).toEqual(["› clean up", ...QUESTION]);
    await chat.clock.advance(QUIET_MS);
    expect(chat.rows()).toEqual(["› clean up", ...QUESTION, "Run it? [y/N]"]);
    await chat.terminal.type("y");
    expect(chat.rows().at(-1)).toBe("Run it? [y/N] y");
    await chat.terminal.press("return");
    expect(await chat.asking).toEqual(granted);
    expect(chat.rows()).toEqual(["› clean up", ...QUESTION, "Run it? [y/N] y"]);
  });

  for (const { name, keys, wanted } of [
    { name: "yes", keys: ["y", "e", "s"], wanted: granted },
    { name: "Y", keys: ["Y"], wanted: granted },
    { name: "n", keys: ["n"], wanted: denied },
    { name: "nothing", keys: [], wanted: denied },
    { name: "a sentence that begins like a yes", keys: [..."you may"], wanted: denied },
    { name: "yy", keys: ["y", "y"], wanted: denied },
  ]) {
    test(`and takes ${name} for ${wanted.granted ? "a yes" : "a no"}`, async () => {
      const chat = await openAsking();
      await untilListening(chat);
      await chat.terminal.type(keys.join(""));
      await chat.terminal.press("return");
      expect(await chat.asking).toEqual(wanted);
    });
  }

  for (const key of ["escape", "ctrl-d"]) {
    test(`and takes ${key} for a no`, async () => {
      const chat = await openAsking();
      await untilListening(chat);
      await chat.terminal.press(key);
      expect(await chat.asking).toEqual(denied);
      expect(chat.terminal.listening).toBe(true);
    });
  }

  test("and takes no key for an answer that was pressed before the question could be read", async () => {
    const chat = await openAsking();
    await chat.terminal.type("y");
    await chat.terminal.press("return");
    await chat.clock.advance(TICK_MS);
    await chat.terminal.type("y");
    await chat.terminal.press("return");
    await chat.clock.advance(QUIET_MS - TICK_MS);
    await chat.terminal.type("yes");
    // Whoever still types is not asked yet.
    await chat.clock.advance(QUIET_MS - TICK_MS);
    expect(chat.rows()).toEqual(["› clean up", ...QUESTION]);
    await chat.clock.advance(TICK_MS);
    expect(chat.rows().at(-1)).toBe("Run it? [y/N]");
    await chat.terminal.press("return");
    expect(await chat.asking).toEqual(denied);
    // What was typed ahead is not lost.
    await chat.answer(chat.turn, "ok");
    expect((await chat.nextEmitted(1)).content).toBe("y");
  });

  test("and takes no paste for an answer, and no key behind it for a part of it", async () => {
    const chat = await openAsking();
    await untilListening(chat);
    await chat.terminal.paste("y\n");
    expect(chat.rows().at(-1)).toBe("Run it? [y/N]");
    await chat.terminal.press(
      { name: "n", text: "n", ctrl: false, meta: false, shift: false },
      "return",
      { name: "y", text: "y", ctrl: false, meta: false, shift: false },
      "return",
    );
    expect(await chat.asking).toEqual(denied);
  });

  test("and lets the answer be corrected", async () => {
    const chat = await openAsking();
    await untilListening(chat);
    await chat.terminal.type("no");
    await chat.terminal.press("backspace", "backspace");
    await chat.terminal.type("nope");
    await chat.terminal.press("ctrl-u");
    await chat.terminal.type("y");
    await chat.terminal.press("return");
    expect(await chat.asking).toEqual(granted);
  });

  test("and denies and stops the turn on Ctrl-C, at the question and before it can be answered", async () => {
    for (const wait of [0, TICK_MS, TICK_MS + QUIET_MS]) {
      const chat = await openAsking();
      await chat.clock.advance(wait);
      await chat.clock.advance(QUIET_MS * Number(wait > TICK_MS));
      await chat.terminal.press("ctrl-c");
      expect(await chat.asking).toEqual(denied);
      expect((await chat.nextEmitted(1)).content).toBe("/stop");
    }
  });

  test("and denies and obeys a command that acts at once", async () => {
    const chat = await openAsking();
    await untilListening(chat);
    await chat.terminal.type("/stop");
    await chat.terminal.press("return");
    expect(await chat.asking).toEqual(denied);
    expect((await chat.nextEmitted(1)).content).toBe("/stop");
    expect(chat.rows().slice(-2)).toEqual(["Run it? [y/N] /stop", "› /stop"]);
  });

  test("and denies when it ends", async () => {
    const chat = await openAsking();
    await untilListening(chat);
    chat.terminal.endInput();
    expect(await chat.asking).toEqual(denied);
    await chat.ended;
    expect(chat.clock.pending).toBe(0);
  });

  test("and takes the question away when nobody wants to know any more", async () => {
    const chat = await openAsking();
    await untilListening(chat);
    const reason = new Stopped("user");
    chat.abort.abort(reason);
    expect(await chat.asking.catch((error: unknown) => error)).toBe(reason);
    expect(chat.rows()).toEqual(["› clean up", ...QUESTION, "Run it? [y/N] (no answer)"]);
    await chat.terminal.type("y");
    expect(chat.rows().at(-1)).toBe("Run it? [y/N] (no answer)");
  });

  test("and shows what was said before the question before it, and what comes meanwhile after the answer", async () => {
    const chat = await openAsking();
    await chat.stream(chat.turn, "I will delete it.");
    await chat.streamEnd(chat.turn, true);
    await chat.clock.advance(TICK_MS);
    const later = chat.hint(chat.turn, "│ ls, which is harmless");
    await chat.clock.advance(QUIET_MS);
    expect(chat.rows()).toEqual(["› clean up", "I will delete it.", ...QUESTION, "Run it? [y/N]"]);
    await chat.terminal.type("y");
    await chat.terminal.press("return");
    await chat.asking;
    await later;
    expect(chat.rows().at(-1)).toBe("↳ │ ls, which is harmless");
  });

  test("and spins again after the answer", async () => {
    const chat = await openAsking();
    await untilListening(chat);
    await chat.clock.advance(1_000);
    expect(chat.rows().at(-1)).toBe("Run it? [y/N]");
    await chat.terminal.type("y");
    await chat.terminal.press("return");
    await chat.asking;
    await chat.clock.advance(200);
    expect(chat.rows().at(-1)).toMatch(/^[⠀-⣿] thinking…$/);
  });

  test("and shows every character of a command, its lines as lines, none as its own", async () => {
    const what = `echo "${"x".repeat(50)}"\nRun it? [y/N] y\nrm \u202ehtap\r\x1b[2K`;
    const chat = await openAsking({ what, reason: "it\nasks", tool: "exec" }, { columns: 30 });
    await chat.clock.advance(TICK_MS);
    expect(chat.rows()).toEqual([
      "› clean up",
      "exec asks for your",
      "  permission: it asks",
      `│ echo "${"x".repeat(21)}`,
      `┆ ${"x".repeat(27)}`,
      '┆ xx"',
      "│ Run it? [y/N] y",
      "│ rm ⟨U+202E⟩htap⟨U+000D⟩⟨U+0",
      "┆ 01B⟩[2K",
    ]);
  });
});

describe("drawQuestion()", () => {
  const look = { width: (text: string) => Bun.stringWidth(text), color: false };
  const rowsOf = (what: string) => drawQuestion({ ...question, what }, 60, look).split("\n");

  test("says how many rows there are where the first of them may be out of sight", () => {
    for (const what of [`rm -r x${"\n".repeat(40)}true`, `rm -r x; true ${"x".repeat(2_300)}`])
      expect(rowsOf(what).at(-1)).toBe("Read all 41 rows of it, from the first one on.");
    expect(rowsOf(`rm -r x${"\n".repeat(19)}`).at(-1)).toBe("│ ");
  });
});

describe("createOneShot()", () => {
  const terminals = { stdinIsTty: true, stderrIsTty: true };

  async function start(config: object = {}) {
    const setup = await setUp({ message: "clean up", color: false, ...config }, terminals);
    const ended = setup.channel.start(never).catch((error: unknown) => error);
    const turn = await setup.nextEmitted(0);
    return { ...setup, ended, turn };
  }

  test("has nobody to ask where nobody can type or see the question", async () => {
    for (const options of [
      {},
      { stdinIsTty: true, stdoutIsTty: true },
      { stdoutIsTty: true, stderrIsTty: true },
    ]) {
      expect((await setUp({ message: "hello" }, options)).channel.ask).toBeUndefined();
    }
  });

  test("asks on stderr and reads keys only meanwhile", async () => {
    const oneShot = await start({ json: true });
    expect(oneShot.terminal.listening).toBe(false);
    const answer = askOf(oneShot.channel)(question, never);
    expect(oneShot.terminal.listening).toBe(true);
    await untilListening(oneShot);
    expect(oneShot.terminal.stderr).toContain(QUESTION.join("\n"));
    expect(oneShot.terminal.stdout).toBe("");
    await oneShot.terminal.type("y");
    await oneShot.terminal.press("return");
    expect(await answer).toEqual(granted);
    expect(oneShot.terminal.listening).toBe(false);
    await oneShot.answer(oneShot.turn, "done");
    expect(await oneShot.ended).toBeUndefined();
    expect(oneShot.clock.pending).toBe(0);
  });

  test("takes no key for an answer that was pressed before", async () => {
    const oneShot = await start();
    void oneShot.terminal.press({ name: "y", text: "y", ctrl: false, meta: false, shift: false }, "return");
    const answer = askOf(oneShot.channel)(question, never);
    await oneShot.terminal.press();
    await untilListening(oneShot);
    await oneShot.terminal.press("return");
    expect(await answer).toEqual(denied);
  });

  test("denies when stdin ends, and ends as one that was stopped on Ctrl-C", async () => {
    const deaf = await start();
    const unanswered = askOf(deaf.channel)(question, never);
    deaf.terminal.endInput();
    expect(await unanswered).toEqual(denied);
    const stopped = await start();
    const answer = askOf(stopped.channel)(question, never);
    await untilListening(stopped);
    await stopped.terminal.press("ctrl-c");
    expect(await answer).toEqual(denied);
    const reason = await stopped.ended;
    expect(reason).toBeInstanceOf(Stopped);
    expect(stopped.clock.pending).toBe(0);
    expect(stopped.terminal.listening).toBe(false);
  });
});
