/** What is looked at, in the order in which it is shown. */
export const AREAS = ["system", "store", "server", "agents", "channels", "queue"] as const;
export type Area = (typeof AREAS)[number];

/** `off` is what is not there and need not be. */
export type Level = "ok" | "off" | "warning" | "problem";

/** One thing that was found out. */
export interface Finding {
  /** Names the kind of finding for programs; it stays. */
  code: string;
  area: Area;
  /** Whom it is about, where an area has several: an agent, a channel. */
  subject?: string;
  level: Level;
  /** What is so, in one line; may hold words of other programs. */
  text: string;
  /** What a person types, or does, to have it otherwise. */
  fix?: string;
  /** Puts it right; `text` is then no longer so. */
  repair?: () => Promise<void>;
}

/** Looks at one thing and tells what it found. */
export interface Check {
  /** What is looked at, in words, for when that fails. */
  what: string;
  area: Area;
  subject?: string;
  look(): Promise<Finding[]>;
}

/** Says whether something has to be done about it. */
export function isTrouble({ level }: Finding): boolean {
  return level === "problem" || level === "warning";
}

/** How many findings have this level. */
export function countOf(findings: readonly Finding[], level: Level): number {
  return findings.filter((finding) => finding.level === level).length;
}
