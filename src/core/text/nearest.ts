const MOST_EDITS = 2;

/** Finds the name that was probably meant. */
export function findNearest(typed: string, names: readonly string[]): string | undefined {
  const close = names
    .map((name) => ({ name, edits: name.startsWith(typed) && typed.length > 1 ? 0.5 : editsBetween(typed, name) }))
    .filter(({ name, edits }) => edits <= Math.min(MOST_EDITS, name.length / 2))
    .sort((one, other) => one.edits - other.edits);
  return close[0]?.name;
}

/** The edit distance: letters added, removed, changed or swapped with a neighbour. */
function editsBetween(from: string, to: string) {
  if (Math.abs(from.length - to.length) > MOST_EDITS) return Infinity;
  let before: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    before = previous;
    previous = current;
  }
  return previous[to.length] ?? Infinity;
}
