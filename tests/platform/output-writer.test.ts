import { describe, expect, test } from "bun:test";
import { createOutputWriter } from "../../src/platform/output-writer.ts";

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** An output that takes what `capacities` say, call by call, and then all; 0 is a full pipe. */
function createOutput(capacities: (number | Error)[]) {
  const decoder = new TextDecoder();
  let text = "";
  let calls = 0;
  const writer = createOutputWriter(-1, {
    writeBytes(bytes) {
      calls++;
      const capacity = capacities.shift() ?? bytes.length;
      if (capacity instanceof Error) throw capacity;
      if (capacity === 0) throw systemError("EAGAIN");
      const taken = bytes.subarray(0, capacity);
      text += decoder.decode(taken, { stream: true });
      return taken.length;
    },
  });
  return {
    writer,
    get text() {
      return text;
    },
    get calls() {
      return calls;
    },
  };
}

async function failure(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "none",
    (error: Error) => error.message,
  );
}

describe("write()", () => {
  test("writes at once, continuing a short write inside a character", () => {
    const output = createOutput([1, 1, 2]);
    output.writer.write("é—b");
    expect(output.text).toBe("é—b");
  });

  test("keeps the order when the pipe is full in between", async () => {
    const output = createOutput([2, 0, 1, 0, 0, 3, 0]);
    for (const word of ["one ", "two ", "three ", "four"]) output.writer.write(word);
    expect(output.text).toBe("on");
    await output.writer.flush();
    expect(output.text).toBe("one two three four");
    output.writer.write(" five");
    expect(output.text).toBe("one two three four five");
  });

  test.each(["EPIPE", "EIO", "EBADF"])("writes nothing more after %s, and that is no error", async (code) => {
    const output = createOutput([systemError(code)]);
    output.writer.write("a");
    output.writer.write("b");
    await output.writer.flush();
    expect([output.text, output.calls]).toEqual(["", 1]);
  });

  test("throws what is not the reader's doing", () => {
    const output = createOutput([systemError("ENOSPC")]);
    expect(() => output.writer.write("a")).toThrow("the disk is full");
  });
});

describe("flush()", () => {
  test("resolves at once when nothing waits", async () => {
    const output = createOutput([]);
    output.writer.write("a");
    await output.writer.flush();
    expect(output.calls).toBe(1);
  });

  test("resolves when the reader goes while something waits", async () => {
    const output = createOutput([0, systemError("EPIPE")]);
    output.writer.write("a");
    await output.writer.flush();
    expect(output.text).toBe("");
  });

  test("rejects when the rest could not be written", async () => {
    const output = createOutput([0, systemError("EFBIG")]);
    output.writer.write("a");
    expect(await failure(output.writer.flush())).toBe("EFBIG");
  });
});
