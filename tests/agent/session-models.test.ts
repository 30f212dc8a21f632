import { afterEach, describe, expect, test } from "bun:test";
import { createSessionModels } from "../../src/agent/session-models.ts";
import type { ModelChoice } from "../../src/core/app.ts";
import { UserError } from "../../src/core/errors.ts";
import type { Session } from "../../src/core/session.ts";
import { never } from "../../src/lib/abort.ts";
import { createFakeLog } from "../fakes/log.ts";
import { createFixture } from "./fixture.ts";

const opened: Session[] = [];
afterEach(async () => {
  for (const session of opened.splice(0)) await session.close();
});

async function setup() {
  const { deps, sessions } = createFixture();
  const { standard } = deps.models;
  const log = createFakeLog();
  const known = new Map<string, ModelChoice>([["big", { ...standard, name: "big-model" }]]);
  const create = (isWanted = false) =>
    createSessionModels({
      standard,
      isWanted,
      presets: ["big"],
      log,
      async find(name) {
        const choice = known.get(name);
        if (choice === undefined) throw new UserError(`There is no model "${name}"`);
        return choice;
      },
    });
  const open = async (key = "cli:direct") => {
    const session = await sessions.open(key, { signal: never });
    opened.push(session);
    return session;
  };
  return { models: create(), create, standard, known, log, open };
}

describe("createSessionModels()", () => {
  test("of() is the configured model where nothing was chosen", async () => {
    const { models, standard, open } = await setup();
    expect(await models.of(await open())).toBe(standard);
  });

  test("of() is the model that was asked for by hand, until the session chooses again", async () => {
    const { models, create, standard, open } = await setup();
    const session = await open();
    await models.choose(session, "big");
    const wanted = create(true);
    expect(await wanted.of(session)).toBe(standard);
    await wanted.choose(session, "big");
    expect((await wanted.of(session)).name).toBe("big-model");
  });

  test("choose() holds for that session, also when it is opened again by another process", async () => {
    const { models, create, standard, open } = await setup();
    const session = await open();
    expect((await models.choose(session, "big")).name).toBe("big-model");
    await session.close();
    const again = await open();
    expect((await create().of(again)).name).toBe("big-model");
    expect(await models.of(await open("cli:other"))).toBe(standard);
  });

  test("choose() takes the configured model again", async () => {
    const { models, create, standard, open } = await setup();
    const session = await open();
    await models.choose(session, "big");
    expect(await models.choose(session, undefined)).toBe(standard);
    expect(await create().of(session)).toBe(standard);
    expect(session.metadata).toEqual({});
  });

  test("choose() leaves everything as it was when there is no such model", async () => {
    const { models, open } = await setup();
    const session = await open();
    await models.choose(session, "big");
    await expect(models.choose(session, "nope")).rejects.toThrow(UserError);
    expect((await models.of(session)).name).toBe("big-model");
    expect(models.lastOf("cli:direct")?.name).toBe("big-model");
  });

  test("choose() keeps what else the session knows of itself", async () => {
    const { models, open } = await setup();
    const session = await open();
    await session.setMetadata({ title: "Holidays" });
    await models.choose(session, "big");
    expect(session.metadata).toEqual({ title: "Holidays", model: "big" });
  });

  test("kept() is the choice, and nothing else", async () => {
    const { models, open } = await setup();
    const session = await open();
    await session.setMetadata({ title: "Holidays" });
    expect(models.kept(session)).toEqual({});
    await models.choose(session, "big");
    expect(models.kept(session)).toEqual({ model: "big" });
  });

  test("of() answers with the configured model when the chosen one has gone, and warns", async () => {
    const { models, known, standard, log, open } = await setup();
    const session = await open();
    await models.choose(session, "big");
    known.clear();
    expect(await models.of(session)).toBe(standard);
    expect(log.lines.some((line) => JSON.stringify(line).includes("big"))).toBe(true);
    await session.setMetadata({ model: 5 });
    expect(await models.of(session)).toBe(standard);
  });

  test("lastOf() knows what was asked for since the start, of the sessions used last", async () => {
    const { models, standard, open } = await setup();
    expect(models.lastOf("cli:direct")).toBeUndefined();
    await models.of(await open());
    expect(models.lastOf("cli:direct")).toBe(standard);
    const metadata = { model: "big" };
    const stub = { ...(await open("cli:stub")), metadata };
    for (let index = 0; index < 1_000; index++) await models.of({ ...stub, key: `cli:${index}` });
    expect(models.lastOf("cli:direct")).toBeUndefined();
    expect(models.lastOf("cli:0")?.name).toBe("big-model");
  });
});
