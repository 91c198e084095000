/**
 * Says whether the trail tells of a refused try: of each of the first ten on a question, then of every tenth, from a
 * hundred on of every hundredth, and so on.
 */
export function isTryTold(tries: number): boolean {
  return tries % stepAt(tries) === 0;
}

/** The next try that the trail tells of, after one that it told of. */
export function nextToldTry(tries: number): number {
  return tries + stepAt(tries);
}

function stepAt(tries: number) {
  return 10 ** (String(tries).length - 1);
}
