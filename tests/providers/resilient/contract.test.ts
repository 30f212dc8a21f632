import { modelContract } from "../../contracts/model.ts";
import { setup } from "./setup.ts";

modelContract("the resilient model", async () => {
  const { resilient, asked } = setup([["one two three", "one two three", "one two three"]]);
  return { model: resilient, name: "m", question: "count", requests: () => asked.length };
});
