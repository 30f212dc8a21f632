/** Who is meant by an entry of an allow list. */

/** Everybody, where it stands alone in a list. */
const EVERYBODY = "*";

/** One of the names that a person goes by. */
interface Half {
  readonly name: string;
  /** People choose their user names, in whatever case; ids are what the platform says, to the letter. */
  readonly isUserName: boolean;
}

/** Without those that name nobody. */
function halvesOf(person: string): readonly Half[] {
  return person.split("|").flatMap((text, index) => {
    // With a colon it is an id that begins so: `@alice:example.org`.
    const isMarked = text.startsWith("@") && !text.includes(":");
    const name = isMarked ? text.slice(1) : text;
    return name.trim() === "" ? [] : [{ name, isUserName: isMarked || index > 0 }];
  });
}

/** Of ASCII only: in other alphabets, letters that differ can have the same lower case. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function isSameHalf(one: Half, other: Half): boolean {
  if (one.name === other.name) return true;
  return (one.isUserName || other.isUserName) && lowerCase(one.name) === lowerCase(other.name);
}

/** Whether two names, each an id or several with `|` between them, have one in common. `*` stands for nobody else here. */
export function isSamePerson(one: string, other: string): boolean {
  const others = halvesOf(other);
  return halvesOf(one).some((half) => others.some((second) => isSameHalf(half, second)));
}

/**
 * What a sender is remembered by: the first half, which is the platform's own id. User names change hands.
 * `undefined` when there is none.
 */
export function identityOf(senderId: string): string | undefined {
  return senderId.split("|").find((half) => half.trim() !== "");
}

/** As it comes from a file that somebody wrote by hand. */
export type AllowList = readonly (string | number | null | undefined)[] | null | undefined;

/** The entries that can let somebody in. */
function entriesOf(allowFrom: AllowList): readonly string[] {
  return (allowFrom ?? []).flatMap((entry) => {
    const isName = typeof entry === "string" || Number.isSafeInteger(entry);
    return isName && String(entry).trim() !== "" ? [String(entry)] : [];
  });
}

export function isOpenToAll(allowFrom: AllowList): boolean {
  return entriesOf(allowFrom).includes(EVERYBODY);
}

/** Beside everybody. */
export function namesAnybody(allowFrom: AllowList): boolean {
  return entriesOf(allowFrom).some((entry) => entry !== EVERYBODY && halvesOf(entry).length > 0);
}

export function isOpenToNobody(allowFrom: AllowList): boolean {
  return !isOpenToAll(allowFrom) && !namesAnybody(allowFrom);
}

/**
 * Whether an allow list lets a sender in. What decides: one half of an entry is one half of the sender, both split at
 * `|`, character by character; no part of a name counts, and no other spelling of a character. A number is its digits.
 * An `@` in front of a user name is left out, and its ASCII letters match in either case; user names are what begins
 * with `@` or stands behind a `|`. An entry `*` is everybody. Nothing, an empty text and white space are nobody.
 */
export function allows(allowFrom: AllowList, senderId: string): boolean {
  return isOpenToAll(allowFrom) || names(allowFrom, senderId);
}

/** The same without `*`: whoever is let in only by that is nobody in particular. */
export function names(allowFrom: AllowList, senderId: string): boolean {
  return entriesOf(allowFrom).some((entry) => entry !== EVERYBODY && isSamePerson(entry, senderId));
}

/** The same for groups, whose ids are of one piece. */
export function allowsGroup(allowFrom: AllowList, chatId: string): boolean {
  return entriesOf(allowFrom).some((entry) => entry === EVERYBODY || entry === chatId);
}
