import { z } from "zod";
import { Instant } from "../instant.ts";
import type { ClientName, ClientProfile } from "./client-profile.ts";

/** The limits of a client's program, measured on this machine over stdio. Limits that could not be measured are absent. */
export const MeasuredLimits = z.object({
  agent: z.string(),
  version: z.string(),
  /** How it names itself to a server. */
  client: z.object({ name: z.string(), version: z.string() }).optional(),
  measuredAt: Instant,
  /** Our tool is among those that its model is offered first. */
  isOffered: z.boolean().optional(),
  /** Progress extends the limit that holds when the settings name none. */
  progressExtends: z.boolean().optional(),
  /** A call without progress ended by itself after so long, with no limit set. */
  limitMs: z.int().positive().optional(),
  /** No call that was tried ended by itself; the longest took so long. */
  heldMs: z.int().positive().optional(),
});
export type MeasuredLimits = z.infer<typeof MeasuredLimits>;

/** Says whether it was this very version that was measured. */
export function isMeasured({ client }: MeasuredLimits, now: ClientName): boolean {
  return client?.name === now.name && client.version === now.version;
}

/**
 * The client as it was measured here. That a limit was not met in a short trial says nothing against the one that is
 * known; one that was met, or outlasted, does.
 */
export function withMeasured(profile: ClientProfile, measured: MeasuredLimits | undefined): ClientProfile {
  if (!measured) return profile;
  const { stdio } = profile.limits;
  const limitMs = measured.limitMs ?? Math.max(stdio.limitMs, measured.heldMs ?? 0);
  const progressExtends = measured.progressExtends ?? stdio.progressExtends;
  return { ...profile, limits: { ...profile.limits, stdio: { limitMs, progressExtends } } };
}
