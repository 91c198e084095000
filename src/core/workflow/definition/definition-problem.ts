/** Where a value is in a definition: keys and indexes from the top. */
export type ValuePath = ReadonlyArray<string | number>;

/** A mistake in a definition that is well-formed, before its place in the file is known. */
export interface DefinitionProblem {
  level: "error" | "warning";
  path: ValuePath;
  /** The mistake is the key itself, not its value. */
  isKey?: boolean;
  /** There is no such key; `meant` is the one that it probably stands for. */
  unknown?: { meant: string | undefined };
  /** How far into a text it is, in characters. */
  offset?: number;
  message: string;
  hint?: string;
}
