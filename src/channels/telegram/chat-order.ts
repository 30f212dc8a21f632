/** Keeps what comes from one chat in order, also when something of it has to come again. */

export interface ChatOrder {
  /** Runs `task` after those before it in its chat. When one of them rejects, `task` is not run and this rejects with it. */
  run(chatId: string, task: () => Promise<void>): Promise<void>;
}

export function createChatOrder(): ChatOrder {
  const last = new Map<string, Promise<void>>();
  return {
    run(chatId, task) {
      const work = (last.get(chatId) ?? Promise.resolve()).then(task);
      last.set(chatId, work);
      const leave = () => {
        if (last.get(chatId) === work) last.delete(chatId);
      };
      work.then(leave, leave);
      return work;
    },
  };
}
