/** A part of a text, from a character up to the one before another. */
export type TextRange = readonly [start: number, end: number];

/** Replaces every range by the mask; adjacent and overlapping ranges become one. */
export function maskRanges(text: string, ranges: readonly TextRange[], mask: string): string {
  if (ranges.length === 0) return text;
  const pieces: string[] = [];
  let done = 0;
  let open: [number, number] | undefined;
  for (const [start, end] of ranges.toSorted(([one], [other]) => one - other)) {
    if (open && start <= open[1]) {
      open[1] = Math.max(open[1], end);
      continue;
    }
    if (open) {
      pieces.push(text.slice(done, open[0]), mask);
      done = open[1];
    }
    open = [start, end];
  }
  if (open) {
    pieces.push(text.slice(done, open[0]), mask);
    done = open[1];
  }
  pieces.push(text.slice(done));
  return pieces.join("");
}
