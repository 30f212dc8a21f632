/** Answers that say no more than they must. */

const texts = {
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Content Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
} as const;

export function answer(status: keyof typeof texts, headers: Readonly<Record<string, string>> = {}): Response {
  // What a runtime would add by itself is lost when the headers are copied.
  return new Response(texts[status], { status, headers: { "content-type": "text/plain", ...headers } });
}

const always: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
};

/** A route that shows a page or a stream knows better. */
const unlessSet: Readonly<Record<string, string>> = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
};

/** Which program this is, is nobody's business. */
const banners = ["server", "x-powered-by"];

/** The same answer with what browsers should hold to. One that became a WebSocket stays as it is. */
export function secured(response: Response): Response {
  if (response.status === 101) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(always)) headers.set(name, value);
  for (const [name, value] of Object.entries(unlessSet)) if (!headers.has(name)) headers.set(name, value);
  for (const name of banners) headers.delete(name);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}
