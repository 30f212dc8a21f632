import { expect, test } from "bun:test";
import { explained } from "../../src/lib/file-error.ts";

test.each([
  ["EEXIST", "something of that name is there already"],
  ["ESTALE", "the path was changed meanwhile, and nothing was done; try again"],
])("explained() says of %s: %s", async (code, reason) => {
  const failing = explained("write", "a.txt", async () => {
    throw Object.assign(new Error(code), { code });
  });
  await expect(failing).rejects.toThrow(`Cannot write "a.txt": ${reason}`);
});
