import { expect, test } from "bun:test";
import { createLanes } from "../../src/lib/lanes.ts";

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

test("createLanes() runs tasks of one key in order, and others beside them", async () => {
  const lanes = createLanes({ limit: 10 });
  const first = gate();
  const order: string[] = [];
  const add = (key: string, name: string, wait = Promise.resolve()) =>
    lanes.run(key, async () => {
      await wait;
      order.push(name);
    });
  const all = [add("a", "a1", first.opened), add("a", "a2"), add("b", "b1")];
  await all[2];
  expect(order).toEqual(["b1"]);
  first.open();
  await Promise.all(all);
  expect(order).toEqual(["b1", "a1", "a2"]);
});

test("createLanes() goes on after a task that failed, and hands on its error", async () => {
  const lanes = createLanes({ limit: 1 });
  const failing = lanes.run("a", async () => {
    throw new Error("broken");
  });
  const next = lanes.run("a", async () => "fine");
  await expect(failing).rejects.toThrow("broken");
  expect(await next).toBe("fine");
});

test("createLanes() runs no more than its limit at once", async () => {
  const lanes = createLanes({ limit: 2 });
  const gates = [gate(), gate(), gate(), gate()];
  let running = 0;
  let most = 0;
  const tasks = gates.map(({ opened }, index) =>
    lanes.run(`key ${index}`, async () => {
      most = Math.max(most, ++running);
      await opened;
      running--;
    }),
  );
  for (const { open } of gates) open();
  await Promise.all(tasks);
  expect(most).toBe(2);
});

test("aside() gives the place of a task to others, and to no more than one, whatever it waits for", async () => {
  const lanes = createLanes({ limit: 1 });
  const [first, second, wait] = [gate(), gate(), gate()];
  const order: string[] = [];
  const waiting = lanes.run("a", async (aside) => {
    await Promise.all([aside(() => wait.opened), aside(() => wait.opened)]);
    order.push("a");
  });
  const others = [first, second].map(({ opened }, index) =>
    lanes.run(`b${index}`, async () => {
      order.push(`b${index} began`);
      await opened;
    }),
  );
  const behind = lanes.run("a", async () => void order.push("behind a"));
  first.open();
  await others[0];
  expect(order).toEqual(["b0 began", "b1 began"]);
  wait.open();
  await waiting;
  second.open();
  await Promise.all([...others, behind]);
  expect(order.slice(2)).toEqual(["a", "behind a"]);
  const last = [1, 2].map((key) => lanes.run(`c${key}`, async () => order.push(`c${key}`)));
  await Promise.all(last);
});

test("aside() that is not over when its task is leaves the limit as it was", async () => {
  const lanes = createLanes({ limit: 1 });
  const wait = gate();
  let left: Promise<void> = Promise.resolve();
  await lanes.run("a", async (aside) => {
    left = aside(() => wait.opened);
  });
  wait.open();
  await left;
  let running = 0;
  let most = 0;
  const count = async () => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
  };
  await Promise.all(["b", "c", "d"].map((key) => lanes.run(key, count)));
  expect(most).toBe(1);
});

test("idle() resolves when every lane is empty, also for tasks added meanwhile", async () => {
  const lanes = createLanes({ limit: 5 });
  let done = 0;
  void lanes.run("a", async () => {
    void lanes.run("a", async () => void done++);
    done++;
  });
  await lanes.idle();
  expect(done).toBe(2);
});
