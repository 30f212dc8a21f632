/** SIGKILL at any moment while a job runs every second: each of its times comes once, and what came of it arrives. */

import { afterEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startTelegramServer } from "../fakes/telegram-server.ts";
import { assistant, textOf } from "./assistant.ts";
import { eventually, killGateways, startGateway, telegramHome } from "./gateway.ts";
import { endToEnd, sessionOf, startModel } from "./harness.ts";

endToEnd();
afterEach(killGateways);

/** How long each process lives, in milliseconds after it listens: from the first moments of a run to its end. */
const LIVES = [5, 900, 340, 1_020, 610, 40, 1_300];

test("killed again and again, a job runs each of its times once, tells of it, and the chat knows", async () => {
  const server = await startTelegramServer({ retryMs: 50 });
  server.meet(1);
  const model = await startModel(
    assistant({
      agent: ({ body }) => ({
        text: [/\d\d:\d\d:\d\d \(UTC\)(?!.*\(UTC\))/s.exec(textOf(body))?.[0] ?? "?"],
      }),
    }),
  );
  const home = telegramHome(server, model.url, { sendToolHints: false });
  const file = join(home.workspace, "cron", "jobs.json");
  mkdirSync(join(home.workspace, "cron"), { recursive: true });
  // Off the full second, which a time without seconds would be shown for.
  const createdAtMs = Math.floor(Date.now() / 1_000) * 1_000 + 500;
  const payload = { kind: "agent_turn", message: "tick", deliver: true, channel: "telegram", to: "1" };
  const schedule = { kind: "every", everyMs: 1_000 };
  const jobs = [{ id: "ticker", name: "ticker", enabled: true, schedule, payload, createdAtMs }];
  writeFileSync(file, JSON.stringify({ version: 1, jobs }));
  for (const life of LIVES) {
    const gateway = await startGateway(home);
    await Bun.sleep(life);
    gateway.signal("SIGKILL");
    await gateway.exited;
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ jobs: [{ id: "ticker" }] });
  }
  const gateway = await startGateway(home);
  const before = server.sent(1).length;
  await eventually(() => server.sent(1).length > before + 1);
  gateway.signal("SIGTERM");
  await gateway.exited;

  const own = await sessionOf(home, "cron:ticker");
  const turnsOf = (role: string) => own.filter((line) => line.role === role).map(({ turn }) => turn);
  const begun = turnsOf("user");
  expect(begun.length).toBeGreaterThan(3);
  expect(new Set(begun).size).toBe(begun.length);
  expect(turnsOf("assistant")).toEqual(begun);
  const answers = own.filter(({ role }) => role === "assistant").map(({ content }) => content);
  const shown = server.sent(1).map(({ text }) => text);
  expect([...new Set(shown)]).toEqual(answers as string[]);
  // Telegram knows no key by which it could tell a message that it got in the moment of a kill.
  expect(shown.length - answers.length).toBeLessThanOrEqual(LIVES.length);
  const noted = (await sessionOf(home, "telegram:1")).map(({ content }) => content);
  expect(noted).toEqual(answers);
});
