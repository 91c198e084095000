import { describe, expect, test } from "vitest";
import { withPlace } from "../proof/place.ts";
import { type Edit, buildVariant, scaleWaits } from "../proof/variant.ts";
import type { RunPlan } from "../proof/walk/plan.ts";
import { PLANTS } from "../proof/walk/plant.ts";
import { walk } from "../proof/walk/walk.ts";

const STEPS = 40;

/** Every agent asks twice, is killed after its second question, and dies again when it is told, or before it reads. */
function plan(tag: string): RunPlan {
  const isEven = Number(tag.slice(1)) % 2 === 0;
  const questions = [1, 2].map((number): RunPlan["questions"][number] => {
    const name = `${tag}-${number}`;
    const leave = number === 1 ? 0 : "SIGKILL";
    const options = ["redis", "disk"].map((value) => ({ value: `${value}-${name}`, label: `${value} for ${name}` }));
    return {
      tag: name,
      door: "marker",
      waitMs: 0,
      isJson: false,
      lingerMs: 0,
      isPushy: false,
      isSly: false,
      ask: { question: `Which store for ${name}?`, options, timeout: "3600000ms", on_timeout: "fail" },
      leave,
    };
  });
  return { tag, questions, workMs: 0, end: 0, isDeaf: false, dies: { start: 3, when: isEven ? "unread" : "told" } };
}

/** The kinds of faults that a walk finds in the program with these changes. */
async function faultsOf(edits: readonly Edit[]): Promise<Set<string>> {
  const variant = await buildVariant([...scaleWaits(0.1), ...edits]);
  try {
    const walked = await withPlace("sqlite", (place) =>
      walk({ place, variant, seed: 1, steps: STEPS, kill: false, plan }),
    );
    return new Set(walked.ledger.faults.map(({ kind }) => kind));
  } finally {
    variant.remove();
  }
}

// Without a fault the walk finds none: walk.test.ts.
describe("a planted fault", () => {
  test("is found where what was told does not fit what is recorded", async () => {
    const found = await faultsOf([
      PLANTS["an agent that was killed counts as one that has taken its answer"],
      PLANTS["chosen options are left out of a message that has words"],
    ]);
    expect(found).toContain("the answer is recorded as given, but was never told");
    expect(found).toContain("the answer was told in part");
  }, 180_000);

  test("is found where something is told twice", async () => {
    const found = await faultsOf([
      PLANTS["a repeated answer does not say so"],
      PLANTS["an agent that asks again has taken nothing"],
    ]);
    expect(found).toContain("a repeated answer is not marked");
    expect(found).toContain("the answer was told twice, though its agent had asked again");
  }, 180_000);
});
