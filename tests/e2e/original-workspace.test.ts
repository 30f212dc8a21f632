/** A home of the original, copied to this program: sessions, memory and skills are there at once, and nothing of it is touched. */

import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endToEnd, run, startModel } from "./harness.ts";
import { added, changed, generations, homeOf, json, messagesOf, snapshot, succeed } from "./original-home.ts";

endToEnd();

describe("config check", () => {
  test.each([
    [
      "first",
      ["channels.email is not supported yet", "gateway.host: everybody in your network reaches the gateway"],
    ],
    [
      "newer",
      [
        "agents.defaults.dream is not supported yet",
        "tools.maxSessionMessagesPerMinute is not supported yet",
        "tools.mcpServers is not supported yet",
      ],
    ],
  ] as const)(
    "warns of what is not supported in the %s one's configuration, and of nothing else",
    async (generation, warnings) => {
      const stdout = await succeed(homeOf(generation), "config", "check");
      const lines = stdout.trimEnd().split("\n");
      expect(lines.at(-1)).toContain("config.json: ok, model fake-model");
      expect(lines.slice(0, -1)).toEqual(
        warnings.map((warning) => expect.stringContaining(`Warning: ${warning}`)),
      );
    },
  );
});

describe("sessions", () => {
  test.each([
    ["first", ["cli:direct", "discord:998877", "telegram:123"]],
    ["newer", ["cli:direct", "heartbeat", "slack:C042:1722600000.1234", "telegram:123"]],
  ] as const)("list shows all of the %s one, under their keys", async (generation, keys) => {
    const listed = await json<readonly { key: string }[]>(homeOf(generation), "sessions", "list");
    expect(listed.map(({ key }) => key).sort()).toEqual([...keys]);
  });

  test("show prints one of the first version from its beginning", async () => {
    const stdout = await succeed(homeOf("first"), "sessions", "show", "telegram:123");
    expect(stdout).toContain("How deep do I plant tomatoes?");
    expect(stdout).toContain("the relay is on pin 17");
    expect(stdout).toContain("Danke, das war's 🐈");
    expect(stdout).toContain("2026-02-18 20:30");
    expect(await succeed(homeOf("first"), "sessions", "show", "discord:998877")).toContain("old place");
  });

  test("show prints one of the newer, without what is private or was a command", async () => {
    const stdout = await succeed(homeOf("newer"), "sessions", "show", "telegram:123");
    for (const said of ["check the backup", "how full is Quokka?", "df -h", "2.0T 1.7T", "restic unlock"])
      expect(stdout).toContain(said);
    expect(stdout).not.toContain("/status");
    expect(stdout).not.toContain("state-of-a-provider");
  });
});

describe("agent", () => {
  test("goes on with a session of the first version, and knows what it knew", async () => {
    const server = await startModel([{ text: "Pin 17." }, { text: "Zebrino." }]);
    const home = homeOf("first", server.url);
    const before = snapshot(home.folder);
    expect(await succeed(home, "agent", "-m", "which pin was it?", "-s", "telegram:123")).toBe("Pin 17.\n");
    const [system, ...messages] = messagesOf(server.requests[0]);
    for (const known of [
      "tomatoes of the first version are called Zebrino",
      "water before coffee",
      "Ana, in Vienna",
    ])
      expect(system?.["content"]).toContain(known);
    const said = messages.map(({ role, content }) => [role, content]);
    expect(said.slice(-5)).toEqual([
      ["user", "The fan hums since yesterday, the relay is on pin 17."],
      ["assistant", "That is the relay's buzz: give the coil 5 V, not 3.3."],
      ["user", "Danke, das war's 🐈"],
      ["assistant", "Gern!"],
      ["user", expect.stringMatching(/\n\nwhich pin was it\?$/)],
    ]);
    // What the original had summed up is in its history, and not in the prompt any more.
    expect(JSON.stringify(messages)).not.toContain("How deep do I plant");
    expect(server.invalid).toEqual([]);

    expect(changed(before, snapshot(home.folder))).toEqual([]);
    await succeed(home, "agent", "-m", "and the tomatoes?", "-s", "telegram:123");
    expect(JSON.stringify(messagesOf(server.requests[1]))).toContain("which pin was it?");
    const shown = await succeed(home, "sessions", "show", "telegram:123");
    for (const line of ["How deep do I plant tomatoes?", "which pin was it?", "Zebrino."])
      expect(shown).toContain(line);
  });

  test("goes on with a session of the newer, with its calls of tools, its summary and its skills", async () => {
    const server = await startModel([{ text: "Restic." }]);
    const home = homeOf("newer", server.url);
    const before = snapshot(home.folder);
    await succeed(home, "agent", "-m", "which program was it?", "-s", "telegram:123");
    const [system, ...messages] = messagesOf(server.requests[0]);
    for (const known of [
      "photos of the newer version are on the disk called Quokka",
      "tests before tea",
      "Ben moved his photos to Quokka and asked for a nightly check",
      "Letters end with the word Servus",
      "Check and repair the backup of the photos",
      "a-restic-that-nobody-has",
    ])
      expect(system?.["content"]).toContain(known);
    expect(system?.["content"]).not.toContain("wttr.in");
    const said = JSON.stringify(messages);
    for (const line of [
      "how full is Quokka?",
      "df -h /mnt/quokka",
      "2.0T 1.7T",
      "Quokka is at 85 percent",
      "three days old",
      "restic unlock",
    ])
      expect(said).toContain(line);
    for (const hidden of ["/status", "v0.3.0, all well", "state-of-a-provider", "it ran at 02:00"])
      expect(said).not.toContain(hidden);
    expect(messages.filter(({ role }) => role === "tool")).toHaveLength(1);
    expect(server.requests[0]?.body["model"]).toBe("fake-model");
    expect(server.invalid).toEqual([]);
    expect(changed(before, snapshot(home.folder))).toEqual([]);
  });
});

