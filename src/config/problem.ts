/** A problem of a setting: where, what, and what to type instead. */
export interface ConfigProblem {
  /** An invalid value stops the program; an unknown key is a warning. */
  level: "error" | "warning";
  /** The file or variable. */
  source: string;
  line?: number;
  column?: number;
  key?: string;
  message: string;
  hint?: string;
}

/** Formats a problem like a compiler, so that editors can jump to it. */
export function formatProblem({ source, line, column, message }: ConfigProblem): string {
  const place = [source, line, line === undefined ? undefined : column].filter((part) => part !== undefined);
  return `${place.join(":")}: ${message}`;
}
