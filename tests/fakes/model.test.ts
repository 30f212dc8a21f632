import { modelContract } from "../contracts/model.ts";
import { createFakeModel, type Scripted } from "./model.ts";

const replies: Scripted[] = ["one two three", "one two three", "one two three"];

modelContract("the fake model", async () => ({
  model: createFakeModel(...replies),
  name: "fake",
  question: "count",
}));
