import { Refusal, type RefusalCode } from "../../core/refusal.ts";

/** Refusals that pass: the same is tried again later. */
const PASSING: ReadonlySet<RefusalCode> = new Set(["store_unreachable", "newer_schema", "moved"]);

/** Says whether the same may succeed later. A row that is damaged or gone stays so. */
export function isPassing(error: unknown): boolean {
  return !(error instanceof Refusal) || PASSING.has(error.code);
}

/**
 * Takes each of what a channel brought. One that rests on a damaged or lost row is reported and passed over: the channel
 * would bring it first again and again, and nothing after it would ever be read.
 */
export async function takeEach<Brought>(
  all: readonly Brought[],
  take: (one: Brought) => Promise<void>,
  report: (error: unknown) => void,
): Promise<void> {
  for (const one of all) {
    try {
      await take(one);
    } catch (error) {
      if (isPassing(error)) throw error;
      report(error);
    }
  }
}
