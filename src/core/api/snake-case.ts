// Keys in these objects are names that people or agents chose: item ids, schema fields, the output of an agent. They stay as they are.
const RECORDS: ReadonlySet<string> = new Set(["items", "answers"]);
const VERBATIM: ReadonlySet<string> = new Set(["schema", "output"]);
// Fields of a source document, which keeps its own case.
const OF_DOCUMENTS: ReadonlySet<string> = new Set(["questionContext", "humanResponse", "humanRespondedAt"]);

/** Our objects as they appear outside: snake_case names, except where a name is somebody's own. */
export function toSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeCase);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (VERBATIM.has(name)) return [name, inner];
      if (RECORDS.has(name) && isObject(inner) && !Array.isArray(inner)) return [name, wireRecord(inner)];
      return [OF_DOCUMENTS.has(name) ? name : snakeCase(name), toSnakeCase(inner)];
    }),
  );
}

function wireRecord(record: object): object {
  return Object.fromEntries(Object.entries(record).map(([name, inner]) => [name, toSnakeCase(inner)]));
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === "object";
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
