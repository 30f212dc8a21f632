/** The headers of a request that a vendor's package built, without those it took from somewhere else. */

/** What the packages send by themselves. */
const PACKAGE_HEADERS = /^(accept|content-type|authorization|api-key|x-api-key|x-stainless-[a-z-]+)$/;

/** The packages add what stands in variables meant for their own vendor, whatever server is asked. */
export function wantedHeaders(
  built: Headers,
  own: Readonly<Record<string, string | null>>,
): [name: string, value: string][] {
  const wanted = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  return [...built].filter(([name]) => wanted.has(name) || PACKAGE_HEADERS.test(name));
}
