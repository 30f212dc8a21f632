import { describe, expect, test } from "bun:test";
import { type AppendHandle, createAppendFile } from "../../src/platform/append-file.ts";

interface FakeHandle {
  readonly handle: AppendHandle;
  readonly calls: string[];
  /** Lets the sync that runs end. */
  finishSync(error?: Error): Promise<void>;
}

/** A file that writes at most `atOnce` bytes a call and syncs only when told to. */
function createFakeHandle({
  atOnce = 1000,
  failWriteAt = -1,
}: {
  atOnce?: number;
  failWriteAt?: number;
} = {}): FakeHandle {
  const calls: string[] = [];
  const syncs: PromiseWithResolvers<void>[] = [];
  let writes = 0;
  const handle = {
    async write(bytes: Uint8Array, offset: number, length: number) {
      if (writes++ === failWriteAt) throw new Error("disk full");
      const bytesWritten = Math.min(length, atOnce);
      calls.push(new TextDecoder().decode(bytes.subarray(offset, offset + bytesWritten)));
      return { bytesWritten, buffer: bytes };
    },
    datasync() {
      calls.push("sync");
      const sync = Promise.withResolvers<void>();
      syncs.push(sync);
      return sync.promise;
    },
    async close() {
      calls.push("close");
    },
  };
  return {
    handle,
    calls,
    async finishSync(error) {
      const sync = syncs.shift();
      if (sync === undefined) throw new Error("No sync runs");
      if (error === undefined) sync.resolve();
      else sync.reject(error);
      await settle();
    },
  };
}

/** Everything that waits for nothing outside goes on. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function failure(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "none",
    (error: Error) => error.message,
  );
}

describe("append()", () => {
  test("continues a short write", async () => {
    const { handle, calls } = createFakeHandle({ atOnce: 2 });
    await createAppendFile(handle).append(bytes("abcde"));
    expect(calls).toEqual(["ab", "cd", "e"]);
  });

  test("writes nothing after a failed write, so that a torn record stays the last", async () => {
    const { handle, calls } = createFakeHandle({ failWriteAt: 1 });
    const file = createAppendFile(handle);
    const results = [file.append(bytes("a")), file.append(bytes("b")), file.append(bytes("c"))].map(failure);
    expect(await Promise.all(results)).toEqual(["none", "disk full", "disk full"]);
    expect(calls).toEqual(["a"]);
  });
});

describe("sync()", () => {
  test("covers what was appended before the call, even if it is not yet written", async () => {
    const { handle, calls, finishSync } = createFakeHandle();
    const file = createAppendFile(handle);
    const writing = file.append(bytes("a"));
    const syncing = file.sync();
    await settle();
    await finishSync();
    await Promise.all([writing, syncing]);
    expect(calls).toEqual(["a", "sync"]);
  });

  test("shares one sync among all calls that arrive while another runs", async () => {
    const { handle, calls, finishSync } = createFakeHandle();
    const file = createAppendFile(handle);
    const first = file.sync();
    await settle();
    const later = ["a", "b", "c"].map(async (letter) => {
      await file.append(bytes(letter));
      await file.sync();
    });
    await settle();
    await finishSync();
    await finishSync();
    await Promise.all([first, ...later]);
    expect(calls).toEqual(["sync", "a", "b", "c", "sync"]);
  });

  test("does not resolve by a sync that began before the call", async () => {
    const { handle, finishSync } = createFakeHandle();
    const file = createAppendFile(handle);
    const first = file.sync();
    await settle();
    let isSynced = false;
    const second = file.sync().then(() => {
      isSynced = true;
    });
    await finishSync();
    await first;
    expect(isSynced).toBe(false);
    await finishSync();
    await second;
    expect(isSynced).toBe(true);
  });

  test("goes on failing after it failed once, because the system reports lost pages only once", async () => {
    const { handle, finishSync } = createFakeHandle();
    const file = createAppendFile(handle);
    const first = failure(file.sync());
    await settle();
    await finishSync(new Error("input/output error"));
    expect(await first).toBe("input/output error");
    expect(await failure(file.sync())).toBe("input/output error");
  });

  test("fails when what it should cover could not be written", async () => {
    const { handle } = createFakeHandle({ failWriteAt: 0 });
    const file = createAppendFile(handle);
    const writing = failure(file.append(bytes("a")));
    expect(await failure(file.sync())).toBe("disk full");
    expect(await writing).toBe("disk full");
  });
});

describe("close()", () => {
  test("waits for the sync that runs", async () => {
    const { handle, calls, finishSync } = createFakeHandle();
    const file = createAppendFile(handle);
    const syncing = file.sync();
    await settle();
    const closing = file.close();
    await settle();
    expect(calls).toEqual(["sync"]);
    await finishSync();
    await Promise.all([syncing, closing]);
    expect(calls).toEqual(["sync", "close"]);
  });
});
