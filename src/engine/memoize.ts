/** What was read out of a row before, or is read out of it now; a store gives the same object while nothing changes. */
export function recall<Row extends object, Value>(
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
