import type { RunId } from "../../../src/core/id.ts";
import type { Kept } from "../promise.ts";
import type { Fault, Ledger } from "./ledger.ts";
import type { Line } from "./notes.ts";
import { tagOf } from "./unit.ts";
import type { Walked } from "./walk.ts";

const SHOWN = 2;
const LONGEST_TRAIL = 40;
const LONGEST_LINE = 260;
/** How much of what happened to all before and after a run belongs to its story. */
const AROUND_MS = 2_000;

/** Says what a walk did and what it found: each kind of fault with how often, and the way to one or two of them. */
export function sayWalk({ ledger, runs, questions, starts, healMs, trailOf }: Walked): string[] {
  const counts = Object.entries(ledger.counts).toSorted(([, one], [, other]) => other - one);
  return [
    `${runs} runs, ${questions} questions, ${starts} starts of agents, ${ledger.facts.length} acknowledged deeds`,
    `healed in ${(healMs / 1000).toFixed(1)} s; ${ledger.contested} replies not judged, as others changed the same rows`,
    `  ${counts.map(([verb, count]) => `${verb} ${count}`).join(", ")}`,
    ...groupFaults(ledger.faults).flatMap(([kind, faults]) => [
      `FAULT ${faults.length} x ${kind}`,
      ...faults
        .slice(0, SHOWN)
        .flatMap(({ detail, runId }) => [
          `    ${detail}${runId === undefined ? "" : ` in ${runId}`}`,
          ...(runId === undefined ? [] : trailOf(runId).map((line) => `      ${line}`)),
        ]),
    ]),
  ];
}

/** The story of a run: what people did, what its agent wrote down, and what the audit trail says, in order of time. */
export function sayTrail(
  { kept, lines }: { kept: Kept | undefined; lines: readonly Line[] },
  ledger: Ledger,
  runId: RunId,
): string[] {
  const tags = new Map(kept?.questions.map((question) => [question.id, tagOf(question) ?? question.id]));
  const events = (kept?.events ?? []).map(({ type, at, questionId, to, detail }) => ({
    atMs: Date.parse(at),
    words: `| ${type} ${questionId ? (tags.get(questionId) ?? "") : ""} ${to} ${JSON.stringify(detail ?? {})}`,
  }));
  const notes = lines.map(({ at, is, epoch, tag, via, exit, code, text }) => ({
    atMs: at,
    words: `> agent ${epoch}: ${[is, tag, via, exit, code].filter((word) => word !== undefined).join(" ")} ${text.slice(0, 400)}`,
  }));
  const told = ledger.trailOf(runId);
  const times = events.map(({ atMs }) => atMs);
  const around = ledger
    .linesAround([...tags.values()], Math.min(...times) - AROUND_MS, Math.max(...times) + AROUND_MS)
    .filter((line) => !told.includes(line))
    .map(({ atMs, words }) => ({ atMs, words: `~ ${words}` }));
  return [...events, ...notes, ...told, ...around]
    .toSorted((one, other) => one.atMs - other.atMs)
    .slice(-LONGEST_TRAIL)
    .map(({ atMs, words }) => `${ledger.sayTime(atMs)} ${words.replaceAll("\n", " ").slice(0, LONGEST_LINE)}`);
}

function groupFaults(faults: readonly Fault[]): Array<[string, Fault[]]> {
  const groups = new Map<string, Fault[]>();
  for (const fault of faults) groups.set(fault.kind, [...(groups.get(fault.kind) ?? []), fault]);
  return [...groups].toSorted(([, one], [, other]) => other.length - one.length);
}
