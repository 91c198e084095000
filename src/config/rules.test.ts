import { expect, test } from "vitest";
import { DEFAULT_RULES } from "../core/rules.ts";
import { rulesOf } from "./rules.ts";
import { DEFAULTS, Values } from "./schema.ts";

test("what is shown as the default is what the product does", () => {
  expect(rulesOf(Values.parse(DEFAULTS))).toEqual(DEFAULT_RULES);
  expect(rulesOf({})).toEqual(DEFAULT_RULES);
});
