/** What every protocol is told of the provider it is spoken to. */

import type { ServerQuirks } from "./server-quirks.ts";
import type { TransportOptions } from "./transport.ts";

export interface EndpointOptions extends TransportOptions {
  /** The row or endpoint, as people know it. */
  readonly provider: string;
  /** Up to what the protocol's own path is added to. */
  readonly baseUrl: string;
  /** Absent for servers that ask for none. */
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Put over the request's own keys, but for the conversation. */
  readonly extraBody?: Readonly<Record<string, unknown>>;
  readonly extraQuery?: Readonly<Record<string, string>>;
  /** What is known of this server before the first call. */
  readonly quirks?: Partial<ServerQuirks>;
  /** Azure's addresses and headers. */
  readonly azure?: boolean;
  /** Called with what can only be a mistake in this program. Must not throw. */
  readonly onBug?: ((error: unknown) => void) | undefined;
}
