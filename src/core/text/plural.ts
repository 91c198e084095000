/** Formats a count with its noun: `1 run`, `2 runs`. */
export function pluralize(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
