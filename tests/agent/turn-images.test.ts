import { afterEach, describe, expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import { rmSync } from "node:fs";
import * as v from "valibot";
import { createMediaStore } from "../../src/agent/media.ts";
import { runTurn } from "../../src/agent/turn.ts";
import type { Image, Model, ToolMessage } from "../../src/core/model.ts";
import { type AnyTool, defineTool, toolOk } from "../../src/core/tool.ts";
import { never } from "../../src/lib/abort.ts";
import { createFileSystem } from "../../src/platform/files.ts";
import { createAnthropic } from "../../src/providers/anthropic/anthropic.ts";
import { createChatCompletions } from "../../src/providers/chat-completions/chat-completions.ts";
import { createResilient } from "../../src/providers/resilient/resilient.ts";
import { createStanding } from "../../src/providers/resilient/standing.ts";
import { createResponses } from "../../src/providers/responses/responses.ts";
import { startAnthropicServer } from "../fakes/anthropic-server.ts";
import { type ChatServer, type ChatServerOptions, startChatServer } from "../fakes/chat-server.ts";
import type { FakeClock } from "../fakes/clock.ts";
import { PNG, pngOf } from "../fakes/images.ts";
import { createFakeLog } from "../fakes/log.ts";
import { inboundMessage } from "../fakes/messages.ts";
import { createFakeModel } from "../fakes/model.ts";
import { startResponsesServer } from "../fakes/responses-server.ts";
import { tempFolder } from "../fakes/temp.ts";
import { createTestToolbox } from "../fakes/toolbox.ts";
import { createFixture } from "./fixture.ts";

const DATA = PNG.toString("base64");

const look = defineTool({
  name: "look",
  description: "Looks at pictures",
  parameters: v.strictObject({ sizes: v.array(v.number()) }),
  readOnly: true,
  execute: async ({ sizes }) => {
    const images = sizes.map((size, index): Image => {
      const bytes = size === 0 ? PNG : pngOf(size, index);
      return { mime: "image/png", data: bytes.toString("base64"), name: `${index}.png` };
    });
    return toolOk(`${sizes.length} pictures`, { images });
  },
});

const lookAt = (...sizes: readonly number[]) => ({ name: "look", arguments: { sizes } });

const servers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

let turns = 0;

/** An agent whose tool keeps its images in the workspace, as the program does. */
function agentOf(
  model: (clock: FakeClock) => Model,
  workspace = tempFolder(),
  tools: readonly AnyTool[] = [look],
) {
  const fixture = createFixture({ workspace, wrap: (_, clock) => model(clock) });
  const media = createMediaStore({
    files: createFileSystem(),
    clock: fixture.clock,
    log: createFakeLog(),
    workspace,
  });
  const toolbox = createTestToolbox({
    tools,
    workspace,
    keepImage: ({ data, name }) => media.save({ channel: "tools", bytes: Buffer.from(data, "base64"), name }),
  });
  const deps = { ...fixture.deps, toolbox };
  return {
    ...fixture,
    say: (content: string) => runTurn(inboundMessage({ id: `cli:${++turns}`, content }), deps, never),
  };
}

function endpoint(baseUrl: string, clock: FakeClock) {
  return { provider: "fake", baseUrl, apiKey: "sk-test-0123456789", fetch, clock };
}

async function chatServer(
  script: ChatServerOptions["script"],
  options: Partial<ChatServerOptions> = {},
): Promise<ChatServer> {
  const server = await startChatServer({ script, strictKeys: true, ...options });
  servers.push(server);
  return server;
}

/** The conversation of a request, as its bytes. */
function conversationIn(text: string): string {
  return text.slice(text.indexOf('"messages":['), text.lastIndexOf('],"tools"'));
}

const script = [{ toolCalls: [lookAt(0), lookAt(0)] }, { text: "Two dots." }, { text: "Gladly." }];

describe("runTurn() with a tool that returns images", () => {
  test("shows them to the model, keeps them, and begins the next turn with the same bytes", async () => {
    const server = await chatServer(script);
    const agent = agentOf((clock) => createChatCompletions(endpoint(server.url, clock)));
    expect([await agent.say("Look"), await agent.say("Thanks")]).toEqual(["answered", "answered"]);
    await agent.end();
    expect(server.invalid).toEqual([]);
    const [, second = "", third = ""] = server.requests.map(({ text }) => conversationIn(text));
    expect(second.split(DATA)).toHaveLength(3);
    expect(third.startsWith(second)).toBe(true);

    const [, , result] = await agent.stored();
    const [file] = result?.media ?? [];
    expect(result).toMatchObject({ role: "tool", content: "1 pictures" });
    expect(file).toMatchObject({ mime: "image/png", name: "0.png" });
    expect(JSON.stringify(await agent.stored())).not.toContain(DATA);
  });

  test("begins with the same bytes in another process, that knows only what is on disk", async () => {
    const server = await chatServer(script);
    const workspace = tempFolder();
    for (const content of ["Look", "Thanks"]) {
      const agent = agentOf((clock) => createChatCompletions(endpoint(server.url, clock)), workspace);
      await agent.say(content);
      await agent.end();
    }
    const [, second = "", third = ""] = server.requests.map(({ text }) => conversationIn(text));
    expect(server.invalid).toEqual([]);
    expect(second).toContain(DATA);
    expect(third.startsWith(second)).toBe(true);
  });

  test("says that an image is gone, where it is", async () => {
    const server = await chatServer(script);
    const agent = agentOf((clock) => createChatCompletions(endpoint(server.url, clock)));
    await agent.say("Look");
    const lines = await agent.stored();
    for (const { path } of lines.flatMap(({ media = [] }) => media) as { path: string }[])
      rmSync(path, { force: true });
    await agent.say("Thanks");
    await agent.end();
    expect(server.invalid).toEqual([]);
    expect(server.requests[2]?.text).not.toContain(DATA);
    expect(server.requests[2]?.text).toMatch(
      /1 pictures\\n\[The image media\/tools\/\w+\.png is not shown here any more\.\]/,
    );
  });

  test("shows of one result what a request takes, and the next turn shows the same", async () => {
    const size = 3.75 * 1024 * 1024;
    const model = createFakeModel({ calls: [lookAt(size, size, size, size)] }, "Big.", "Yes.");
    const agent = agentOf(() => model);
    await agent.say("Look");
    await agent.say("Thanks");
    await agent.end();
    const [, second, third] = model.requests.map(({ messages }) => messages);
    const result = second?.at(-1) as ToolMessage;
    expect(result.images).toHaveLength(3);
    expect(result.content).toMatch(/^4 pictures\n\[The image [^\n]+ is not shown here any more\.\]$/);
    expect(JSON.stringify(third?.slice(0, second?.length)) === JSON.stringify(second)).toBe(true);
  });

  test("says it in words to a model that takes none, from the first refusal on", async () => {
    const server = await chatServer(script, { images: "refused" });
    const agent = agentOf((clock) => {
      const model = createChatCompletions(endpoint(server.url, clock));
      const standing = createStanding(clock);
      return createResilient({
        candidates: [{ provider: "fake", name: "m", open: async () => model, standing }],
        retryMode: "standard",
        deadlineMs: 900_000,
        clock,
        random: () => 0.5,
        onCall: () => {},
      });
    });
    expect([await agent.say("Look"), await agent.say("Thanks")]).toEqual(["answered", "answered"]);
    await agent.end();
    expect(server.invalid.map(({ invalid }) => invalid)).toEqual(["this model does not support image input"]);
    const taken = server.requests.filter(({ invalid }) => invalid === undefined);
    const [, second = "", third = ""] = taken.map(({ text }) => conversationIn(text));
    expect(second).toMatch(/1 pictures\\n\[The image media\/tools\/\w+\.png was not shown to you/);
    expect(third.startsWith(second)).toBe(true);
  });

  test("shows them inside the result by Anthropic's protocol, in later turns too", async () => {
    const call = { tool: "look", input: { sizes: [0] } };
    const server = await startAnthropicServer({
      script: [{ blocks: [call, call] }, { text: "Two dots." }, { text: "Gladly." }],
    });
    servers.push(server);
    const agent = agentOf((clock) => createAnthropic(endpoint(server.url, clock)));
    await agent.say("Look");
    await agent.say("Thanks");
    await agent.end();
    expect(server.invalid).toEqual([]);
    expect(server.requests.map(({ text }) => text.split(DATA).length - 1)).toEqual([0, 2, 2]);
  });

  test("shows them inside the result by the Responses protocol, in later turns too", async () => {
    const call = { name: "look", arguments: JSON.stringify({ sizes: [0] }) };
    const script = [[call, call], [{ text: "Two dots." }], [{ text: "Gladly." }]];
    const server = await startResponsesServer({ script: script.map((items) => ({ items })) });
    servers.push(server);
    const agent = agentOf((clock) => createResponses(endpoint(server.url, clock)));
    await agent.say("Look");
    await agent.say("Thanks");
    await agent.end();
    expect(server.invalid).toEqual([]);
    expect(server.requests.map(({ text }) => text.split(DATA).length - 1)).toEqual([0, 2, 2]);
  });
});
