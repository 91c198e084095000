import { pluralize } from "../../../core/text/plural.ts";
import type { Event, KeptEvent } from "../../../core/trail/event.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { type RunId, STORE_CHAIN, shortId } from "../../../core/id.ts";
import { Instant } from "../../../core/instant.ts";
import { trailActorName } from "../../../core/people/actor.ts";
import type { Verified } from "../../../engine/engine.ts";
import { oneLine } from "../../view/sanitise.ts";
import { cellsOf, cutCells, padCells } from "../../terminal/terminal.ts";
import { sayBy } from "../../view/run-text.ts";
import { type Ahead, sayMoment } from "../../view/relative-time.ts";

const DETAIL_CELLS = 200;
/** Details that are hashes or ids of texts. */
const HIDDEN: ReadonlySet<string> = new Set(["content", "answer", "text", "reply", "id", "body", "kind"]);

/** The page of `askd audit`: one line for each event, in the order of the trail; runs by their numbers. */
export function renderAudit(
  events: readonly KeptEvent[],
  ahead: Ahead,
  runNumbers: ReadonlyMap<RunId, number> = new Map(),
): string {
  if (events.length === 0) return "No events yet.\n";
  const rows = events.map(({ event }) => [
    `${sayMoment(event.at, ahead)}  ${sayAbout(event)}`,
    event.type,
    sayBy({ ...event.by, id: trailActorName(event.by, runNumbers), onBehalfOf: undefined }),
    [sayChange(event), ...sayDetail(event, ahead)].join(", "),
  ]);
  const columns = [0, 1, 2].map((column) => widest(rows.map((row) => cellsOf(row[column] ?? ""))));
  const lines = rows.map((row) =>
    [...columns.map((cells, column) => padCells(row[column] ?? "", cells)), row[3] ?? ""].join("  ").trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

function sayAbout({ questionId, runId }: Event): string {
  if (questionId !== undefined) return shortId(questionId);
  return runId === STORE_CHAIN ? "store" : shortId(runId);
}

/** The output of `askd audit --verify`. */
export function renderVerified(verified: Verified): string {
  const counts = [
    pluralize(verified.runs, "run"),
    pluralize(verified.events, "event"),
    pluralize(verified.seals, "seal"),
  ].join(", ");
  if (verified.problems.length === 0) return `✓ ${counts}: nothing is missing and nothing was changed\n`;
  return [
    verified.runs + verified.events > 0
      ? `✗ ${counts}: the trail and the stored rows disagree`
      : "✗ the store is damaged; its trail was not read",
    ...verified.problems.map((problem) => `  ${oneLine(problem)}`),
    "Restore a backup: see docs/backup.md",
    "",
  ].join("\n");
}

function sayChange({ from, to }: Event): string {
  return oneLine(from === undefined || from === to ? to : `${from} → ${to}`);
}

/** The details worth showing to people; `--json` also shows the hashes of texts. */
function sayDetail({ detail = {} }: Event, ahead: Ahead): string[] {
  return Object.entries(detail).flatMap(([name, value]) => {
    const said = sayValue(value, ahead);
    if (said === "" || HIDDEN.has(name)) return [];
    if (name.endsWith("_ms") && typeof value === "number") {
      return [`${oneLine(name.slice(0, -3)).replaceAll("_", " ")} ${formatDuration(value)}`];
    }
    return [cutCells(`${oneLine(name).replaceAll("_", " ")} ${said}`, DETAIL_CELLS)];
  });
}

function sayValue(value: unknown, ahead: Ahead): string {
  const instant = Instant.safeParse(value);
  if (instant.success) return sayMoment(instant.data, ahead);
  if (Array.isArray(value)) return value.map((each) => sayValue(each, ahead)).join(", ");
  if (typeof value === "string") return oneLine(value);
  if (value === null || value === undefined) return "";
  return oneLine(JSON.stringify(value));
}

/** Appends one by one: there may be more events than a call can have arguments. */
function widest(cells: readonly number[]): number {
  return cells.reduce((most, each) => Math.max(most, each), 0);
}
