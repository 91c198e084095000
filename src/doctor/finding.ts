/** The areas of checks, in display order. */
export const AREAS = ["system", "store", "server", "agents", "channels", "queue"] as const;
export type Area = (typeof AREAS)[number];

/** `off`: missing, and not required. */
export type Level = "ok" | "off" | "warning" | "problem";

/** One finding. */
export interface Finding {
  /** The stable code of the finding, for programs. */
  code: string;
  area: Area;
  /** The agent or channel it is about, if an area has several. */
  subject?: string;
  level: Level;
  /** One line about the state; may contain foreign text. */
  text: string;
  /** The command or action that fixes it. */
  fix?: string;
  /** Repairs it; `text` is then outdated. */
  repair?: () => Promise<void>;
}

/** One check. */
export interface Check {
  /** The subject of the check, for when it fails. */
  what: string;
  area: Area;
  subject?: string;
  look(): Promise<Finding[]>;
}

/** Says whether a person has to act. */
export function needsAction({ level }: Finding): boolean {
  return level === "problem" || level === "warning";
}

/** Counts the findings of this level. */
export function countOf(findings: readonly Finding[], level: Level): number {
  return findings.filter((finding) => finding.level === level).length;
}
