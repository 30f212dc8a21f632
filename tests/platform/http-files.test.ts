import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { UserError } from "../../src/core/errors.ts";
import type { HttpHandler, HttpServer } from "../../src/core/http.ts";
import { runtime } from "../../src/platform/bun.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createHttpServers } from "../../src/platform/http.ts";
import { tempFolder } from "../fakes/temp.ts";

const http = createHttpServers({ runtime, clock: systemClock });
const never = new AbortController().signal;
const servers: HttpServer[] = [];
afterAll(() => Promise.all(servers.map((server) => server.stop(0))));

const echo: HttpHandler = async (request, info) =>
  new Response(`${request.method} ${new URL(request.url).pathname} ${await request.text()} "${info.peer}"`);

async function serve(socketFile: string, handler: HttpHandler = echo): Promise<HttpServer> {
  const server = await http.listen({ socketFile }, handler);
  servers.push(server);
  return server;
}

const ask = (socketFile: string, signal = never) =>
  http.request(socketFile, { path: "/do", body: '{"ä":1}' }, signal);
const answered = { status: 200, body: 'POST /do {"ä":1} ""' };

describe("listen() in a socket file", () => {
  test("is reached by request(), and by nobody else's account", async () => {
    const file = join(tempFolder(), "control.sock");
    const before = process.umask();
    const server = await serve(file);
    expect(server.port).toBe(0);
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
    expect(process.umask()).toBe(before);
    expect(await ask(file)).toEqual(answered);
  });

  test("takes the place of a file whose server is gone", async () => {
    const folder = tempFolder();
    const stale = join(folder, "stale.sock");
    // Ended without a chance to remove it.
    const program = `Bun.serve({ unix: ${JSON.stringify(stale)}, fetch: () => new Response() }); process.kill(process.pid, "SIGKILL")`;
    Bun.spawnSync([process.execPath, "-e", program]);
    expect(lstatSync(stale).isSocket()).toBe(true);
    expect(await ask(stale)).toBeUndefined();
    await serve(stale);
    expect(await ask(stale)).toEqual(answered);
  });

  test("takes the place of any other file, and leaves alone what a link points at", async () => {
    const folder = tempFolder();
    const [plain, link, target] = ["plain", "link", "target"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    for (const path of [plain, target]) writeFileSync(path, "text", { mode: 0o666 });
    symlinkSync(target, link);
    for (const path of [plain, link]) {
      await serve(path);
      expect(lstatSync(path).mode & 0o777).toBe(0o600);
      expect(await ask(path)).toEqual(answered);
    }
    expect(readFileSync(target, "utf8")).toBe("text");
  });

  test("does not take the file of a server that lives", async () => {
    const file = join(tempFolder(), "control.sock");
    await serve(file);
    const error = await http.listen({ socketFile: file }, echo).catch((why) => why);
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toBe(`Cannot listen in "${file}": another process listens there`);
    expect(error.exitCode).toBe(1);
    expect(await ask(file)).toEqual(answered);
  });

  test("refuses a folder in its place, and a folder that is not there", async () => {
    const folder = tempFolder();
    for (const file of [folder, join(folder, "missing", "control.sock")]) {
      const error = await http.listen({ socketFile: file }, echo).catch((why) => why);
      expect(error).toBeInstanceOf(UserError);
      expect(error.message).toContain(`Cannot listen in "${file}"`);
    }
    expect(existsSync(folder)).toBe(true);
  });

  test("goes any depth down", async () => {
    const folder = join(tempFolder(), "d".repeat(200), "ü".repeat(100));
    mkdirSync(folder, { recursive: true });
    const file = join(folder, "control.sock");
    expect(await ask(file)).toBeUndefined();
    const server = await serve(file);
    expect(lstatSync(file).mode & 0o777).toBe(0o600);
    expect(await ask(file)).toEqual(answered);
    const error = await http.listen({ socketFile: file }, echo).catch((why) => why);
    expect(error.message).toContain("another process listens there");
    await server.stop(0);
    expect(existsSync(file)).toBe(false);
    expect(await ask(file)).toBeUndefined();
  });

  test("says why it does not take a name that is too long", async () => {
    const file = join(tempFolder(), `${"n".repeat(110)}.sock`);
    const error = await http.listen({ socketFile: file }, echo).catch((why) => why);
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toContain("the system takes 103");
    expect(await ask(file).catch((why) => why)).toBeInstanceOf(UserError);
  });

  test("stop() removes the file, and request() finds nobody", async () => {
    const file = join(tempFolder(), "control.sock");
    const server = await serve(file);
    await server.stop(0);
    expect(existsSync(file)).toBe(false);
    expect(await ask(file)).toBeUndefined();
    await serve(file);
    expect(await ask(file)).toEqual(answered);
  });
});

describe("request()", () => {
  test("finds nobody where nobody listens", async () => {
    const folder = tempFolder();
    const plain = join(folder, "plain");
    writeFileSync(plain, "");
    expect(await ask(plain)).toBeUndefined();
    expect(await ask(join(folder, "missing"))).toBeUndefined();
    expect(await ask(join(folder, "missing", "too"))).toBeUndefined();
  });

  test("gives up with the signal's reason, before and while it waits, and the handler hears of it", async () => {
    const file = join(tempFolder(), "control.sock");
    const heard = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    await serve(file, (request) => {
      request.signal.addEventListener("abort", () => heard.resolve());
      began.resolve();
      return new Promise(() => {});
    });
    const reason = new Error("enough");
    expect(await ask(file, AbortSignal.abort(reason)).catch((why) => why)).toBe(reason);
    const controller = new AbortController();
    const asking = ask(file, controller.signal).catch((why) => why);
    await began.promise;
    controller.abort(reason);
    expect(await asking).toBe(reason);
    await heard.promise;
  });

  test("takes at most 64 MiB of an answer", async () => {
    const file = join(tempFolder(), "control.sock");
    let bytes = 64 * 1024 * 1024;
    await serve(file, async () => new Response("x".repeat(bytes)));
    expect((await ask(file))?.body.length).toBe(bytes);
    bytes++;
    expect(await ask(file).catch((error) => error.message)).toContain("more than 67108864 bytes");
  });

  test("rejects when the other side breaks off, before and in its answer", async () => {
    for (const said of ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"]) {
      const file = join(tempFolder(), "control.sock");
      const server = createServer((socket) => {
        socket.once("data", () => socket.end(said));
        socket.on("error", () => undefined);
      });
      await new Promise<void>((resolve) => server.listen(file, resolve));
      const error = await ask(file).catch((why) => why);
      expect(error).toBeInstanceOf(Error);
      expect(error.code).toBe("ECONNRESET");
      server.close();
    }
  });
});
