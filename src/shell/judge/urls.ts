/** The addresses in a command, for the network guard. */

import { gitAddresses } from "./git-addresses.ts";
import { inputNames } from "./input-code.ts";
import { mentionedWords } from "./mentions.ts";
import { type Options, readOptions } from "./options.ts";
import type { ParsedCommand, SimpleCommand } from "./parsed.ts";
import { programName } from "./program-name.ts";
import { UNKNOWN } from "./readings.ts";
import type { Scene } from "./scene.ts";
import { textWord, type Word } from "./word.ts";

/** Schemes that programs such as curl speak, and with which they reach servers inside. */
const WITH_SCHEME = /\b(?:https?|wss?|ftps?|gopher|dict):\/+([^\s<>|;&()`"']+)/gi;

/** More than this many texts of one word are not followed. */
const MOST_SPELLINGS = 16;

/** Groups of braces in one address, and addresses that they make, which multiply. */
const MOST_GROUPS = 16;
const MOST_ADDRESSES = 64;

const FIRST_GROUP = /^([^{}]*)\{([^{}]*)\}(.*)$/s;

/** Every address that stands in a text of any kind, as an http address: only where it leads is of interest. */
export function textUrls(text: string): readonly string[] {
  const found = new Set<string>();
  for (const [, rest = ""] of text.replaceAll("\\\n", "").matchAll(WITH_SCHEME)) {
    // A backslash ends an address in code and is part of it for some programs.
    for (const address of new Set([rest, rest.replace(/\\.*$/, "")])) {
      const url = asUrl(address);
      if (url !== undefined) found.add(url);
    }
  }
  return [...found];
}

/** As far as it is known; `undefined` where nothing of the host is. */
function asUrl(address: string): string | undefined {
  const withoutUser = address.replace(/^[^/?#]*@/, "");
  // The shell or curl makes something of what follows; what stands before it is certain.
  const unknown = withoutUser.startsWith("[") ? /[\0${}*,\\].*$/s : /[\0${}*,\\[\]].*$/s;
  const url = `http://${withoutUser.replace(unknown, "").replace(/[.:]+$/, "")}`;
  return URL.canParse(url) ? url : undefined;
}

/** Programs that take an address without its scheme, and their short options with a value. */
const clients: ReadonlyMap<string, string> = new Map([
  ["curl", "HdoXubAeFTcKmrwCDEYyzxUtP"],
  ["wget", "OPUaoiTtQwe"],
  ["http", ""],
  ["https", ""],
  ["xh", ""],
  ["aria2c", "dojxs"],
  ["lynx", ""],
  ["w3m", ""],
]);

const addressOptions = [
  "url",
  "x",
  "proxy",
  "proxy1.0",
  "preproxy",
  "doh-url",
  "ipfs-gateway",
  "socks4",
  "socks4a",
  "socks5",
  "socks5-hostname",
];

const valueOptions = [
  ...addressOptions,
  ..."resolve connect-to header data data-raw data-binary data-urlencode output request user user-agent".split(
    " ",
  ),
  ..."cookie cookie-jar form max-time output-document json retry retry-delay connect-timeout cacert cert key".split(
    " ",
  ),
  ..."referer range upload-file write-out interface limit-rate tries timeout directory-prefix".split(" "),
  ..."execute input-file config".split(" "),
];

/** All but those that are only mentioned. */
export function parsedUrls(text: string, parsed: ParsedCommand, scene: Scene): readonly string[] {
  const redirectsAll = parsed.commands.some(
    (command) => command.kept && command.redirects.length > 0 && programName(command) === "exec",
  );
  const mentioned = new Set(
    parsed.commands.flatMap((command) =>
      mentionedWords({ ...command, kept: command.kept || redirectsAll }, scene.isFunction),
    ),
  );
  const found = [
    ...(textUrls(text).length > 0 ? textUrls(parsed.textWithout([...mentioned])) : []),
    ...parsed.commands.flatMap((command) => commandUrls(command, mentioned, scene)),
  ];
  return [...new Set(found)];
}

/** With quotes and known variables taken away, which hide addresses from a search in the text. */
function commandUrls(command: SimpleCommand, mentioned: ReadonlySet<Word>, scene: Scene): readonly string[] {
  const values = command.assignments.flatMap(({ value }) => value ?? []);
  const found = [...command.words.filter((word) => !mentioned.has(word)), ...values]
    .flatMap((word) => spellings(word, scene))
    .flatMap((text) => [...textUrls(text), ...inBraces(text).flatMap(textUrls)]);
  if (command.remote) return found;
  const proxies = command.assignments.filter(({ name }) => /_proxy$/i.test(name));
  return [
    ...found,
    ...[...proxies.flatMap(({ value }) => bareTexts(value, scene)), ...bareOf(command, scene)].flatMap(
      bareUrl,
    ),
  ];
}

function bareOf(command: SimpleCommand, scene: Scene): readonly string[] {
  const name = programName(command) ?? "";
  const args = command.words.slice(1);
  if (name === "git") return gitAddresses(args, (word) => bareTexts(word, scene));
  const short = clients.get(name);
  if (short === undefined) return [];
  const options = readOptions(args, { short, long: valueOptions, exact: true });
  return [...bareAddresses(options, scene), ...settingAddresses(name, options, command, scene)];
}

/** In the settings of curl and the lists of wget that stand in a here-document, and in settings of wget. */
function settingAddresses(
  name: string,
  { values }: Options,
  { stdin }: SimpleCommand,
  scene: Scene,
): readonly string[] {
  const valuesOf = (...options: readonly string[]) =>
    options.flatMap((option) => values.get(option) ?? []).flatMap((word) => bareTexts(word, scene));
  const readsInput = (...options: readonly string[]) =>
    valuesOf(...options).some((one) => inputNames.has(one));
  const lines = stdin.kind === "text" ? (stdin.text ?? "").split("\n") : [];
  if (name === "curl") {
    const words = readsInput("K", "config") ? lines.flatMap(settingWords) : [];
    const short = clients.get(name) ?? "";
    return bareAddresses(readOptions(words, { short, long: valueOptions, exact: true }), scene);
  }
  if (name !== "wget") return [];
  const proxies = valuesOf("e", "execute").flatMap(
    (text) => /^\s*\w*proxy\s*=\s*(.*)$/is.exec(text)?.[1] ?? [],
  );
  return [...proxies, ...(readsInput("i", "input-file") ? lines : [])];
}

/** `url = "x"`, `--url x` and `-x y` in a configuration of curl. */
function settingWords(line: string): readonly Word[] {
  const [, name = "", value = ""] = /^\s*([\w.-]+)(?:\s*[=:]\s*|\s+)?(.*)$/s.exec(line) ?? [];
  if (name === "") return [];
  const text =
    /^"((?:[^"\\]|\\.)*)"/s.exec(value)?.[1]?.replace(/\\(.)/gs, "$1") ?? value.replace(/\s.*$/s, "");
  return [name.startsWith("-") ? name : `--${name}`, ...(text === "" ? [] : [text])].map(textWord);
}

