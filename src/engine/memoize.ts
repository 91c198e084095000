/** Parses a row once: a store returns the same object as long as the row does not change. */
export function memoize<Row extends object, Value>(
  known: WeakMap<Row, Value>,
  row: Row,
  parse: (row: Row) => Value,
): Value {
  const found = known.get(row);
  if (found !== undefined) return found;
  const value = parse(row);
  known.set(row, value);
  return value;
}
