/** Where a worker can die while it starts an agent, follows it and sees it end. */
export const STARTING = [
  "claimed",
  "taking",
  "taken",
  "blocked",
  "cleared",
  "confirmed",
  "built",
  "starting",
  "started",
] as const;
export const ENDING = ["gone", "cleaned", "kept", "ending", "ended"] as const;
/** Every step of a worker that every start of an agent passes. */
export const EVERY_START: readonly string[] = [...STARTING, "following", "read", ...ENDING];
