/** Says whether a version comes before that one; an unknown version is a new one. */
export function isOlder(version: string | undefined, than: readonly [number, number, number]): boolean {
  const numbers = /(\d+)\.(\d+)\.(\d+)/
    .exec(version ?? "")
    ?.slice(1)
    .map(Number);
  const at = than.findIndex((least, index) => numbers?.[index] !== least);
  return numbers !== undefined && at >= 0 && (numbers[at] ?? 0) < (than[at] ?? 0);
}