function bareAddresses(options: Options, scene: Scene): readonly string[] {
  const valuesOf = (name: string) =>
    (options.values.get(name) ?? []).flatMap((word) => bareTexts(word, scene));
  return [
    ...options.operands.flatMap((word) => bareTexts(word, scene)),
    ...addressOptions.flatMap(valuesOf),
    // `name:port:where`, and `name:port:where:port`.
    ...[...valuesOf("resolve"), ...valuesOf("connect-to")].flatMap((text) => {
      const where = /^[^:]*:[^:]*:(.*)$/s.exec(text)?.[1] ?? "";
      return where.split(",").map((one) => (/^[^[].*:.*:/.test(one) ? `[${one}]` : one));
    }),
  ];
}

const bareTexts = (word: Word | undefined, scene: Scene) =>
  word === undefined ? [] : spellings(word, scene).flatMap((text) => [text, ...inBraces(text)]);

function bareUrl(text: string): readonly string[] {
  const [, scheme, rest = ""] = /^([a-z][a-z\d+.-]*):\/\/+(.*)$/is.exec(text) ?? [];
  if (scheme !== undefined) return /^file$/i.test(scheme) ? [] : hostUrl(rest);
  if (/:\/\/|^(?:https?|wss?|ftps?|gopher|dict|file):\//i.test(text)) return [];
  // A small number is as often the value of an option.
  if (text.startsWith("-") || /^\d{1,6}$/.test(text)) return [];
  return hostUrl(text);
}

function hostUrl(address: string): readonly string[] {
  const url = asUrl(address);
  return url === undefined ? [] : [url];
}

/** The texts that a word can stand for, with a mark for each piece that is not known. */
function spellings(word: Word, scene: Scene): readonly string[] {
  let texts: readonly string[] = [""];
  for (const piece of word.pieces) {
    const read = scene.read({ pieces: [piece], glob: false, tilde: false });
    const values = read.map(({ text, whole }) => (whole ? text : UNKNOWN));
    const next = texts.length * values.length > MOST_SPELLINGS ? [UNKNOWN] : values;
    texts = texts.flatMap((text) => next.map((value) => text + value));
  }
  return texts;
}

/** `{a,b}` in quotes is nothing to the shell, but curl makes two addresses of it. */
function inBraces(text: string): readonly string[] {
  let texts: readonly string[] = [text];
  for (let group = 0; group < MOST_GROUPS && texts.some(hasGroup); group++) {
    texts = texts.flatMap(withoutGroup).slice(0, MOST_ADDRESSES);
  }
  return texts[0] === text ? [] : texts;
}

const hasGroup = (text: string) => FIRST_GROUP.test(text);

function withoutGroup(text: string): readonly string[] {
  const [, before, inside, after] = FIRST_GROUP.exec(text) ?? [];
  if (before === undefined || inside === undefined || after === undefined) return [text];
  return inside.split(",", MOST_SPELLINGS).map((one) => before + one + after);
}
