import { expect, test } from "bun:test";
import fc from "fast-check";
import { arrange, covering, type Mount, mountArguments, pins } from "../../../src/shell/sandbox/mounts.ts";

const rw = (path: string): Mount => ({ kind: "rw", path });
const ro = (path: string): Mount => ({ kind: "ro", path });
const hidden = (path: string): Mount => ({ kind: "hidden-folder", path });

test("mountArguments() mounts what lies deeper later, whatever the order", () => {
  expect(mountArguments([hidden("/ws/.nanobot"), rw("/ws"), ro("/ws/.nanobot/own")])).toEqual([
    ...["--bind", "/ws", "/ws"],
    ...["--tmpfs", "/ws/.nanobot"],
    ...["--ro-bind", "/ws/.nanobot/own", "/ws/.nanobot/own"],
    ...["--remount-ro", "/ws/.nanobot", "--remount-ro", "/"],
  ]);
});

test("mountArguments() leaves the root as it is where the owner opened it", () => {
  expect(mountArguments([rw("/")])).toEqual(["--bind", "/", "/"]);
});

test("arrange() leaves out links that are there with what is around them", () => {
  const link = { kind: "link", path: "/bin", target: "usr/bin" } as const;
  const root = { kind: "rw", path: "/" } as const;
  expect(arrange([link, root])).toEqual([root]);
  expect(arrange([link, { kind: "ro", path: "/usr" }])).toContainEqual(link);
});

test("arrange() lets the later of two at one place hold", () => {
  expect(arrange([rw("/ws"), hidden("/ws")])).toEqual([hidden("/ws")]);
});

test("covering() finds the mount that decides, by whole segments", () => {
  const mounts = [rw("/ws"), ro("/ws/a"), hidden("/other")];
  expect(covering(mounts, "/ws/a/b")).toEqual(ro("/ws/a"));
  expect(covering(mounts, "/ws/ab")).toEqual(rw("/ws"));
  expect(covering(mounts, "/wsx")).toBeUndefined();
});

test("pins() makes a mount of every folder that could be moved away with what is guarded in it", () => {
  expect(pins([rw("/home"), ro("/home/x/ro")], ["/home/x/y/config.json", "/home/x/ro/deep/file"])).toEqual([
    rw("/home/x/y"),
    rw("/home/x"),
  ]);
  expect(pins([rw("/a"), rw("/a/b/c")], ["/a/b/c/file"])).toEqual([rw("/a/b")]);
});

test("pins() opens nothing that was closed", () => {
  expect(
    pins([rw("/ws"), hidden("/ws/.nanobot")], ["/ws/.nanobot/tool-results/own", "/elsewhere/x"]),
  ).toEqual([]);
});

test("pins() leaves the kind of every place as it was, and closes the way around", () => {
  const segment = fc.constantFrom("a", "b", "c");
  const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((parts) => `/${parts.join("/")}`);
  const mount = fc.tuple(fc.constantFrom(rw, ro, hidden), path).map(([make, where]) => make(where));
  fc.assert(
    fc.property(fc.array(mount), fc.array(path), path, (mounts, guarded, anywhere) => {
      const arranged = arrange(mounts);
      const pinned = arrange([...arranged, ...pins(arranged, guarded)]);
      expect(covering(pinned, anywhere)?.kind).toBe(covering(arranged, anywhere)?.kind);
      for (const one of guarded) {
        for (let at = one.slice(0, one.lastIndexOf("/")); at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
          const cover = covering(pinned, at);
          if (cover?.kind === "rw") expect(cover.path).toBe(at);
        }
      }
    }),
  );
});
