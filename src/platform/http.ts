/** HTTP as the program uses it; what does the work is loaded with the first server or request. */

import type { HttpServers } from "../core/http.ts";
import type { Clock } from "../core/platform.ts";
import type { Runtime } from "./runtime.ts";

export interface HttpOptions {
  readonly runtime: Pick<Runtime, "httpListener">;
  readonly clock: Pick<Clock, "after">;
}

export function createHttpServers({ runtime, clock }: HttpOptions): HttpServers {
  return {
    async listen(where, handler) {
      const [{ startServer }, listener] = await Promise.all([
        import("./http-server.ts"),
        runtime.httpListener(),
      ]);
      return startServer({ where, handler, listener, clock });
    },
    async request(socketFile, request, signal) {
      const { requestOverFile } = await import("./http-request.ts");
      return requestOverFile(socketFile, request, signal);
    },
  };
}
