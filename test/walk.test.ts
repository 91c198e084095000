import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withPlace } from "./proof/place.ts";
import { type Variant, buildVariant, scaleWaits } from "./proof/variant.ts";
import { sayWalk } from "./proof/walk/report.ts";
import { walk } from "./proof/walk/walk.ts";

const STEPS = 40;
const SCALE = 0.1;

let variant: Variant;

beforeAll(async () => {
  variant = await buildVariant(scaleWaits(SCALE));
});
afterAll(() => variant.remove());

describe.each([
  { database: "sqlite", kill: true, seed: 1 },
  { database: "postgres", kill: false, seed: 2 },
] as const)("on $database", ({ database, kill, seed }) => {
  test("whatever people and agents do, every answer is told once and every refusal is one that was to be expected", async () => {
    await withPlace(database, async (place) => {
      const walked = await walk({ place, variant, seed, steps: STEPS, kill });
      expect(walked.ledger.faults.length > 0 ? sayWalk(walked).join("\n") : "").toBe("");
      expect(walked.ledger.facts.length).toBeGreaterThan(STEPS / 4);
    });
  }, 240_000);
});
