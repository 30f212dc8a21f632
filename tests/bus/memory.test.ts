import { createMemoryBus } from "../../src/bus/memory.ts";
import { busContract } from "../contracts/bus.ts";

busContract("createMemoryBus()", async (limits) => createMemoryBus(limits));
