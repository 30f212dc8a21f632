import { expect, test } from "bun:test";
import { proxyFor } from "../../src/lib/proxy.ts";

const chosen = (url: string, env: Record<string, string>, proxy?: string) =>
  proxyFor(new URL(url), { env, proxy });

test("proxyFor() takes the proxy of the scheme, the lower-case variable first", () => {
  const env = { HTTPS_PROXY: "http://upper", https_proxy: "http://s", HTTP_PROXY: "http://h" };
  expect(chosen("https://a.example/", env)).toBe("http://s");
  expect(chosen("http://a.example/", env)).toBe("http://h");
  expect(chosen("http://a.example/", { ALL_PROXY: "http://all" })).toBe("http://all");
  expect(chosen("http://a.example/", { http_proxy: "" })).toBeUndefined();
  expect(chosen("http://a.example/", {})).toBeUndefined();
});

test("proxyFor() takes the configured proxy first, and exceptions hold for it too", () => {
  expect(chosen("http://a.example/", { http_proxy: "http://h" }, "http://own")).toBe("http://own");
  expect(chosen("http://a.example/", { no_proxy: "a.example" }, "http://own")).toBeUndefined();
});

test.each([
  ["*", "http://a.example/", true],
  ["a.example", "http://a.example/", true],
  ["a.example", "http://x.a.example/", true],
  ["a.example", "http://xa.example/", false],
  [".a.example", "http://x.a.example/", true],
  ["*.a.example", "http://x.a.example/", true],
  ["A.Example", "http://a.example/", true],
  ["b.example, a.example", "http://a.example/", true],
  ["b.example a.example", "http://a.example/", true],
  ["a.example:80", "http://a.example/", true],
  ["a.example:443", "https://a.example/", true],
  ["a.example:81", "http://a.example/", false],
  ["10.0.0.0/8", "http://10.2.3.4/", true],
  ["10.0.0.0/8", "http://11.2.3.4/", false],
  ["::1", "http://[::1]/", true],
  ["[::1]:80", "http://[::1]/", true],
  ["[::1]", "http://[::1]/", true],
  ["[2001:DB8::1]:8080", "http://[2001:db8::1]:8080/", true],
  ["a.example.", "http://a.example/", true],
  [".a.example.:80", "http://x.a.example/", true],
  ["*:80", "http://a.example/", true],
  ["*:81", "http://a.example/", false],
  ["http://a.example", "http://a.example/", false],
  ["127.0.0.1:80", "http://127.0.0.1/", true],
  [",", "http://a.example/", false],
])("proxyFor() with NO_PROXY=%j for %s", (exceptions, url, isDirect) => {
  const proxy = chosen(url, { NO_PROXY: exceptions, http_proxy: "http://p", https_proxy: "http://p" });
  expect(proxy === undefined).toBe(isDirect);
});
