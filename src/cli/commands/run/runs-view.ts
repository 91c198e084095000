import type { Instant } from "../../../core/instant.ts";
import type { KnownMachines } from "../../../core/run/machine.ts";
import type { Run } from "../../../core/run/run.ts";
import type { UsageRow } from "../../../core/run/usage.ts";
import { sayState } from "../../view/machine-view.ts";
import { oneLine } from "../../view/sanitise.ts";
import { type Style, cellsOf, cutCells, padCells } from "../../terminal/terminal.ts";
import { refOf, sayUsage } from "../../view/run-text.ts";
import { sayAgo } from "../../view/relative-time.ts";

const LEAST_CELLS = 20;

/** The data of `askd runs list`: runs, newest first, with their pending questions. */
export interface RunsView {
  now: Instant;
  width: number;
  machines: KnownMachines;
  runs: ReadonlyArray<{ run: Run; usage: UsageRow | undefined; question: string | undefined }>;
}

/** The output of `askd runs list`: a line per run, and one for its question. */
export function renderRuns({ now, width, machines, runs }: RunsView, style: Style): string {
  if (runs.length === 0) return "No runs.\n";
  const rows = runs.map(({ run, usage }) => [
    refOf(run),
    sayState(run, undefined, machines),
    oneLine(run.agent),
    sayAgo(run.startedAt ?? run.createdAt, now),
    sayUsage(usage) ?? "",
    oneLine(run.name),
  ]);
  const columns = [0, 1, 2, 3, 4].map((column) => Math.max(...rows.map((row) => cellsOf(row[column] ?? ""))));
  const lines = runs.flatMap(({ question }, index) => {
    const row = rows[index] ?? [];
    const left = columns
      .flatMap((cells, column) => (cells === 0 ? [] : [padCells(row[column] ?? "", cells)]))
      .join("  ");
    const line = `${left}  ${cutCells(row[5] ?? "", Math.max(LEAST_CELLS, width - cellsOf(left) - 2))}`;
    if (question === undefined) return [line];
    const indent = " ".repeat((columns[0] ?? 0) + 2);
    const room = Math.max(LEAST_CELLS, width - indent.length - 3);
    return [style.yellow(line), `${indent}❓ ${cutCells(oneLine(question), room)}`];
  });
  return `${lines.join("\n")}\n`;
}
