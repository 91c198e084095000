/** One measured way of doing ask → answer → the waiting run has it. */
export interface Subject {
  name: string;
  /** Runs one cycle and says how long the waiting side took to see the answer. */
  cycle(): Promise<{ wakeMs: number }>;
  close(): Promise<void>;
}

export interface Measured {
  perSecond: number;
  wakeMs: number;
}

/** Runs cycles for a time, that many at once, after a warm-up. */
export async function measure(subject: Subject, atOnce: number, ms: number): Promise<Measured> {
  await runFor(subject, atOnce, Math.min(500, ms / 4));
  const started = performance.now();
  const wakes = await runFor(subject, atOnce, ms);
  const seconds = (performance.now() - started) / 1000;
  return { perSecond: wakes.length / seconds, wakeMs: median(wakes) };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

async function runFor(subject: Subject, atOnce: number, ms: number): Promise<number[]> {
  const wakes: number[] = [];
  const end = performance.now() + ms;
  const loop = async () => {
    while (performance.now() < end) wakes.push((await subject.cycle()).wakeMs);
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
  return wakes;
}
