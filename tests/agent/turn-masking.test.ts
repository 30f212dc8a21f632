import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { publishNotice } from "../../src/agent/publish.ts";
import { runTurn } from "../../src/agent/turn.ts";
import { defineTool, toolOk } from "../../src/core/tool.ts";
import { never } from "../../src/lib/abort.ts";
import { inboundMessage } from "../fakes/messages.ts";
import { type Scripted, textReply } from "../fakes/model.ts";
import { createFixture } from "./fixture.ts";

const SECRET = "hunter2-hunter2";

/** Gives `content` in exactly these pieces. */
function inPieces(kind: "text" | "reasoning", ...pieces: readonly string[]): Scripted {
  return async (_request, { onDelta }) => {
    for (const text of pieces) {
      onDelta({ kind, text });
      // Pieces that come at once are joined.
      await Promise.resolve();
      await Promise.resolve();
    }
    return textReply(kind === "text" ? pieces.join("") : "done");
  };
}

async function runWith(script: readonly Scripted[], tools: Parameters<typeof createFixture>[0] = {}) {
  const fixture = createFixture({ script, secrets: [SECRET], showReasoning: true, ...tools });
  await runTurn(inboundMessage(), fixture.deps, never);
  await fixture.until((shown) => shown.some(({ kind }) => kind === "final"));
  return fixture;
}

function textOf(fixture: ReturnType<typeof createFixture>, kind: "delta" | "reasoning"): string {
  return fixture.shown
    .filter((message) => message.kind === kind)
    .map(({ content }) => content)
    .join("");
}

describe("runTurn() lets no secret out", () => {
  test("in an answer, streamed in whatever pieces, and stores it as it was", async () => {
    const fixture = await runWith([inPieces("text", "It is hun", "ter2-", "hunter2, and hun")]);
    expect(fixture.shown.filter(({ kind }) => kind === "delta").length).toBeGreaterThan(1);
    expect(textOf(fixture, "delta")).toBe("It is [masked], and hun");
    expect(fixture.finals()[0]?.content).toBe("It is [masked], and hun");
    // Nothing of the text comes behind its end.
    expect(fixture.shown.at(-2)?.kind).toBe("streamEnd");
    expect((await fixture.stored()).at(-1)?.content).toBe(`It is ${SECRET}, and hun`);
  });

  test("in what the model thinks, all of which is shown before the answer", async () => {
    const thinking = inPieces("reasoning", "The key is hunter2", "-hunter2. Hu", "h. hunt");
    const fixture = await runWith([thinking]);
    expect(textOf(fixture, "reasoning")).toBe("The key is [masked]. Huh. hunt");
    const kinds = fixture.shown.map(({ kind }) => kind);
    expect(kinds.lastIndexOf("reasoning")).toBeLessThan(kinds.indexOf("final"));
  });

  test("in the hint of a call, in full and cut short, and in its data", async () => {
    const echo = defineTool({
      name: "echo",
      description: "",
      parameters: v.strictObject({ text: v.string() }),
      execute: async () => toolOk("ok"),
    });
    const beginning = "x".repeat(35);
    const calls = [SECRET, `${beginning}${SECRET}`].map((text) => ({ name: "echo", arguments: { text } }));
    const fixture = await runWith([{ calls }, "done"], { tools: [echo] });
    const hints = fixture.shown.filter(({ kind }) => kind === "toolHint");
    expect(hints.map(({ content }) => content)).toEqual(['echo("[masked]")', `echo("${beginning}[mas…")`]);
    expect(JSON.stringify(hints)).not.toContain("hunter2");
    expect(hints[0]?.metadata).toEqual({ name: "echo", arguments: '{"text":"[masked]"}' });
  });

  test("in errors, notices and progress", async () => {
    const failing: Scripted = async (_request, { onNotice }) => {
      onNotice?.({ kind: "waiting", text: `waiting for ${SECRET}` });
      return { ok: false, error: { kind: "auth", message: `The key ${SECRET} was refused` }, partial: "" };
    };
    const fixture = await runWith([failing]);
    await publishNotice(inboundMessage(), fixture.deps, { name: "n", content: `About ${SECRET}` });
    await fixture.until((shown) => shown.some(({ content }) => content.startsWith("About")));
    expect(JSON.stringify(fixture.shown)).not.toContain("hunter2");
    const texts = fixture.shown.map(({ content }) => content);
    expect(texts).toContain("waiting for [masked]");
    expect(texts).toContain("About [masked]");
    expect(fixture.finals()[0]?.content).toContain("The key [masked] was refused");
  });
});
