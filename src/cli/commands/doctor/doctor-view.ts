import { pluralize } from "../../../core/text/plural.ts";
import { redact } from "../../../core/secret/redact.ts";
import { secretsIn } from "../../../core/secret/secret-env.ts";
import type { RepairResult } from "../../../doctor/run-checks.ts";
import { AREAS, type Area, type Finding, type Level, countOf, needsAction } from "../../../doctor/finding.ts";
import type { Context } from "../../context.ts";
import { asTyped } from "../../program.ts";
import { oneLine } from "../../view/sanitise.ts";
import { type Style, padCells, textWidth, wrap } from "../../terminal/terminal.ts";

const LABEL_CELLS = 11;
const SUBJECT_CELLS = 13;
const MARKS: Readonly<Record<Level, string>> = { ok: "✓", off: "–", warning: "⚠", problem: "✗" };
const WORST: readonly Level[] = ["problem", "warning", "ok", "off"];
/** Areas whose line lists several subjects. */
const BY_SUBJECT: ReadonlySet<Area> = new Set<Area>(["agents", "channels"]);

/** The data of `askd doctor`. */
export interface DoctorView {
  version: string;
  platform: string;
  node: string;
  findings: readonly Finding[];
  repaired: readonly RepairResult[];
  /** The program's name, as a person types it here. */
  program: string;
  columns: number | undefined;
}

/** The output of `askd doctor`. */
export function renderDoctor(view: DoctorView, style: Style): string {
  const blocks = [
    [`${style.bold(`askd ${view.version}`)} · ${view.platform} · node ${view.node}`],
    fixedLines(view, style),
    troubleLines(view, style),
    AREAS.flatMap((area) => areaLines(area, view, style)),
    [sayCounts(view.findings)],
  ];
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join("\n"))
    .join("\n\n")}\n`;
}

/** One line: the counts and their subjects. */
export function renderSummary({ findings }: DoctorView): string {
  const whom = [...new Set(troubles(findings).map((finding) => oneLine(subjectOf(finding))))];
  return `${sayCounts(findings)}${whom.length > 0 ? ` (${whom.join(", ")})` : ""}\n`;
}

/** The JSON of `askd doctor`, safe to share: without secrets and home directories. */
export function viewDoctor(view: DoctorView, { env, homeDir }: Pick<Context, "env" | "homeDir">): object {
  const secrets = secretsIn(env);
  const clean = (text: string) => redact(text, secrets).replaceAll(homeDir, "~");
  const viewFinding = ({ code, area, subject, level, text, fix, repair }: Finding) => ({
    code,
    area,
    subject: subject ?? null,
    level,
    text: clean(text),
    fix: fix === undefined ? null : clean(fix),
    canFix: repair !== undefined,
  });
  return {
    version: view.version,
    platform: view.platform,
    node: view.node,
    problems: countOf(view.findings, "problem"),
    warnings: countOf(view.findings, "warning"),
    findings: view.findings.map(viewFinding),
    fixed: view.repaired.map(({ finding, failure }) => ({
      ...viewFinding(finding),
      failure: failure === undefined ? null : clean(failure),
    })),
  };
}

function fixedLines({ repaired, columns }: DoctorView, style: Style) {
  if (repaired.length === 0) return [];
  return [
    style.bold("Fixed"),
    ...repaired.flatMap(({ finding, failure }) => {
      const mark = failure === undefined ? style.green("✓") : style.red("✗");
      const more = failure === undefined ? [] : [`Fix failed: ${oneLine(failure)}`];
      return entryLines(mark, finding, more, columns);
    }),
  ];
}

function troubleLines({ findings, program, columns }: DoctorView, style: Style) {
  const found = troubles(findings);
  if (found.length === 0) return [];
  return [
    style.bold("Problems"),
    ...found.flatMap((finding) => {
      const ways = new Set([
        ...(finding.repair ? [`${program} doctor --fix`] : []),
        ...(finding.fix === undefined ? [] : [asTyped(oneLine(finding.fix), program)]),
      ]);
      const fix = ways.size === 0 ? [] : [`Fix: ${[...ways].join("   or   ")}`];
      return entryLines(markOf(finding.level, style), finding, fix, columns);
    }),
  ];
}

/** `  ✗ codex        the finding`, and below it the fix. */
function entryLines(mark: string, finding: Finding, more: readonly string[], columns: number | undefined) {
  const subject = oneLine(subjectOf(finding));
  const indent = 4 + SUBJECT_CELLS;
  const cells = textWidth(columns) - indent;
  const head = subject.length < SUBJECT_CELLS ? [] : [`  ${mark} ${subject}`];
  const lines = [...wrap(oneLine(finding.text), cells), ...more];
  return [
    ...head,
    ...lines.map((line, index) =>
      index === 0 && head.length === 0
        ? `  ${mark} ${padCells(subject, SUBJECT_CELLS)}${line}`
        : `${" ".repeat(indent)}${line}`,
    ),
  ];
}

function areaLines(area: Area, { findings, columns, program }: DoctorView, style: Style) {
  const found = findings.filter((finding) => finding.area === area);
  if (found.length === 0) return [];
  const groups = BY_SUBJECT.has(area) ? groupBySubject(found) : [found];
  const texts = groups.map((group) => asTyped(groupText(group, style), program));
  const cells = textWidth(columns) - LABEL_CELLS;
  const lines = (area === "channels" ? [texts.join("  ")] : texts).flatMap((text) => wrap(text, cells));
  const label = area.charAt(0).toUpperCase() + area.slice(1);
  return lines.map((line, index) => `${padCells(index === 0 ? label : "", LABEL_CELLS)}${line}`);
}

/** The good findings of a subject, after the mark of its worst one. */
function groupText(group: readonly Finding[], style: Style) {
  const level = WORST.find((each) => group.some((finding) => finding.level === each)) ?? "ok";
  const [first] = group;
  const subject = first && BY_SUBJECT.has(first.area) && first.subject !== undefined ? `${first.subject} ` : "";
  const good = group.filter((finding) => !needsAction(finding)).map(({ text }) => oneLine(text));
  const separator = first?.area === "queue" ? "; " : ", ";
  const text = good.length > 0 ? good.filter(Boolean).join(separator) : subject === "" ? "see above" : "";
  return `${markOf(level, style)} ${oneLine(subject + text)}`;
}

function groupBySubject(findings: readonly Finding[]) {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const name = finding.subject ?? "";
    groups.set(name, [...(groups.get(name) ?? []), finding]);
  }
  return [...groups.values()];
}

/** Problems first, then warnings, each by area. */
function troubles(findings: readonly Finding[]) {
  return (["problem", "warning"] as const).flatMap((level) => findings.filter((finding) => finding.level === level));
}

function subjectOf({ subject, area }: Finding) {
  return subject ?? area;
}

function markOf(level: Level, style: Style) {
  const colour = { ok: style.green, off: style.dim, warning: style.yellow, problem: style.red }[level];
  return colour(MARKS[level]);
}

function sayCounts(findings: readonly Finding[]) {
  const counts = (["problem", "warning"] as const).flatMap((level) => {
    const count = countOf(findings, level);
    return count === 0 ? [] : [pluralize(count, level)];
  });
  return counts.length === 0 ? "No problems" : counts.join(", ");
}
