/** What somebody wants who talks to the offline model: English, by tolerant patterns. */

export type Intent =
  | { readonly kind: "list"; readonly path: string; readonly recursive: boolean }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly text: string }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "remember"; readonly fact: string }
  | { readonly kind: "recall" }
  | { readonly kind: "remind"; readonly what: string; readonly when: When | undefined }
  | { readonly kind: "time" }
  | { readonly kind: "help" }
  | { readonly kind: "unknown" };

/** When a reminder is due. `clock` is a time of day. */
export type When =
  | { readonly kind: "in"; readonly seconds: number }
  | { readonly kind: "every"; readonly seconds: number }
  | { readonly kind: "clock"; readonly hour: number; readonly minute: number };

/** Longer messages are not commands of a few words. Bounds what the patterns have to look at. */
const LONGEST = 20_000;

const POLITENESS =
  /^(?:(?:please|pls|hey|hi|hello|ok|okay|nanobot)\b[\s,!.:]*|(?:can|could|would|will) you\b[\s,]*|i(?:'d| would) like you to\s+|i want you to\s+)/i;
/** A name with an extension, or a path with a slash. */
const FILE_NAME = /(?:^|\s|["'`])((?:[\w.~-]*\/)*[\w~-][\w.~-]*\.[A-Za-z0-9]{1,10})(?=$|[\s"'`?!,;:.])/;

export function understand(message: string): Intent {
  const text = withoutPoliteness(message.slice(0, LONGEST).trim());
  return (
    asRun(text) ??
    asRemember(text) ??
    asRemind(text) ??
    asWrite(text) ??
    asList(text) ??
    asRead(text) ??
    asTime(text) ??
    asHelp(text) ?? { kind: "unknown" }
  );
}

function withoutPoliteness(text: string): string {
  let rest = text;
  for (let shorter = rest.replace(POLITENESS, ""); shorter !== rest; shorter = rest.replace(POLITENESS, "")) {
    if (shorter.trim() === "") return rest; // A greeting and nothing else.
    rest = shorter;
  }
  return rest.replace(/[\s,]+(?:please|pls|thanks|thank you)[\s.!?]*$/i, "").trim();
}

/** Takes one pair of quotes or backticks off. */
function unquoted(text: string): string {
  const trimmed = text.trim();
  const match = /^(?:"([\s\S]*)"|'([\s\S]*)'|`([\s\S]*)`|“([\s\S]*)”)[.!]?$/.exec(trimmed);
  return match ? (match.slice(1).find((group) => group !== undefined) ?? "") : trimmed;
}

/** A path as it stands in a sentence: no quotes, no full stop or question mark behind it. */
function pathIn(text: string): string {
  return unquoted(text.trim().replace(/[?!,;:]+$|\.$/, ""));
}

function asRun(text: string): Intent | undefined {
  const fenced = /^(?:(?:run|execute|exec)\b[^`]*)?```(?:\w*\n)?([\s\S]+?)```\s*[.?!]?$/i.exec(text);
  const quoted = /^(?:(?:run|execute|exec)\b[^`]*)?`([^`]+)`[^`]*$/i.exec(text);
  const prompt = /^[$!]\s*(\S[\s\S]*)$/.exec(text);
  const plain =
    /^(?:run|execute|exec)\s+(?:(?:the|this|a)\s+)?(?:shell\s+)?(?:command\b[:\s]*)?(\S[\s\S]*)$/i.exec(text);
  const command = fenced?.[1] ?? quoted?.[1] ?? prompt?.[1] ?? plain?.[1];
  return command === undefined ? undefined : { kind: "run", command: unquoted(command) };
}

function asRemember(text: string): Intent | undefined {
  if (/^what do you (?:remember|know)|^(?:show|read)(?: me)? (?:your|the) memory\b/i.test(text))
    return { kind: "recall" };
  const match =
    /^(?:remember|memori[sz]e|keep in mind|note down|don'?t forget)(?:\s*:|\s+that|\s+this:?)?\s+(\S[\s\S]*)$/i.exec(
      text,
    );
  return match?.[1] === undefined
    ? undefined
    : { kind: "remember", fact: unquoted(match[1]).replace(/\.$/, "") };
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

function asRemind(text: string): Intent | undefined {
  const match = /^(?:remind me|set (?:me )?a reminder|create a reminder)\b\s*([\s\S]*)$/i.exec(text);
  if (!match) return undefined;
  const rest = match[1] ?? "";
  const span =
    /\b(in|every)\s+(?:(\d{1,6})\s*|an?\s+|one\s+)?(s|m|h|d)(?:ec(?:ond)?s?|in(?:ute)?s?|ours?|rs?|ays?)?\b/i.exec(
      rest,
    );
  const clock = /\bat\s+(\d{1,2})(?::(\d{2}))?\s*(am|pm)?\b/i.exec(rest);
  const [found] = span ?? clock ?? [""];
  const what = rest.replace(found, " ").replace(/\s+/g, " ").trim();
  return {
    kind: "remind",
    what: unquoted(what.replace(/^(?:to|that|about|of|for)\s+/i, "").replace(/[.!]$/, "")),
    when: span ? spanOf(span) : clock ? clockOf(clock) : undefined,
  };
}

function spanOf([, word = "in", amount = "1", unit = "s"]: RegExpExecArray): When {
  const seconds = Number(amount) * (UNIT_SECONDS[unit.toLowerCase()] ?? 1);
  return { kind: word.toLowerCase() === "every" ? "every" : "in", seconds };
}

function clockOf([, hours = "0", minutes = "0", half]: RegExpExecArray): When | undefined {
  const base = half === undefined ? Number(hours) : Number(hours) % 12;
  const hour = half?.toLowerCase() === "pm" ? base + 12 : base;
  const minute = Number(minutes);
  return hour < 24 && minute < 60 ? { kind: "clock", hour, minute } : undefined;
}

const FILE = String.raw`("[^"]+"|'[^']+'|\x60[^\x60]+\x60|\S+)`;
const ARTICLE = String.raw`(?:(?:a|an|the|my)\s+)?(?:new\s+)?(?:text\s+)?(?:file\s+)?(?:(?:called|named)\s+)?`;
const INTO = new RegExp(
  String.raw`^(?:write|save|put|store)\s+([\s\S]+)\s+(?:to|into|in|as)\s+${ARTICLE}${FILE}$`,
  "i",
);
const WITH = new RegExp(
  String.raw`^(?:create|make|write)\s+${ARTICLE}${FILE}\s+(?:with|containing|saying|that says)\s+(?:(?:the|this|as)\s+)?(?:(?:contents?|text|words?)\b)?[:\s]*(\S[\s\S]*)$`,
  "i",
);
const EMPTY = new RegExp(String.raw`^(?:create|make)\s+(?:an\s+empty\s+file\s+)?${ARTICLE}${FILE}$`, "i");

function asWrite(text: string): Intent | undefined {
  const into = INTO.exec(text);
  const containing = WITH.exec(text);
  const candidates = [
    ...(into ? [{ path: pathIn(into[2] ?? ""), text: unquoted(into[1] ?? "") }] : []),
    ...(containing ? [{ path: pathIn(containing[1] ?? ""), text: unquoted(containing[2] ?? "") }] : []),
  ];
  // "write hello with love to notes.txt" fits both: the one whose file looks like one is meant.
  const meant = candidates.find(({ path }) => FILE_NAME.test(path)) ?? candidates[0];
  if (meant && meant.path !== "") return { kind: "write", ...meant };
  const empty = EMPTY.exec(text);
  const path = pathIn(empty?.[1] ?? "");
  return FILE_NAME.test(path) ? { kind: "write", path, text: "" } : undefined;
}

const PLACE_WORDS =
  /^(?:(?:my|the|this|your|our|current|workspace|folder|directory|dir|named|called|here|all|of|me|files?|folders?|everything|contents?|in)\b\s*)+/i;

function asList(text: string): Intent | undefined {
  const command = /^(?:list|ls|dir)\b\s*([\s\S]*)$/i.exec(text);
  const asksForFiles =
    /^(?:show|give|see|what|which|tell)\b/i.test(text) &&
    /\b(?:files|folders?|director(?:y|ies)|workspace)\b/i.test(text) &&
    !FILE_NAME.test(text);
  if (!command && !asksForFiles) return undefined;
  const place = /\b(?:in|inside|under|below|of|from|at)\s+([\s\S]+)$/i.exec(text)?.[1] ?? command?.[1] ?? "";
  return {
    kind: "list",
    path: placeIn(place),
    recursive: /\brecursive|\bsubfolders?\b|\btree\b|^ls -R/i.test(text),
  };
}

/** The folder named in "the folder docs", "my docs folder", "here". */
function placeIn(text: string): string {
  const bare = pathIn(
    text.replace(/\brecursively\b|\band (?:its|all) subfolders\b|\btree\b|(?:^|\s)-\w+/gi, "").trim(),
  );
  const name = bare
    .replace(PLACE_WORDS, "")
    .replace(/\s+(?:folder|directory|dir|please)$/i, "")
    .trim();
  return name === "" || /\s/.test(name) ? "." : pathIn(name);
}

function asRead(text: string): Intent | undefined {
  const command = /^(?:read|open|cat|print|display|view|show(?:\s+me)?)\s+(\S[\s\S]*)$/i.exec(text);
  const asks = /^(?:what|tell me what)\b[\s\S]*\b(?:in|inside|say|says|contain|contains|of)\b/i.test(text);
  if (!command && !asks) return undefined;
  const named = FILE_NAME.exec(text)?.[1];
  if (named !== undefined) return { kind: "read", path: named };
  const rest = (command?.[1] ?? "").replace(/^(?:me\s+|the\s+|my\s+|contents?\s+of\s+|file\s+)+/i, "");
  const path = pathIn(rest);
  return path === "" || /\s/.test(path) ? undefined : { kind: "read", path };
}

function asTime(text: string): Intent | undefined {
  return /\bwhat(?:'s| is)?\s+(?:the\s+)?(?:current\s+)?(?:time|date|day)\b|^(?:time|date)\s*\??$/i.test(text)
    ? { kind: "time" }
    : undefined;
}

function asHelp(text: string): Intent | undefined {
  return /^(?:help|hello|hi|hey|hallo|good (?:morning|day|evening)|what can you do|who are you|what are you)\b/i.test(
    text,
  )
    ? { kind: "help" }
    : undefined;
}
