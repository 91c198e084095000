/** That many of them: `1 run`, `2 runs`. */
export function sayMany(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
