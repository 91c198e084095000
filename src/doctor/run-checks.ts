import { SECOND_MS } from "../core/instant.ts";
import { AREAS, type Check, type Finding } from "./finding.ts";

/** No single check may keep a person waiting for longer. */
const CHECK_MS = 120 * SECOND_MS;

/** Does all checks, each for a bounded time; one that fails is a finding itself. Ordered by area. */
export async function examine(checks: readonly Check[]): Promise<Finding[]> {
  const found = await Promise.all(checks.map((check) => lookAt(check)));
  return sortFindings(found.flat());
}

/** By area; within one as they were found. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((one, other) => AREAS.indexOf(one.area) - AREAS.indexOf(other.area));
}

/** What became of an attempt to put something right. */
export interface Repaired {
  finding: Finding;
  /** Why it could not be. */
  failure: string | undefined;
}

/** Puts right what can be, one after the other. */
export async function repair(findings: readonly Finding[]): Promise<Repaired[]> {
  const repaired: Repaired[] = [];
  for (const finding of findings) {
    if (!finding.repair) continue;
    const failure = await finding.repair().then(
      () => undefined,
      (error: unknown) => sayError(error),
    );
    repaired.push({ finding, failure });
  }
  return repaired;
}

async function lookAt({ what, area, subject, look }: Check): Promise<Finding[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no result in ${CHECK_MS / SECOND_MS} s`)), CHECK_MS);
  });
  try {
    return await Promise.race([look(), late]);
  } catch (error) {
    const text = `${what} could not be looked at: ${sayError(error)}`;
    return [{ code: "not_checked", area, ...(subject !== undefined && { subject }), level: "problem", text }];
  } finally {
    clearTimeout(timer);
  }
}

/** The words of an error. */
export function sayError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
