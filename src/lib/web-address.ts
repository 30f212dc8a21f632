/** What an address on the web says, whatever its spelling. Where it leads is for the resolver to say. */

/** `local` is a name that only means something on this machine or in its own network. */
type HostKind = "address" | "name" | "local";

export interface WebAddress {
  readonly ok: true;
  /** Without a fragment and without the dot at the end of a name. */
  readonly url: URL;
  /** The name, or the address without brackets. */
  readonly host: string;
  readonly kind: HostKind;
}

interface NoWebAddress {
  readonly ok: false;
  readonly reason: string;
}

/** Longer than servers take, and far longer than anybody needs. */
const LONGEST = 8_192;
const LOCAL_ENDINGS = ["localhost", "local", "localdomain", "internal", "intranet", "lan", "home.arpa"];

export function parseWebAddress(text: string): WebAddress | NoWebAddress {
  if (text.trim() === "") return no("it is empty");
  if (text.length > LONGEST) return no(`it is longer than ${LONGEST} characters`);
  const url = URL.parse(text);
  if (url === null) return no("it is not a valid URL; write it as https://example.com/page");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return no(`only http and https can be requested, not ${url.protocol.slice(0, -1)}`);
  }
  if (url.username !== "" || url.password !== "") return no("it contains a user name or a password");
  if (url.port === "0") return no("there is no port 0");
  const host = url.hostname.replace(/^\[|\]$|\.$/g, "");
  const isName = !isAddress(host);
  if (isName && !isSoundName(host)) return no(`${JSON.stringify(host)} is not a valid host name`);
  // Two spellings of one name would be two in the eyes of servers and certificates.
  if (isName) url.hostname = host;
  url.hash = "";
  return { ok: true, url, host, kind: isName ? kindOfName(host) : "address" };
}

function no(reason: string): NoWebAddress {
  return { ok: false, reason };
}

/** `URL` leaves every spelling of an address in its usual one. */
function isAddress(host: string): boolean {
  return host.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
}

function isSoundName(name: string): boolean {
  const labels = name.split(".");
  return name.length <= 253 && labels.every((label) => /^[a-z0-9_-]{1,63}$/.test(label));
}

function kindOfName(name: string): HostKind {
  const isLocal = !name.includes(".") || LOCAL_ENDINGS.some((ending) => name.endsWith(`.${ending}`));
  return isLocal ? "local" : "name";
}
