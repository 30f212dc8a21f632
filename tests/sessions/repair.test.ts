import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { StoredMessage, StoredToolCall } from "../../src/core/session.ts";
import { INTERRUPTED } from "../../src/lib/tool-failure.ts";
import { formatMessage, parseSessionLine } from "../../src/sessions/lines.ts";
import { createTranscript } from "../../src/sessions/repair.ts";

function repairTranscript(lines: readonly StoredMessage[]): readonly StoredMessage[] {
  const transcript = createTranscript();
  for (const line of lines) transcript.add(line);
  return transcript.lines();
}

const call = (id: string, text = "{}"): StoredToolCall => ({
  id,
  type: "function",
  function: { name: "exec", arguments: text },
});
const user = (content = "hi"): StoredMessage => ({ role: "user", content });
const assistant = (content: string, ...calls: StoredToolCall[]): StoredMessage =>
  calls.length > 0 ? { role: "assistant", content, tool_calls: calls } : { role: "assistant", content };
const result = (id: string, content = "ok"): StoredMessage => ({
  role: "tool",
  tool_call_id: id,
  name: "exec",
  content,
});

const shape = (lines: readonly StoredMessage[]) =>
  lines.map(({ role, tool_call_id, tool_calls }) =>
    [role, ...(tool_call_id ? [tool_call_id] : []), ...(tool_calls?.map(({ id }) => id) ?? [])].join(" "),
  );

describe("createTranscript()", () => {
  test("gives the same for lines that come one by one, and never changes what stands before the last answer", () => {
    const lines = [
      user(),
      assistant("", call("a")),
      result("a"),
      assistant("one"),
      user(),
      assistant("", call("a")),
      user(),
    ];
    const transcript = createTranscript();
    let before: readonly StoredMessage[] = [];
    lines.forEach((line, index) => {
      transcript.add(line);
      const now = transcript.lines();
      expect(now).toEqual(repairTranscript(lines.slice(0, index + 1)));
      const settled = before.slice(
        0,
        before.findLastIndex(({ role }) => role === "assistant"),
      );
      expect(now.slice(0, settled.length)).toEqual(settled);
      before = now;
    });
  });

  test("leaves lines in order as they are", () => {
    const lines = [
      user(),
      assistant("", call("a"), call("b")),
      result("a"),
      result("b"),
      assistant("done"),
      user(),
    ];
    expect(repairTranscript(lines)).toEqual(lines);
  });

  test("answers a call that was interrupted", () => {
    const repaired = repairTranscript([
      user(),
      assistant("", call("a"), call("b")),
      result("a"),
      user("next"),
    ]);
    expect(shape(repaired)).toEqual(["user", "assistant a b", "tool a", "tool b", "user"]);
    expect(repaired[3]?.content).toBe(INTERRUPTED);
  });

  test("drops results whose call is not there and starts at a user line", () => {
    const lines = [
      result("x"),
      assistant("cut off"),
      user(),
      result("y"),
      assistant("", call("a")),
      result("a"),
    ];
    expect(shape(repairTranscript(lines))).toEqual(["user", "assistant a", "tool a"]);
  });

  test("drops a result that stands before its call, and answers the call", () => {
    const repaired = repairTranscript([user(), result("a", "early"), assistant("", call("a")), user()]);
    expect(shape(repaired)).toEqual(["user", "assistant a", "tool a", "user"]);
    expect(repaired[2]?.content).toBe(INTERRUPTED);
  });

  test("puts results in the order of their calls and before lines that came between", () => {
    const lines = [user(), assistant("", call("a"), call("b")), result("b"), user("between"), result("a")];
    expect(shape(repairTranscript(lines))).toEqual(["user", "assistant a b", "tool a", "tool b", "user"]);
  });

  test("keeps the first of two results of one call", () => {
    const repaired = repairTranscript([
      user(),
      assistant("", call("a")),
      result("a", "first"),
      result("a", "second"),
    ]);
    expect(repaired.map(({ content }) => content)).toEqual(["hi", "", "first"]);
  });

  test("gives calls with the same id in two rounds different ids", () => {
    const lines = [user(), assistant("", call("a")), result("a"), assistant("", call("a")), result("a")];
    expect(shape(repairTranscript(lines))).toEqual([
      "user",
      "assistant a",
      "tool a",
      "assistant a_2",
      "tool a_2",
    ]);
  });

  test("replaces arguments that are no object and unwraps those encoded twice", () => {
    const lines = [
      user(),
      assistant(
        "",
        call("a", "[1]"),
        call("b", JSON.stringify('{"command":"ls"}')),
        call("c", "{broken"),
        call("d", ""),
      ),
    ];
    const texts = repairTranscript(lines)[1]?.tool_calls?.map((item) => item.function.arguments);
    expect(texts).toEqual(["{}", '{"command":"ls"}', "{}", "{}"]);
  });

  test("drops lines with nothing to say", () => {
    expect(shape(repairTranscript([user(" "), user(), assistant("  "), user("")]))).toEqual(["user"]);
  });

  test("accepts whatever a file can hold", () => {
    const id = fc.constantFrom("a", "b", "c", "");
    const text = fc.oneof(
      fc.constantFrom("", "x", "{}", "[]", '"\\ud83d"', '{"a":"\\ud83d"}'),
      fc.string({ unit: "binary" }),
    );
    const stored = fc.oneof(
      fc.record({ role: fc.constant("user"), content: text }),
      fc.record({
        role: fc.constant("assistant"),
        content: text,
        tool_calls: fc.array(
          fc.record({
            id,
            function: fc.record({ name: fc.constantFrom("exec", "", "bad name"), arguments: text }),
          }),
          { maxLength: 3 },
        ),
      }),
      fc.record({ role: fc.constant("tool"), tool_call_id: id, content: text }),
    );
    fc.assert(
      fc.property(fc.array(stored, { maxLength: 12 }), (lines) => {
        const parsed = lines.flatMap((line) => {
          const read = parseSessionLine(Buffer.from(JSON.stringify(line)));
          return read.kind === "message" ? [read.message] : [];
        });
        const repaired = repairTranscript(parsed);
        expectValid(repaired);
        expect(repairTranscript(repaired)).toEqual(repaired);
      }),
    );
  });
});

