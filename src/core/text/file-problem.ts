/** A problem in a file that people write: where, what, and what to type instead. */
export interface FileProblem {
  /** An error stops what was to be done; a warning does not. */
  level: "error" | "warning";
  /** The file or variable. */
  source: string;
  line?: number;
  column?: number;
  message: string;
  hint?: string;
}

/** Formats a problem like a compiler, so that editors can jump to it. */
export function formatProblem({ source, line, column, message }: FileProblem): string {
  const place = [source, line, line === undefined ? undefined : column].filter((part) => part !== undefined);
  return `${place.join(":")}: ${message}`;
}
