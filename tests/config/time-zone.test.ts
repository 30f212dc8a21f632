import { expect, test } from "bun:test";
import { checkTimeZone } from "../../src/config/time-zone.ts";
import { UserError } from "../../src/core/errors.ts";
import { variable } from "./fixture.ts";

test("checkTimeZone() takes what the machine knows", () => {
  for (const zone of ["Europe/Berlin", "UTC", "America/Argentina/Ushuaia"]) {
    expect(() => checkTimeZone(zone)).not.toThrow();
  }
});

test("checkTimeZone() refuses anything else with the key and without the value", () => {
  for (const zone of ["Mars/Base", "", variable("ZONE")]) {
    expect(() => checkTimeZone(zone)).toThrow(
      new UserError(
        "Read settings: agents.defaults.timezone: expected the name of a time zone, as in Europe/Berlin, found another string",
      ),
    );
  }
});