/** The rules of the strictest providers. */
function expectValid(lines: readonly StoredMessage[]): void {
  if (lines.length > 0) expect(lines[0]?.role).toBe("user");
  const ids = new Set<string>();
  let open: string[] = [];
  for (const line of lines) {
    if (line.role === "tool") {
      expect(open.shift()).toBe(line.tool_call_id ?? "?");
      continue;
    }
    expect(open).toEqual([]);
    open = [];
    for (const { id, function: called } of line.tool_calls ?? []) {
      expect(ids.has(id) || id === "").toBe(false);
      ids.add(id);
      open.push(id);
      const decoded: unknown = JSON.parse(called.arguments);
      expect(typeof decoded === "object" && decoded !== null && !Array.isArray(decoded)).toBe(true);
      expect(JSON.stringify(decoded).includes("\\ud83d")).toBe(false);
    }
    if (line.role === "assistant") expect(line.content.trim() !== "" || open.length > 0).toBe(true);
    expect(line.content.isWellFormed()).toBe(true);
  }
  expect(open).toEqual([]);
}

test("parseSessionLine() gives back what formatMessage() wrote, without lone surrogates", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (content) => {
      const line = formatMessage({ role: "user", content });
      const parsed = parseSessionLine(Buffer.from(line.trimEnd()));
      expect(parsed).toEqual({ kind: "message", message: { role: "user", content: content.toWellFormed() } });
    }),
  );
});

test("parseSessionLine() repairs a lone surrogate that an old file holds", () => {
  const parsed = parseSessionLine(Buffer.from('{"role":"tool","tool_call_id":"a","content":"cut \\ud83d"}'));
  expect(parsed.kind === "message" && parsed.message.content).toBe("cut \ufffd");
});

test("createTranscript() makes ids unique in a time that grows with the lines alone", () => {
  const costOf = (turns: number) => {
    const transcript = createTranscript();
    const began = performance.now();
    for (let turn = 0; turn < turns; turn++) {
      transcript.add({ role: "user", content: "q" });
      const call = { id: "call_0", type: "function", function: { name: "a", arguments: "{}" } } as const;
      transcript.add({ role: "assistant", content: "", tool_calls: [call] });
      transcript.add({ role: "tool", tool_call_id: "call_0", name: "a", content: "r" });
    }
    transcript.lines();
    return performance.now() - began;
  };
  // The quickest of some, since a busy machine makes any one slow.
  const leastOf = (turns: number) => Math.min(...Array.from({ length: 5 }, () => costOf(turns)));
  const few = leastOf(2_000);
  // Quadratic it would be 64 times as much.
  expect(leastOf(16_000) / Math.max(few, 1)).toBeLessThan(40);
});
