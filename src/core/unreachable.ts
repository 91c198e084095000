/** Makes a switch over a union fail to compile until every case is handled. */
export function unreachable(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
