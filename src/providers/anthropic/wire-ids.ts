/** Ids of calls as Anthropic's protocol takes them: each once in a conversation, the same for a call and its result. */

const LONGEST = 64;
const ACCEPTABLE = /^[a-zA-Z0-9_-]{1,64}$/;

export interface WireIds {
  /** For the next call of the conversation. */
  call(id: string): string;
  /** For the next result. */
  answer(id: string): string;
}

/** For one conversation: whatever comes later changes nothing about the ids before it. */
export function createWireIds(): WireIds {
  const taken = new Set<string>();
  /** How often an id was wanted, where that was more than once. */
  const wanted = new Map<string, number>();
  /** Of calls without a result, by the id they were made with. */
  const open = new Map<string, string[]>();

  function unused(id: string): string {
    const base = acceptableId(id);
    let candidate = base;
    for (let count = wanted.get(base) ?? 1; taken.has(candidate); ) {
      count++;
      wanted.set(base, count);
      candidate = numbered(base, count);
    }
    taken.add(candidate);
    return candidate;
  }

  return {
    call(id) {
      const wireId = unused(id);
      const others = open.get(id);
      if (others === undefined) open.set(id, [wireId]);
      else others.push(wireId);
      return wireId;
    },
    answer: (id) => open.get(id)?.shift() ?? acceptableId(id),
  };
}

function acceptableId(id: string): string {
  if (ACCEPTABLE.test(id)) return id;
  return id.replace(/[^a-zA-Z0-9_-]/gu, "_").slice(0, LONGEST) || "call";
}

function numbered(base: string, count: number): string {
  const suffix = `_${count}`;
  return base.slice(0, LONGEST - suffix.length) + suffix;
}
