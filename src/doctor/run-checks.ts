import { SECOND_MS } from "../core/instant.ts";
import { AREAS, type Check, type Finding } from "./finding.ts";

/** The time limit of a check. */
const CHECK_MS = 120 * SECOND_MS;

/** Runs all checks, each within the time limit; a failed one becomes a finding. Sorted by area. */
export async function runChecks(checks: readonly Check[]): Promise<Finding[]> {
  const found = await Promise.all(checks.map((check) => runCheck(check)));
  return sortFindings(found.flat());
}

/** Sorts findings by area; within one, in the order found. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((one, other) => AREAS.indexOf(one.area) - AREAS.indexOf(other.area));
}

/** The result of a repair. */
export interface RepairResult {
  finding: Finding;
  /** Why it failed. */
  failure: string | undefined;
}

/** The most passes of repairs: a repaired store may show what was hidden before. */
const MOST_PASSES = 4;

/** Repairs what can be repaired, again as long as a repair brings something new to light. */
export async function repairAll(
  first: readonly Finding[],
  look: () => Promise<Finding[]>,
): Promise<{ findings: readonly Finding[]; repaired: RepairResult[] }> {
  let findings = first;
  const repaired: RepairResult[] = [];
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const tried = new Set(repaired.map(({ finding }) => nameOf(finding)));
    const fresh = findings.filter((finding) => finding.repair && !tried.has(nameOf(finding)));
    if (fresh.length === 0) break;
    repaired.push(...(await repair(fresh)));
    findings = await look();
  }
  return { findings, repaired };
}

function nameOf({ code, subject, text }: Finding) {
  return JSON.stringify([code, subject, text]);
}

/** Runs the available repairs, one after the other. */
export async function repair(findings: readonly Finding[]): Promise<RepairResult[]> {
  const repaired: RepairResult[] = [];
  for (const finding of findings) {
    if (!finding.repair) continue;
    const failure = await finding.repair().then(
      () => undefined,
      (error: unknown) => errorText(error),
    );
    repaired.push({ finding, failure });
  }
  return repaired;
}

async function runCheck({ what, area, subject, look }: Check): Promise<Finding[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no result in ${CHECK_MS / SECOND_MS} s`)), CHECK_MS);
  });
  try {
    return await Promise.race([look(), late]);
  } catch (error) {
    const text = `${what} could not be looked at: ${errorText(error)}`;
    return [{ code: "not_checked", area, subject, level: "problem", text }];
  } finally {
    clearTimeout(timer);
  }
}

/** The message of an error. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
