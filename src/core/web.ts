/** Requests to the web on behalf of the model, each judged before it is sent. */

export interface WebRequest {
  readonly method?: "GET" | "HEAD" | "POST";
  /** For the first address only: behind a redirect none of them is sent but the harmless. Cookies never are. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Of the body as it was before it was compressed; what is beyond is not read. */
  readonly maxBytes: number;
  /** 5 when left out. */
  readonly maxRedirects?: number;
  /** For everything together: finding the server, redirects, the body. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface WebResponse {
  readonly ok: true;
  /** As it was asked for, and where it was in the end. */
  readonly url: string;
  readonly finalUrl: string;
  /** Any: that a page is missing is an answer too. */
  readonly status: number;
  /** By lower-case name, cookies left out. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decompressed. */
  readonly body: Uint8Array;
  /** There was more of the body. */
  readonly truncated: boolean;
  /** A redirect led from https to http, so that anybody on the way could have changed the answer. */
  readonly downgraded: boolean;
  /** Some address on the way was allowed by the owner alone, so that nobody else is to know of it. */
  readonly isListed: boolean;
}

export interface WebFailure {
  readonly ok: false;
  /** `refused` is a decision of the guard, which asking again does not change; `failed` is the network's. */
  readonly kind: "refused" | "failed";
  /** For the model: what is wrong, and for a refusal what would allow it. */
  readonly reason: string;
}

/** The one way out for tools: http and https, to addresses of the public internet and what the owner listed. */
export interface GuardedFetch {
  /** Rejects only with the signal's reason; everything else that can go wrong is a `WebFailure`. */
  fetch(url: string, request: WebRequest): Promise<WebResponse | WebFailure>;
  /**
   * Why nothing would be sent to `url`. `undefined` when something would, and when nobody can say where it
   * leads. A name is looked up for some seconds at most. Rejects with the signal's reason.
   */
  whyRefused(url: string, signal: AbortSignal): Promise<string | undefined>;
}

export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

export type SearchOutcome =
  | {
      readonly ok: true;
      readonly hits: readonly SearchHit[];
      /** For people: who searched, such as `DuckDuckGo`. */
      readonly engine: string;
      /** Why it was not the one that was configured, or what of the request it could not do. */
      readonly note?: string;
    }
  | { readonly ok: false; readonly reason: string };

export interface WebSearch {
  /** How many hits a search shows unless the call asks for another number. */
  readonly defaultCount: number;
  /** Rejects only with the signal's reason. */
  search(
    query: string,
    options: { count: number; timeRange?: "day" | "week" | "month" | "year"; signal: AbortSignal },
  ): Promise<SearchOutcome>;
}

/** A service that reads pages on our behalf, and so learns which. */
export interface PageReader {
  /**
   * The page as Markdown. `undefined` when the service did not read it, or may not know of such addresses.
   * `url` led to `finalUrl`. Rejects only with the signal's reason.
   */
  read(
    { url, finalUrl, isListed }: Pick<WebResponse, "url" | "finalUrl" | "isListed">,
    signal: AbortSignal,
  ): Promise<{ title: string; text: string } | undefined>;
}
