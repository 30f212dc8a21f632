/** Asks the engine that the owner chose, and says in words what it answers. */

import type { SearchOutcome, WebResponse, WebSearch } from "../../core/web.ts";
import { abortable } from "../../lib/abort.ts";
import { createLanes } from "../../lib/lanes.ts";
import { type Credential, chooseEngine, otherEngines } from "./choose-engine.ts";
import type { WebSearchOptions } from "./create-web-search.ts";
import type { EngineQuery, SearchEngine, Verdict } from "./engine.ts";
import { cleanHits } from "./hits.ts";

const MOST_BYTES = 1_000_000;
/** After which an engine that had too many requests is asked once more. */
const PAUSE_MS = 1_000;

type Answer =
  | { readonly ok: true; readonly response: WebResponse }
  | { readonly ok: false; readonly reason: string };

/** `count` is one that every engine takes. */
export function createEngineSearch({
  settings,
  env,
  web,
  clock,
  onSecret,
}: WebSearchOptions): WebSearch["search"] {
  const choice = chooseEngine(settings, env);
  if (choice.ok && choice.engine.needs?.what === "key" && choice.credential !== undefined) {
    onSecret(choice.credential.value);
  }
  const lane = createLanes({ limit: 1 });

  /** Asks once, and a second time after a pause where that is all the engine wants. */
  async function ask(engine: SearchEngine, query: EngineQuery, signal: AbortSignal): Promise<Answer> {
    const { url, ...request } = engine.request(query);
    const end = clock.elapsed() + settings.timeout * 1_000;
    const send = () =>
      web.fetch(url, {
        ...request,
        maxBytes: MOST_BYTES,
        // Only the owner's own instance has a reason to lead elsewhere.
        ...(engine.needs?.what !== "address" && { maxRedirects: 0 }),
        timeoutMs: Math.max(1, end - clock.elapsed()),
        signal,
      });
    let response = await send();
    if (response.ok && response.status === 429 && end - clock.elapsed() > PAUSE_MS) {
      await clock.sleep(PAUSE_MS, signal);
      response = await send();
    }
    if (response.ok) return { ok: true, response };
    const advice =
      response.kind === "failed" ? "; check the network, and tools.web.proxy if there is one" : "";
    return { ok: false, reason: `${engine.label} could not be asked: ${response.reason}${advice}` };
  }

  return async (text, { count, timeRange, signal }) => {
    signal.throwIfAborted();
    if (!choice.ok) return choice;
    const { engine, credential } = choice;
    const query = {
      query: text,
      count,
      timeRange,
      credential: credential?.value ?? "",
      now: clock.now(),
    };
    const look = async () => {
      signal.throwIfAborted();
      return ask(engine, query, signal);
    };
    const answer = engine.oneAtATime ? await abortable(lane.run("only", look), signal) : await look();
    const outcome = answer.ok ? outcomeOf(engine, answer.response, count, credential) : answer;
    const ageless = outcome.ok && timeRange !== undefined && engine.isTimeless === true;
    return withNote(outcome, [choice.note, ageless ? timeless(engine) : undefined]);
  };
}

function timeless({ label }: SearchEngine): string {
  return `${label} cannot search by time, so these are of any age`;
}

/** With a failure too: who was asked instead can be all that is wrong. */
function withNote(outcome: SearchOutcome, notes: readonly (string | undefined)[]): SearchOutcome {
  const note = notes.filter((one) => one !== undefined).join(". ");
  if (note === "") return outcome;
  return outcome.ok ? { ...outcome, note } : { ok: false, reason: `${outcome.reason}. ${note}` };
}

function outcomeOf(
  engine: SearchEngine,
  { status, body, truncated }: WebResponse,
  count: number,
  credential: Credential | undefined,
): SearchOutcome {
  const { label } = engine;
  // Bytes that are no text become replacement characters, which no engine minds.
  const text = new TextDecoder().decode(body);
  const verdict = engine.judge?.(status, text) ?? verdictOf(status, engine);
  if (verdict === "nothingFound") return { ok: true, hits: [], engine: label };
  if (verdict !== undefined) return { ok: false, reason: explain(verdict, { engine, status, credential }) };
  const raw = truncated ? undefined : engine.parse(text);
  if (raw !== undefined) return { ok: true, hits: cleanHits(raw, count), engine: label };
  const problem = truncated
    ? `sent more than ${MOST_BYTES / 1_000_000} MB`
    : "sent something that cannot be read as results";
  return { ok: false, reason: `${label} ${problem}; ${askAnother(engine)}` };
}

/** What the status alone says. `undefined` for a success. */
function verdictOf(status: number, { needs }: SearchEngine): Verdict | undefined {
  if (status >= 200 && status < 300) return undefined;
  if ((status === 401 || status === 403) && needs?.what === "key") return "wrongKey";
  if (needs?.what === "address" && status === 401) return "needsLogin";
  if (needs?.what === "address" && status === 404) return "wrongAddress";
  if (status === 402) return "noCredit";
  if (status === 429) return "tooMany";
  if (status === 400 || status === 414 || status === 422) return "wrongQuery";
  return "outOfOrder";
}

function explain(
  verdict: Exclude<Verdict, "nothingFound">,
  {
    engine,
    status,
    credential,
  }: { engine: SearchEngine; status: number; credential: Credential | undefined },
): string {
  const { label } = engine;
  const key = `the key from ${credential?.source ?? "the configuration"}`;
  const texts: Readonly<Record<typeof verdict, string>> = {
    wrongKey: `${label} refuses ${key} (HTTP ${status}); put a valid one there`,
    noCredit: `${label} says that ${key} has no searches left (HTTP ${status}); add credit there, or ${askAnother(engine)}`,
    tooMany: `${label} had too many requests and a second later still (HTTP ${status}); wait before the next search, or ${askAnother(engine)}`,
    wrongQuery: `${label} cannot search for that (HTTP ${status}); use fewer and plainer words`,
    robotTest: `${label} took the search for a robot's and showed a test instead of results; wait some minutes, or ${askAnother(engine)}`,
    noJson: `${label} gives no JSON (HTTP ${status}); add json to search.formats in its settings.yml`,
    needsLogin: `${label} wants a user name and a password (HTTP ${status}), and none is ever sent; let this machine in without them, or ${askAnother(engine)}`,
    wrongAddress: `there is no ${label} at the address from ${credential?.source ?? "the configuration"} (HTTP ${status}); put there what a browser shows for its first page`,
    noSources: `${label} found nothing, and engines that it asks did not answer; try again later, or ${askAnother(engine)}`,
    outOfOrder: `${label} is out of order (HTTP ${status}); try again later, or ${askAnother(engine)}`,
  };
  return texts[verdict];
}

function askAnother(engine: SearchEngine): string {
  return `ask another engine (tools.web.search.provider: ${otherEngines(engine).join(", ")})`;
}
