/** Programs that say and do what a test tells them. */

import type { CapturedOutput, ProcessExit, ProcessSpec, RunningProcess } from "../../src/core/platform.ts";

interface FakeProgram extends RunningProcess {
  readonly spec: ProcessSpec;
  readonly written: readonly string[];
  readonly isInputClosed: boolean;
  say(text: string, stream?: "stdout" | "stderr"): void;
  exit(code: number): void;
}

export interface FakePrograms {
  start(spec: ProcessSpec): Promise<FakeProgram>;
  /** In the order they were started. */
  readonly all: readonly FakeProgram[];
  last(): FakeProgram;
}

export interface FakeProgramsOptions {
  /** What comes of a text that is written. */
  readonly onWrite?: (text: string, program: FakeProgram) => "written" | "closed" | "full";
}

export function createFakePrograms({ onWrite = () => "written" }: FakeProgramsOptions = {}): FakePrograms {
  const all: FakeProgram[] = [];
  return {
    all,
    last() {
      const program = all.at(-1);
      if (program === undefined) throw new Error("No program was started");
      return program;
    },
    async start(spec) {
      const program = createFakeProgram(spec, onWrite);
      all.push(program);
      return program;
    },
  };
}

const captured = (head: string): CapturedOutput => ({ head, tail: "", omittedBytes: 0 });

function createFakeProgram(
  spec: ProcessSpec,
  onWrite: NonNullable<FakeProgramsOptions["onWrite"]>,
): FakeProgram {
  const { promise: exited, resolve } = Promise.withResolvers<ProcessExit>();
  const listeners = new Set<Parameters<RunningProcess["onOutput"]>[0]>();
  const written: string[] = [];
  let said = { stdout: "", stderr: "" };
  let isInputClosed = false;
  const peek = () => ({ stdout: captured(said.stdout), stderr: captured(said.stderr) });
  const program: FakeProgram = {
    spec,
    written,
    get isInputClosed() {
      return isInputClosed;
    },
    exited,
    say(text, stream = "stdout") {
      said = { ...said, [stream]: said[stream] + text };
      for (const listener of listeners) listener(stream, text);
    },
    exit: (exitCode) => resolve({ exitCode, signal: null, ended: undefined }),
    end: (ended) => resolve({ exitCode: null, signal: "SIGTERM", ended }),
    async write(text) {
      if (isInputClosed) return "closed";
      const outcome = onWrite(text, program);
      if (outcome === "written") written.push(text);
      return outcome;
    },
    closeInput() {
      isInputClosed = true;
    },
    peek,
    take() {
      const output = peek();
      said = { stdout: "", stderr: "" };
      return output;
    },
    onOutput(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return program;
}
