import type { Config } from "../config/load.ts";
import { type Problem, sayProblem } from "../config/problem.ts";
import type { Finding } from "./finding.ts";

/** What is wrong in the files of settings. */
export function checkSettings({ errors, warnings, files }: Config): Finding[] {
  const found = [...errors, ...warnings].map(describe);
  if (found.length > 0) return found;
  const names = files.filter(({ isThere }) => isThere).map(({ layer }) => layer);
  return names.length === 0
    ? []
    : [{ code: "settings", area: "system", level: "ok", text: `settings of ${names.join(", ")} ok` }];
}

function describe(problem: Problem): Finding {
  return {
    ...{ code: "settings_wrong", area: "system", subject: "settings" },
    level: problem.level === "error" ? "problem" : "warning",
    text: sayProblem(problem),
    ...(problem.hint !== undefined && { fix: problem.hint }),
  };
}