describe("memory", () => {
  test.each([
    ["first", "called Zebrino"],
    ["newer", "disk called Quokka"],
  ] as const)("show prints the facts of the %s one", async (generation, fact) => {
    expect(await succeed(homeOf(generation), "memory", "show")).toContain(fact);
  });

  test.each([
    ["first", ["2026-02-16 18:20", "two thirds of the stem", "2026-02-17 09:05", "relay on pin 17"]],
    [
      "newer",
      ["2026-07-30 21:14", "to the disk Quokka", "check the backup", "2026-08-02 19:40", "marmalade jars"],
    ],
  ] as const)("history prints the entries of the %s one, the oldest first", async (generation, said) => {
    const stdout = await succeed(homeOf(generation), "memory", "history");
    const places = said.map((text) => stdout.indexOf(text));
    expect(places).not.toContain(-1);
    expect(places.toSorted((a, b) => a - b)).toEqual(places);
  });

  test.each([
    ["first", "Zebrino", "memory/MEMORY.md"],
    ["first", "stem tomatoes", "memory/HISTORY.md"],
    ["first", "hums relay", "telegram:123"],
    ["first", "old place", "discord:998877"],
    ["newer", "QUOKKA disk photos", "memory/MEMORY.md"],
    ["newer", "marmalade", "memory/history.jsonl"],
    ["newer", "repository locked", "telegram:123"],
    ["newer", "jars red lid", "slack:C042:1722600000.1234"],
  ] as const)("search finds what the %s one knows: %s", async (generation, query, source) => {
    expect(await succeed(homeOf(generation), "memory", "search", query)).toContain(source);
  });
});

describe("skills", () => {
  test("list shows the skill of the first version beside the built-in ones", async () => {
    const skills = await json<
      readonly { name: string; source: string; missing: unknown[]; problems: unknown[] }[]
    >(homeOf("first"), "skills", "list");
    expect(skills.find(({ name }) => name === "greenhouse")).toMatchObject({
      source: "workspace",
      description: "Read the greenhouse log and say what the plants need.",
      missing: [],
      problems: [],
    });
    expect(skills.map(({ name }) => name)).toContain("cron");
  });

  test("list shows those of the newer, with what is missing, and which are disabled", async () => {
    const skills = await json<
      readonly {
        name: string;
        isAlways: boolean;
        isDisabled: boolean;
        missing: string[];
        problems: unknown[];
      }[]
    >(homeOf("newer"), "skills", "list");
    const named = (wanted: string) => skills.find(({ name }) => name === wanted);
    expect(named("photo-backup")?.missing).toEqual([
      "the program a-restic-that-nobody-has",
      "the variable A_RESTIC_PASSWORD_THAT_NOBODY_SET",
    ]);
    expect(named("house-style")).toMatchObject({ isAlways: true, missing: [], problems: [] });
    expect(named("weather")?.isDisabled).toBe(true);
    expect(await succeed(homeOf("newer"), "skills", "show", "photo-backup")).toContain("restic snapshots");
  });
});

describe("a home of the original", () => {
  test.each(generations)("is not touched by looking at it: the %s one", async (generation) => {
    const home = homeOf(generation);
    const before = snapshot(home.folder);
    for (const args of [
      ["status"],
      ["sessions", "list"],
      ["sessions", "show", "telegram:123"],
      ["memory", "show"],
      ["memory", "history"],
      ["memory", "search", "Vienna"],
      ["cron", "list"],
      ["skills", "list"],
      ["tools", "list"],
      ["usage"],
    ])
      await succeed(home, ...args);
    const after = snapshot(home.folder);
    expect(changed(before, after)).toEqual([]);
    const ours = /^workspace\/(\.nanobot\/|sessions\/|cron\/jobs\.json$)/;
    expect(added(before, after).filter((path) => !ours.test(path))).toEqual([]);
  });

  test("keeps two sessions apart whose names were one", async () => {
    const home = homeOf("first");
    mkdirSync(join(home.folder, "sessions"), { recursive: true });
    writeFileSync(
      join(home.folder, "sessions", "slack_a_b.jsonl"),
      '{"_type":"metadata","key":"slack:a_b","metadata":{}}\n{"role":"user","content":"of a_b"}\n',
    );
    expect(await succeed(home, "sessions", "show", "slack:a_b")).toContain("of a_b");
    const other = await run(["sessions", "show", "slack:a:b"], { home });
    expect(other.stdout).not.toContain("of a_b");
    expect(existsSync(join(home.folder, "sessions", "slack_a_b.jsonl"))).toBe(true);
  });
});
