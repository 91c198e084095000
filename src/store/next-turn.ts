/** Lets others have their turn: a store in this process reads without ever waiting. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
