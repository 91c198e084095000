/** Something that is wrong with a setting: where, what, and what to type instead. */
export interface Problem {
  /** A wrong value stops the program; an unknown key is only named. */
  level: "error" | "warning";
  /** The file or variable that it is in. */
  source: string;
  line?: number;
  column?: number;
  key?: string;
  message: string;
  hint?: string;
}

/** Says a problem the way compilers do, so that editors can jump to it. */
export function sayProblem({ source, line, column, message }: Problem): string {
  const place = [source, line, line === undefined ? undefined : column].filter((part) => part !== undefined);
  return `${place.join(":")}: ${message}`;
}
