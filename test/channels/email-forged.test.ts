import { expect, test } from "vitest";
import { bringForged } from "./forged-mail.ts";

test("of forged and mutated mails none is accepted, and the genuine one is", async () => {
  const { accepted, control, read } = await bringForged(2_000, 7);
  expect(read).toBeGreaterThan(500); // many get as far as the question
  expect(accepted).toBe(0);
  expect(control).toBe("answered");
});
