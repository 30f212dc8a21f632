/** The vendors known by name. Their order decides where nothing else does. */

import { makers } from "./makers.ts";
import { resellers } from "./resellers.ts";
import { servers } from "./servers.ts";
import type { Vendor } from "./vendor.ts";

export const vendors: readonly Vendor[] = [...resellers, ...makers, ...servers];
