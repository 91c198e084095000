import type { FileProblem } from "../core/text/file-problem.ts";

/** A problem of a setting. An invalid value stops the program; an unknown key is a warning. */
export interface ConfigProblem extends FileProblem {
  key?: string;
}
