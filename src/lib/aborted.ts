/** The error of a request that was stopped. */

import type { ModelError } from "../core/model.ts";

export const ABORTED: ModelError = { kind: "aborted", message: "The request was stopped" };
