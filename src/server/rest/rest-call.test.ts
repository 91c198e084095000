import { expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { requireScope } from "./rest-call.ts";

test("whoever may not do something is told which token may", () => {
  expect(() => requireScope({ ...ADA, scope: "human" }, ["admin"])).toThrow(
    expect.objectContaining({ code: "not_permitted", hint: expect.stringContaining("one of scope admin; make it") }),
  );
});
