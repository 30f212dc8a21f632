import { describe, expect, test } from "bun:test";
import { resolveProvider } from "../../../src/providers/vendors/resolve.ts";
import { vendors } from "../../../src/providers/vendors/vendors.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1"]);

describe("vendors", () => {
  test("have names of their own, however they are spelt, and none is the name of an own endpoint", () => {
    const names = vendors.map(({ name }) => name.replaceAll("_", ""));
    expect(new Set(names).size).toBe(vendors.length);
    expect(names).not.toContain("custom");
    expect(names).not.toContain("auto");
  });

  test("have labels of their own", () => {
    expect(new Set(vendors.map(({ label }) => label)).size).toBe(vendors.length);
  });

  test("have an owner for each variable", () => {
    const variables = vendors.flatMap(({ keyVariable, sharesVariable }) =>
      keyVariable === undefined || sharesVariable ? [] : [keyVariable],
    );
    expect(new Set(variables).size).toBe(variables.length);
    const shared = vendors.flatMap(({ keyVariable, sharesVariable }) =>
      sharesVariable ? [keyVariable] : [],
    );
    for (const variable of shared) expect([...variables, "HF_TOKEN"]).toContain(variable ?? "");
  });

  test("have key prefixes none of which begins another", () => {
    const prefixes = vendors.flatMap(({ keyPrefix }) => keyPrefix ?? []);
    for (const prefix of prefixes) {
      expect(prefixes.filter((other) => other.startsWith(prefix))).toEqual([prefix]);
    }
  });

  test.each(vendors.map((vendor) => [vendor.name, vendor] as const))("%s is a sound row", (_, row) => {
    const { name, label, baseUrl, keyVariable, keywords, defaultModel, local } = row;
    expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(label.trim()).not.toBe("");
    if (keyVariable !== undefined) expect(keyVariable).toMatch(/^[A-Z][A-Z0-9_]*$/);
    expect(keywords.length).toBeGreaterThan(0);
    for (const keyword of keywords) expect(keyword).toBe(keyword.toLowerCase());
    if (defaultModel !== undefined) expect(defaultModel).toMatch(/^\S+$/);
    if (baseUrl === undefined) return expect(local).toBeUndefined();
    const { protocol, hostname, pathname } = new URL(baseUrl);
    expect(local ? protocol === "http:" && LOOPBACK.has(hostname) : protocol === "https:").toBe(true);
    expect(pathname === "/" || !pathname.endsWith("/")).toBe(true);
  });

  test.each(vendors.map((vendor) => [vendor.name, vendor] as const))(
    "%s is reached by its name and a key, in any spelling",
    (name, vendor) => {
      const settings = {
        ...(vendor.local ? {} : { apiKey: `${vendor.keyPrefix ?? ""}secret` }),
        ...(vendor.baseUrl === undefined ? { apiBase: "https://own.test" } : {}),
      };
      const question = {
        model: "some/model",
        provider: name.toUpperCase().replaceAll("_", "-"),
        providers: { [name]: settings },
        env: {},
      };
      expect(resolveProvider(question)).toMatchObject({
        kind: "resolved",
        endpoint: {
          provider: name,
          baseUrl: vendor.baseUrl ?? "https://own.test",
          apiKey: settings.apiKey,
          protocol: vendor.protocol ?? "chatCompletions",
          azure: name === "azure_openai",
        },
        name: vendor.stripsPrefix ? "model" : "some/model",
        why: `${name}, because it is the configured provider`,
      });
    },
  );

  const keyed = vendors.filter(
    ({ sharesVariable, local, keyVariable, defaultModel }) =>
      !sharesVariable && !local && keyVariable !== undefined && defaultModel !== undefined,
  );
  test.each(keyed.map((vendor) => [vendor.name, vendor] as const))(
    "%s answers with its default model when its variable alone is set",
    (name, { keyVariable = "", defaultModel = "" }) => {
      const question = {
        model: undefined,
        provider: "auto",
        providers: {},
        env: { [keyVariable]: "secret" },
      };
      const given = resolveProvider(question);
      expect(given).toMatchObject({ kind: "resolved", endpoint: { provider: name }, name: defaultModel });
      // Named, it must lead to the same place under the same name.
      expect(resolveProvider({ ...question, model: defaultModel })).toMatchObject({
        kind: "resolved",
        endpoint: { provider: name },
        name: defaultModel,
      });
    },
  );
});
