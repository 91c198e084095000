import { z } from "zod";
import type { Entry } from "../changes.ts";
import type { RunId } from "../id.ts";
import type { Instant } from "../instant.ts";

/** The cost of one run on one day; all of a workflow on a day are listed together. */
export const Spending = z.object({ costUsd: z.number() });
export type Spending = z.infer<typeof Spending>;

interface SpendingPlace {
  /** The id of the workflow, which names its project too. */
  workflow: string;
  runId: RunId;
  at: Instant;
}

/** The parent under which the spending of a workflow on the day of an instant is listed. */
export function spendingOf({ workflow, at }: Pick<SpendingPlace, "workflow" | "at">): string {
  return `spending ${dayOf(at)} ${workflow}`;
}

/** Names the spending of a run on the day of an instant. */
export function spendingId({ runId, at }: Pick<SpendingPlace, "runId" | "at">): string {
  return `${runId} ${dayOf(at)}`;
}

/** The entry with a larger cost than before, beside the usage of the run. */
export function addSpending(before: Entry | undefined, place: SpendingPlace, costUsd: number): Entry {
  const total = costOf(before) + costUsd;
  const body: Spending = { costUsd: total };
  const version = before?.version ?? 0;
  return { kind: "usage", id: spendingId(place), parent: spendingOf(place), version, body };
}

/** The cost that an entry of spending has; 0 without one. */
export function costOf(entry: Pick<Entry, "body"> | undefined): number {
  return Spending.safeParse(entry?.body).data?.costUsd ?? 0;
}

/** Days are those of UTC, so that all machines of a store agree on them. */
function dayOf(at: Instant): string {
  return at.slice(0, "yyyy-mm-dd".length);
}
