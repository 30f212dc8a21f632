import { expect, test } from "bun:test";
import type { WebFailure, WebRequest, WebResponse } from "../../src/core/web.ts";
import { createPageReader } from "../../src/web/page-reader.ts";
import { createFakeLog } from "../fakes/log.ts";

const { signal } = new AbortController();

function answer(body: unknown, more: Partial<WebResponse> = {}): WebResponse {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    ok: true,
    url: "https://r.jina.ai/",
    finalUrl: "https://r.jina.ai/",
    status: 200,
    headers: {},
    body: new TextEncoder().encode(text),
    truncated: false,
    downgraded: false,
    isListed: false,
    ...more,
  };
}

function open(
  reply: WebResponse | WebFailure = answer({ data: { title: "T", content: "text" } }),
  key?: string,
) {
  const asked: { url: string; request: WebRequest }[] = [];
  const log = createFakeLog();
  const reader = createPageReader({
    log,
    web: {
      async fetch(url, request) {
        asked.push({ url, request });
        return reply;
      },
      whyRefused: async () => undefined,
    },
    key,
  });
  const read = (url: string, finalUrl = url, isListed = false) =>
    reader.read({ url, finalUrl, isListed }, signal);
  return { asked, log, read };
}

test("read() asks the service for where the page is, without its fragment, and follows it nowhere", async () => {
  const { asked, read } = open();
  expect(await read("https://a.example/old", "https://a.example/new?q=1#part")).toEqual({
    title: "T",
    text: "text",
  });
  expect(asked.map(({ url }) => url)).toEqual(["https://r.jina.ai/https://a.example/new?q=1"]);
  expect(asked[0]?.request).toMatchObject({ maxRedirects: 0, headers: { accept: "application/json" } });
  expect(asked[0]?.request.headers).not.toHaveProperty("authorization");
});

test("read() shows its key where there is one", async () => {
  const { asked, read } = open(undefined, "k-123");
  await read("https://a.example/");
  expect(asked[0]?.request.headers?.["authorization"]).toBe("Bearer k-123");
});

test("read() tells the service of no address that gives rights or leads inside", async () => {
  const { asked, read } = open();
  const secret = [
    "https://me:pw@a.example/",
    "https://a.example/?access_token=1",
    "https://a.example/?x=1&API_KEY=1",
    "https://a.example/?X-Amz-Signature=1",
    "https://a.example/?x-goog-credential=1",
    "https://a.example/?sig=1",
    "http://127.0.0.1/",
    "http://10.1.2.3/",
    "http://[::1]/",
    "http://printer/",
    "http://wiki.internal/",
  ];
  for (const url of secret) {
    expect(await read(url)).toBeUndefined();
    expect(await read("https://a.example/", url)).toBeUndefined();
    expect(await read(url, "https://a.example/")).toBeUndefined();
  }
  expect(asked).toEqual([]);
});

test("read() tells the service of no public name that the owner alone lets lead inside", async () => {
  const { asked, read } = open();
  const url = "https://wiki.a.example/";
  expect(await read(url, url, true)).toBeUndefined();
  expect(asked).toEqual([]);
});

test("read() has read nothing when the service fails, refuses or answers something else", async () => {
  const answers = [
    { ok: false, kind: "failed", reason: "r.jina.ai does not answer" } as const,
    answer({ data: { content: "text" } }, { status: 429 }),
    answer({ data: { content: "text" } }, { status: 302 }),
    answer({ data: { content: "text" } }, { truncated: true }),
    answer("<html>"),
    answer("null"),
    answer({ data: "text" }),
    answer({ data: { content: 1 } }),
    answer({ data: { title: "T", content: "  " } }),
  ];
  for (const reply of answers) expect(await open(reply).read("https://a.example/")).toBeUndefined();
});

test.each([
  [402, ["warn", "debug"]],
  [404, ["debug", "debug"]],
])("createPageReader() tells the owner once of a key that is refused: %p", async (status, levels) => {
  const { log, read } = open(answer("", { status }));
  for (const page of ["a", "b"]) expect(await read(`https://example.com/${page}`)).toBeUndefined();
  expect(log.lines).toEqual(levels.map((level) => `${level} Jina's reader did not read a page ${status}`));
});
