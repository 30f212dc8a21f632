import { expect, test } from "bun:test";
import { createSecrets } from "../../src/lib/secrets.ts";
import { createLog } from "../../src/platform/log.ts";

function recorder(level: "debug" | "info" | "warn" | "error" = "debug") {
  const lines: string[] = [];
  const secrets = createSecrets();
  const log = createLog({ level, mask: secrets.mask, write: (line) => lines.push(line) });
  return { lines, secrets, log };
}

test("createLog() writes time, level, message and properties on one line", async () => {
  const { lines, log } = recorder();
  log.info("Copied a session", { from: "/a/b.jsonl", note: "two words", count: 3 });
  await log.flush();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(
    /^\d{4}-\d\d-\d\dT\S+Z INFO Copied a session from=\/a\/b\.jsonl note="two words" count=3\n$/,
  );
});

test("createLog() drops what is below its level", async () => {
  const { lines, log } = recorder("warn");
  log.info("quiet");
  log.warn("loud");
  await log.flush();
  expect(lines.join("")).toContain("loud");
  expect(lines.join("")).not.toContain("quiet");
});

test("createLog() keeps braces in messages", async () => {
  const { lines, log } = recorder();
  log.info('Sent {"a":1}');
  await log.flush();
  expect(lines[0]).toContain('Sent {"a":1}');
});

test("createLog() masks a configured secret plain, URL-encoded, and in base64 at any alignment", async () => {
  const { lines, secrets, log } = recorder();
  const secret = "s3cret/value+with=signs";
  secrets.add([secret]);
  for (const prefix of ["", "a", "ab", "abc"]) log.warn(`x ${btoa(`${prefix}${secret}tail`)}`);
  log.warn(`plain ${secret}`);
  log.warn(`url ${encodeURIComponent(secret)}`);
  log.error("failed", { error: new Error(`asked with ${secret}`) });
  await log.flush();
  const all = lines.join("");
  expect(all).not.toContain(secret);
  expect(all).not.toContain(encodeURIComponent(secret));
  expect(lines.filter((line) => line.includes("[masked]"))).toHaveLength(7);
});

test("createLog() masks what looks like a credential, and fields named like one", async () => {
  const { lines, log } = recorder();
  log.warn("GET https://api.telegram.org/bot123456789:AAEabcdefghijklmnopqrstuvwxyz012345/getMe");
  log.warn("key sk-test-1234567890 refused");
  log.warn("sent", { headers: { Authorization: "opaque-value" }, apiKey: "another-value" });
  await log.flush();
  const all = lines.join("");
  for (const secret of ["AAEabcdefghijklm", "sk-test-1234567890", "opaque-value", "another-value"]) {
    expect(all).not.toContain(secret);
  }
});

test("createLog() strips control sequences", async () => {
  const { lines, log } = recorder();
  log.warn("title \u001b]0;owned\u0007 and \u001b[31mred");
  await log.flush();
  expect(lines[0]).toContain("title  and red");
});
