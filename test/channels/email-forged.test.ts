import { expect, test } from "vitest";
import { bringForged } from "./forged-mail.ts";

test.each(["medium", "high"] as const)(
  "at %s risk no forged or mutated mail is accepted, and the genuine one is",
  async (risk) => {
    const { accepted, control, read } = await bringForged(1_000, 7, risk);
    expect(read).toBeGreaterThan(200); // many get as far as the question
    expect(accepted).toBe(0);
    expect(control).toBe("answered");
  },
);
