/** The percentile of values by nearest rank. Reorders the array, in expected linear time. */
export function percentileRank(values: Float64Array, part: number): number {
  const place = Math.max(0, Math.ceil(part * values.length) - 1);
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const [left, right] = split(values, low, high);
    if (place <= right) high = right;
    else if (place >= left) low = left;
    else break;
  }
  return values[place] ?? 0;
}

/** Partitions the values; equal ones go to both sides, so that many of them cost no more. */
function split(values: Float64Array, low: number, high: number): [left: number, right: number] {
  const pivot = middleOf(values[low] ?? 0, values[(low + high) >>> 1] ?? 0, values[high] ?? 0);
  let [left, right] = [low, high];
  while (left <= right) {
    while ((values[left] ?? 0) < pivot) left += 1;
    while ((values[right] ?? 0) > pivot) right -= 1;
    if (left > right) break;
    const kept = values[left] ?? 0;
    values[left] = values[right] ?? 0;
    values[right] = kept;
    left += 1;
    right -= 1;
  }
  return [left, right];
}

function middleOf(one: number, two: number, three: number) {
  return Math.max(Math.min(one, two), Math.min(Math.max(one, two), three));
}
